#include "tools/store_scenario/operation_watch.h"

#include <algorithm>

namespace falafel::store_scenario {
namespace {

using checkers::Judgement;
using checkers::Verdict;

// Several times the network's time-out plus the back-off of operations at locks.
constexpr std::uint64_t longest_network_wait_ns = 10'000'000;

// While the server is stopped, an operation can wait for three time-outs: for a region, at a lock,
// and for a cleanup.
std::uint64_t longest_wait_for_server_ns(const Scenario& scenario) {
  const bool may_stop = scenario.simulation.fault_rate(sim::FaultKind::server_stop) > 0;
  return may_stop ? 3 * scenario.server_timeout_ns : 0;
}

// After this time, nobody waits for the regions of a client whose flush has not come.
std::uint64_t longest_wait_for_flush_ns(const Scenario& scenario) {
  const bool may_be_late = scenario.simulation.fault_rate(sim::FaultKind::slow_landing) > 0;
  return may_be_late ? scenario.flush_timeout_ns : 0;
}

checkers::OperationBounds bounds_of(const Scenario& scenario) {
  // Each attack may occupy the memory once, lock an entry once, or cause 16 restarts of an operation by damage.
  const std::uint64_t attacks = scenario.attacks.size();
  constexpr std::uint64_t attempts_at_damage = 16;
  return {
      // Each entry is read twice and its container in two parts. In addition, there are the
      // rebinding counter, the container that is written, and a swap.
      .verbs_of_attempt = 4 * scenario.geometry.table_entries + 16,
      // A SET restarts on its own when memory is denied, and when it requests a cleanup.
      .attempts = 3 + attacks * attempts_at_damage,
      .shortest_lock_wait_ns = 2'000,
      // The server gives up on a silent client after the time-out, regardless of other requests.
      // The network's own time-outs then resolve what was in flight.
      .longest_wait_ns =
          2 * scenario.heartbeat_timeout_ns + longest_network_wait_ns +
          longest_wait_for_server_ns(scenario) + longest_wait_for_flush_ns(scenario) +
          attacks * (2 * scenario.heartbeat_timeout_ns + 2 * scenario.cleanup_interval_ns),
  };
}

}  // namespace

OperationWatch::OperationWatch(const Scenario& scenario)
    : options_(scenario.simulation), progress_(bounds_of(scenario)) {}

// The effects of a fault may last another `longest_stall_ns`.
void OperationWatch::on_time_jump(const sim::TraceEvent& jump) {
  const std::uint64_t jumped_ns = jump.time_ns - jump.step * options_.step_duration_ns;
  const std::uint64_t duration_ns = jumped_ns - jumped_ns_;
  jumped_ns_ = jumped_ns;
  if (jump.step <= options_.last_fault_step) return;
  if (!faults_over_ns_) {
    faults_over_ns_ = jump.time_ns - duration_ns + options_.longest_stall_ns;
  }
  if (jump.time_ns <= *faults_over_ns_) return;
  progress_.on_waited(std::min(duration_ns, jump.time_ns - *faults_over_ns_));
}

void OperationWatch::on_called(fabric::FiberId fiber, std::uint64_t time_ns) {
  calls_[fiber] = progress_.on_call(time_ns);
}

void OperationWatch::on_returned(fabric::FiberId fiber, const checkers::Operation& operation,
                                 const OperationResult& result, std::uint64_t time_ns,
                                 std::uint64_t step) {
  const auto call = calls_.find(fiber);
  progress_.on_return(call->second, operation, result.statistics.verbs, time_ns, step);
  calls_.erase(call);
}

void OperationWatch::add_violations(std::vector<Judgement>& violations) const {
  if (progress_.judgement().verdict == Verdict::violated) {
    violations.push_back(progress_.judgement());
  }
}

}  // namespace falafel::store_scenario
