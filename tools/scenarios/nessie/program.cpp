#include "tools/scenarios/nessie/program.h"

#include <algorithm>
#include <string>
#include <utility>

#include "checkers/specifications/attempted_map.h"
#include "explorer/check/workload.h"
#include "tools/scenarios/nessie/run.h"

namespace falafel::nessie_scenario {
namespace {

// Half of the operations concern one key, and the others crowd the tables. Values have two words,
// so that they can tear; no two of a run are equal, with a high probability.
check::Workload<AttemptedMap> workload() {
  return {.clients = {2, 4},
          .operations = {1, 10},
          .draw = [](check::Draw& draw) -> AttemptedMap::Operation {
            const std::uint64_t kind = draw.below(8);
            const std::uint64_t number = draw.below(2) == 0 ? 0 : draw.below(most_keys);
            const std::string key(1, static_cast<char>('a' + number));
            if (kind < 3) return AttemptedMap::Get{key};
            if (kind < 5) return AttemptedMap::Remove{key};
            const std::string half = std::to_string(10'000'000 + draw.below(1'000'000));
            return AttemptedMap::Set{key, half + half};
          }};
}

// A restarted node would have lost its data, as the paper says (4.3.1).
std::vector<sim::FaultKind> faults() {
  std::vector<sim::FaultKind> kinds = check::delays();
  kinds.insert(kinds.end(), {sim::FaultKind::client_crash, sim::FaultKind::queue_pair_error,
                             sim::FaultKind::clock_step});
  return kinds;
}

// The published protocol assumes that clocks differ by less than Options::clock_error_ns. With all
// safeguards, it assumes nothing.
void adjust_network(Variant variant, sim::SimulationOptions& options) {
  options.step_duration_ns = step_duration_ns;
  options.longest_stall_ns = longest_stall_ns;
  // Crashes and broken connections end most of what a run could show, so most runs have none.
  const bool has_failures = options.pct_steps % 4 == 0;
  if (!has_failures) {
    options.set_fault_rate(sim::FaultKind::client_crash, 0);
    options.set_fault_rate(sim::FaultKind::queue_pair_error, 0);
  }
  options.store_buffers = options.pct_steps % 3 == 0;
  if (options.pct_steps % 4 == 2) {
    options.clock_offset_ns = variant == Variant::hardened ? wild_clock_offset_ns : clock_offset_ns;
    options.clock_drift_ppm = clock_drift_ppm;
    options.set_fault_rate(sim::FaultKind::clock_step, variant == Variant::hardened ? 100 : 0);
  }
}

}  // namespace

std::unique_ptr<check::WorldProgram> make_program(
    const Kind& kind, std::function<void(sim::SimulationOptions&)> adjust) {
  check::Network network = check::unscaled_network();
  network.faults = faults();
  network.adjust = [kind, adjust = std::move(adjust)](sim::SimulationOptions& options) {
    adjust_network(kind.variant, options);
    if (adjust) adjust(options);
  };
  return check::program<AttemptedMap>(
      name_of(kind), workload(),
      [kind](check::World& world, const check::Plan<AttemptedMap>& plan) {
        Run(world, plan, kind).execute();
      },
      std::move(network));
}

}  // namespace falafel::nessie_scenario
