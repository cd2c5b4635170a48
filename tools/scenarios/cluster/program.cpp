#include "tools/scenarios/cluster/program.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checkers/specifications/attempted_map.h"
#include "explorer/check/workload.h"
#include "tools/scenarios/cluster/change_run.h"
#include "tools/scenarios/cluster/run.h"

namespace falafel::cluster_scenario {
namespace {

using checkers::specifications::AttemptedMap;

check::Workload<AttemptedMap> workload() {
  return {.clients = {2, 3},
          .operations = {1, 8},
          .draw = [](check::Draw& draw) -> AttemptedMap::Operation {
            const std::uint64_t kind = draw.below(8);
            const std::string key = key_of(draw.below(most_keys));
            if (kind < 3) return AttemptedMap::Get{key};
            if (kind < 4) return AttemptedMap::Remove{key};
            return AttemptedMap::Set{key, std::to_string(draw.below(1'000'000))};
          }};
}

std::vector<sim::FaultKind> faults() {
  std::vector<sim::FaultKind> kinds = check::delays();
  kinds.push_back(sim::FaultKind::server_restart);
  return kinds;
}

}  // namespace

std::unique_ptr<check::WorldProgram> make_program(
    std::function<void(sim::SimulationOptions&)> adjust) {
  check::Network network = check::unscaled_network();
  network.faults = faults();
  network.adjust = std::move(adjust);
  return check::program<AttemptedMap>(
      "cluster", workload(),
      [](check::World& world, const check::Plan<AttemptedMap>& plan) {
        Run(world, plan).execute();
      },
      std::move(network));
}

std::string name_of(const ChangingRuns& runs) {
  std::string name = "changing-cluster";
  if (runs.warm == WarmRuns::some) name += "-some-warm";
  if (runs.warm == WarmRuns::only) name += "-warm";
  return runs.are_caches ? name + "-cache" : name;
}

std::unique_ptr<check::WorldProgram> make_changing_program(
    const ChangingRuns& runs, std::function<void(sim::SimulationOptions&)> adjust) {
  check::Network network = check::unscaled_network();
  // Nothing stalls for half of a heartbeat time-out, or forever.
  network.faults = {
      sim::FaultKind::client_crash,  sim::FaultKind::client_pause, sim::FaultKind::queue_pair_error,
      sim::FaultKind::message_delay, sim::FaultKind::late_packets, sim::FaultKind::server_stall,
      sim::FaultKind::client_stop,   sim::FaultKind::server_stop,  sim::FaultKind::server_restart};
  network.adjust = [adjust = std::move(adjust)](sim::SimulationOptions& options) {
    options.longest_stall_ns = std::min<std::uint64_t>(options.longest_stall_ns, 1'000'000);
    if (adjust) adjust(options);
  };
  return check::program<AttemptedMap>(
      name_of(runs), workload(),
      [runs](check::World& world, const check::Plan<AttemptedMap>& plan) {
        ChangeRun(world, plan, runs).execute();
      },
      std::move(network));
}

}  // namespace falafel::cluster_scenario
