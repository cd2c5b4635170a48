#include "tools/scenarios/store/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "checkers/reclaimed_memory.h"
#include "engine/layout/key_hash.h"
#include "engine/probes.h"
#include "explorer/check/fair_strategy.h"
#include "tools/scenarios/store/cache_history.h"
#include "tools/scenarios/store/patience.h"
#include "tools/scenarios/store/reporting_listener.h"
#include "tools/scenarios/store/run_observer.h"
#include "tools/scenarios/store/scan_history.h"
#include "tools/scenarios/store/store_world.h"
#include "tools/scenarios/store/timeline/store_recorder.h"

namespace falafel::store_scenario {

using checkers::Judgement;
using checkers::Verdict;

namespace {

// Returns whether a hostile client may have damaged the key.
bool may_be_damaged(const std::string& key, const Scenario& scenario,
                    const AttackedSlots& attacked) {
  return attacked.may_have_damaged(
      engine::hash_of(std::as_bytes(std::span(key)), scenario.hash_key));
}

// All operations except those on keys that a hostile client may have damaged. Of these, the
// operations since the key has been fresh.
std::vector<checkers::Operation> judged_operations(std::span<const checkers::Operation> operations,
                                                   const Scenario& scenario,
                                                   const AttackedSlots& attacked,
                                                   const FreshKeys& fresh) {
  std::vector<checkers::Operation> judged;
  std::set<std::string> damaged;
  for (const checkers::Operation& operation : operations) {
    if (may_be_damaged(operation.key, scenario, attacked)) {
      damaged.insert(operation.key);
    } else {
      judged.push_back(operation);
    }
  }
  if (attacked.is_any_offset()) return judged;
  for (const std::string& key : damaged) {
    std::ranges::move(fresh.operations_since(key, operations), std::back_inserter(judged));
  }
  return judged;
}

// The server expels each connection of the hostile client at most once, and no other client.
Judgement check_expelled(const sim::RunResult& result, std::uint64_t hostile_connections) {
  const std::uint64_t expelled = result.probes[engine::probes::client_expelled.index];
  const bool holds = expelled <= hostile_connections;
  return {.verdict = holds ? Verdict::holds : Verdict::violated,
          .property = "books.expelled",
          .explanation = fmt::format(
              "{} clients were expelled, but the hostile one was connected {} times only", expelled,
              hostile_connections)};
}

}  // namespace

Runner::Runner(bool paranoid)
    : paranoid_(paranoid), linearizability_(checkers::Model::cas_register) {}

explorer::Run Runner::run(const explorer::Scenario& scenario, sim::Strategy& strategy) {
  return run(scenario, strategy, nullptr);
}

explorer::Run Runner::run_observed(const explorer::Scenario& scenario, sim::Strategy& strategy,
                                   explorer::RunListener& listener) {
  ReportingListener reporting(store_scenario(scenario), listener);
  return run(scenario, strategy, &reporting);
}

const explorer::Vocabulary& Runner::vocabulary(const explorer::Scenario& scenario) {
  named_ = store_scenario(scenario);
  return vocabulary_.emplace(*named_);
}

std::shared_ptr<timeline::Recorder> Runner::create_recorder(const explorer::Scenario& scenario) {
  return std::make_shared<StoreRecorder>(*this, store_scenario(scenario));
}

Judgement Runner::check_store(std::span<const checkers::Operation> history,
                              const Scenario& scenario, const AttackedSlots& attacked,
                              const FreshKeys& fresh) {
  return linearizability_.check(
      attacked.is_any() ? judged_operations(history, scenario, attacked, fresh) : history);
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
    check::FairStrategy fair(strategy, first_fair_step);
    sim::Simulation simulation(scenario.simulation, fair, stacks_, &observer);
    world.add_hosts(simulation);
    run.result = simulation.run();
    if (options.listener != nullptr) observer.show_memory(run.result.steps + 1);
  }
  if (run.result.outcome == sim::Outcome::diverged) return run;
  run.violations = world.violations();
  observer.on_end(run.result);
  const auto is_damaged = [&](const std::string& key) {
    return may_be_damaged(key, scenario, world.attacked());
  };
  for (auto& [incarnation, history] : world.histories()) {
    Judgement scans = {.verdict = Verdict::holds, .property = "scan", .explanation = {}};
    if (!observer.fresh_keys().has_shared_container()) {
      scans = check_scans(world.scans(incarnation), history.operations(), world.times(incarnation),
                          scenario, is_damaged);
    }
    if (scans.verdict == Verdict::violated) run.violations.push_back(std::move(scans));
    Judgement judgement =
        scenario.geometry.values_expire
            ? check_cache(history.operations(), world.times(incarnation), scenario, is_damaged)
            : check_store(history.operations(), scenario, world.attacked(), observer.fresh_keys());
    if (judgement.verdict == Verdict::violated)
      run.violations.push_back(std::move(judgement));
    else if (judgement.verdict == Verdict::unknown)
      run.unknown.push_back(std::move(judgement));
  }
  observer.add_violations(run.violations);
  Judgement expelled = check_expelled(run.result, world.hostile_connections());
  if (expelled.verdict == Verdict::violated) run.violations.push_back(std::move(expelled));
  if (!run.result.uncommitted_use.empty()) {
    run.violations.push_back({.verdict = Verdict::violated,
                              .property = "books.committed",
                              .explanation = run.result.uncommitted_use});
  }
  const bool judges_checksums = scenario.safeguards.epoch_reclamation &&
                                scenario.safeguards.crc_verification && !world.attacked().is_any();
  if (judges_checksums) {
    const std::uint64_t count = run.result.probes[engine::probes::restart_at_bad_checksum.index];
    Judgement judgement = checkers::check_bad_checksums(count);
    if (judgement.verdict == Verdict::violated) run.violations.push_back(std::move(judgement));
  }
  return run;
}

}  // namespace falafel::store_scenario
