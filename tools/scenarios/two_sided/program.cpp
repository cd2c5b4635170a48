#include "tools/scenarios/two_sided/program.h"

#include <algorithm>
#include <string>
#include <utility>

#include "explorer/check/workload.h"
#include "stores/two_sided/layout.h"
#include "tools/scenarios/two_sided/two_sided_world.h"

namespace falafel::two_sided_scenario {
namespace {

std::string name_of(fabric::Transport transport) {
  switch (transport) {
    case fabric::Transport::reliable_connection: return "two-sided-rc";
    case fabric::Transport::unreliable_connection: return "two-sided-uc";
    case fabric::Transport::unreliable_datagram: return "two-sided-ud";
    case fabric::Transport::message_stream: return "two-sided-tcp";
  }
  return "?";
}

// Values have one to three equal words, so one that tears is a value that nobody wrote.
std::string draw_value(check::Draw& draw) {
  const std::string word = std::to_string(10'000'000 + draw.below(1'000'000));
  std::string value;
  for (std::uint64_t words = 1 + draw.below(3); words > 0; --words) value += word;
  return value;
}

check::Workload<Map> workload() {
  return {.clients = {1, 4}, .operations = {1, 8}, .draw = [](check::Draw& draw) -> Map::Operation {
            const std::uint64_t kind = draw.below(10);
            const std::string key = key_names[draw.below(key_names.size())];
            if (kind < 4) return Map::Get{key};
            if (kind >= 8) return Map::Remove{key};
            return Map::Set{key, draw_value(draw)};
          }};
}

// The paper says nothing about a server that dies, so it does not come back empty.
std::vector<sim::FaultKind> faults() {
  using sim::FaultKind;
  return {FaultKind::client_crash,    FaultKind::client_pause,        FaultKind::queue_pair_error,
          FaultKind::unreliable_loss, FaultKind::datagram_reordering, FaultKind::message_delay,
          FaultKind::server_stall,    FaultKind::latency_spike,       FaultKind::client_stop,
          FaultKind::server_stop,     FaultKind::registration_failure};
}

// A datagram is one packet.
void fit_packets(fabric::Transport transport, sim::SimulationOptions& options) {
  if (transport != fabric::Transport::unreliable_datagram) return;
  options.mtu_bytes = std::max<std::uint64_t>(options.mtu_bytes, 1'024);
  static_assert(sizeof(two_sided::Request) <= 1'024);
}

}  // namespace

std::unique_ptr<check::WorldProgram> make_program(
    fabric::Transport transport, std::function<void(sim::SimulationOptions&)> adjust) {
  check::Network network = check::unscaled_network();
  network.faults = faults();
  network.adjust = [transport, adjust = std::move(adjust)](sim::SimulationOptions& options) {
    if (adjust) adjust(options);
    fit_packets(transport, options);
  };
  return check::program<Map>(
      name_of(transport), workload(),
      [transport](check::World& world, const check::Plan<Map>& plan) {
        TwoSidedWorld(world, plan, transport).run();
      },
      std::move(network));
}

}  // namespace falafel::two_sided_scenario
