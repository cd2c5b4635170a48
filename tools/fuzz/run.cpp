#include "tools/fuzz/run.h"

#include "checkers/reclaimed_memory.h"
#include "engine/probes.h"
#include "tools/fuzz/run_observer.h"
#include "tools/fuzz/store_world.h"

namespace falafel::fuzz {

using checkers::Judgement;
using checkers::Verdict;

std::string StoreRun::property() const {
  return violations.empty() ? std::string() : violations.front().property;
}

Runner::Runner() : linearizability_(checkers::Model::key_value_register) {}

StoreRun Runner::run(const Scenario& scenario, sim::Strategy& strategy, const RunOptions& options) {
  StoreWorld world(scenario, options.listener);
  RunObserver observer(scenario, world, options);
  world.watch_operations(observer);
  StoreRun run;
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

}  // namespace falafel::fuzz
