#include "tools/scenarios/c_hint/program.h"

#include <array>
#include <string>
#include <utility>

#include "explorer/check/workload.h"
#include "tools/scenarios/c_hint/c_hint_world.h"

namespace falafel::c_hint_scenario {
namespace {

constexpr std::array<std::uint64_t, 3> lengths_in_words{1, 3, 12};

// Half of the operations concern one key. Values have one, three or twelve equal words, so a torn
// one is recognized; no two of a run are equal, with a high probability. The longest ones take the
// memory of four others, but do not overwrite all of it.
check::Workload<Map> workload() {
  return {
      .clients = {2, 3}, .operations = {1, 16}, .draw = [](check::Draw& draw) -> Map::Operation {
        const std::uint64_t kind = draw.below(10);
        const std::uint64_t number = draw.below(2) == 0 ? 0 : draw.below(key_names.size());
        const std::string key = key_names[number];
        if (kind < 5) return Map::Get{key};
        if (kind >= 9) return Map::Remove{key};
        const std::uint64_t words = lengths_in_words[draw.below(lengths_in_words.size())];
        const std::string word = std::to_string(10'000'000 + draw.below(1'000'000));
        std::string value;
        for (std::uint64_t count = 0; count < words; ++count) value += word;
        return Map::Set{key, value};
      }};
}

// C-Hint has no connections without reliability. A server that dies loses its cache, and the
// backend remains (5.1).
std::vector<sim::FaultKind> faults() {
  using sim::FaultKind;
  return {FaultKind::client_crash,  FaultKind::client_pause,         FaultKind::queue_pair_error,
          FaultKind::message_delay, FaultKind::late_packets,         FaultKind::server_stall,
          FaultKind::latency_spike, FaultKind::client_stop,          FaultKind::server_stop,
          FaultKind::slow_landing,  FaultKind::registration_failure, FaultKind::server_restart};
}

// Crashes, stops and broken connections end most of what a run could show, so most runs have none.
// Pauses and delays are about as long as leases.
void adjust_network(sim::SimulationOptions& options) {
  using sim::FaultKind;
  options.longest_stall_ns = longest_stall_ns;
  if (options.pct_steps % 3 != 0) {
    for (const FaultKind kind : {FaultKind::client_crash, FaultKind::client_stop,
                                 FaultKind::server_stop, FaultKind::server_restart,
                                 FaultKind::queue_pair_error, FaultKind::registration_failure}) {
      options.set_fault_rate(kind, 0);
    }
  }
}

}  // namespace

std::unique_ptr<check::WorldProgram> make_program(
    std::function<void(sim::SimulationOptions&)> adjust) {
  check::Network network = check::unscaled_network();
  network.faults = faults();
  network.adjust = [adjust = std::move(adjust)](sim::SimulationOptions& options) {
    adjust_network(options);
    if (adjust) adjust(options);
  };
  return check::program<Map>(
      "c-hint", workload(),
      [](check::World& world, const check::Plan<Map>& plan) { CHintWorld(world, plan).run(); },
      std::move(network));
}

}  // namespace falafel::c_hint_scenario
