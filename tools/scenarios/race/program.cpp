#include "tools/scenarios/race/program.h"

#include <string>
#include <utility>

#include "checkers/specifications/key_value_map.h"
#include "explorer/check/workload.h"
#include "tools/scenarios/race/race_world.h"

namespace falafel::race_scenario {
namespace {

std::string draw_key(check::Draw& draw) {
  return key_names[draw.below(draw.below(2) == 0 ? popular_keys : key_names.size())];
}

check::Workload<Map> workload() {
  return {
      .clients = {1, 4}, .operations = {1, 10}, .draw = [](check::Draw& draw) -> Map::Operation {
        const std::uint64_t kind = draw.below(10);
        const std::string key = draw_key(draw);
        if (kind < 3) return Map::Get{key};
        if (kind >= 8) return Map::Remove{key};
        return Map::Set{key, std::to_string(1 + draw.below(999))};
      }};
}

// All connections are reliable, and the paper says nothing about a memory node that starts again.
std::vector<sim::FaultKind> faults() {
  using sim::FaultKind;
  return {FaultKind::client_crash,  FaultKind::client_pause,        FaultKind::queue_pair_error,
          FaultKind::message_delay, FaultKind::late_packets,        FaultKind::server_stall,
          FaultKind::latency_spike, FaultKind::client_stop,         FaultKind::server_stop,
          FaultKind::slow_landing,  FaultKind::registration_failure};
}

}  // namespace

std::unique_ptr<check::WorldProgram> make_program(
    std::function<void(sim::SimulationOptions&)> adjust) {
  check::Network network = check::unscaled_network();
  network.faults = faults();
  network.adjust = std::move(adjust);
  return check::program<Map>(
      "race", workload(),
      [](check::World& world, const check::Plan<Map>& plan) { RaceWorld(world, plan).run(); },
      std::move(network));
}

}  // namespace falafel::race_scenario
