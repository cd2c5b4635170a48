#include "tools/store_scenario/run.h"

#include "checkers/reclaimed_memory.h"
#include "engine/probes.h"
#include "tools/store_scenario/run_observer.h"
#include "tools/store_scenario/store_world.h"

namespace falafel::store_scenario {

using checkers::Judgement;
using checkers::Verdict;

Runner::Runner(bool paranoid)
    : paranoid_(paranoid), linearizability_(checkers::Model::key_value_register) {}

explorer::Run Runner::run(const explorer::Scenario& scenario, sim::Strategy& strategy) {
  return run(scenario, strategy, nullptr);
}

explorer::Run Runner::run(const explorer::Scenario& explored, sim::Strategy& strategy,
                          RunListener* listener) {
  const Scenario& scenario = store_scenario(explored);
  const RunOptions options{.paranoid = paranoid_, .listener = listener};
  StoreWorld world(scenario, options.listener);
  RunObserver observer(scenario, world, options);
  world.watch_operations(observer);
  explorer::Run run;
  {
    sim::Simulation simulation(scenario.simulation, strategy, stacks_, &observer);
    world.add_hosts(simulation);
    run.result = simulation.run();
    if (options.listener != nullptr) observer.show_memory(run.result.steps + 1);
  }
  if (run.result.outcome == sim::Outcome::diverged) return run;
  run.violations = world.violations();
  observer.on_end(run.result);
  for (auto& [incarnation, history] : world.histories()) {
    Judgement judgement = linearizability_.check(history.operations());
    if (judgement.verdict == Verdict::violated)
      run.violations.push_back(std::move(judgement));
    else if (judgement.verdict == Verdict::unknown)
      run.unknown.push_back(std::move(judgement));
  }
  observer.add_violations(run.violations);
  if (scenario.safeguards.epoch_reclamation && scenario.safeguards.crc_verification) {
    const std::uint64_t count = run.result.probes[engine::probes::restart_at_bad_checksum.index];
    Judgement judgement = checkers::check_bad_checksums(count);
    if (judgement.verdict == Verdict::violated) run.violations.push_back(std::move(judgement));
  }
  return run;
}

}  // namespace falafel::store_scenario
