// Checks the progress of single operations while they run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "checkers/judgement.h"
#include "checkers/operation_progress.h"
#include "fabric/fabric.h"
#include "fabric/sim/trace.h"
#include "tools/store_scenario/operation_watcher.h"
#include "tools/store_scenario/scenario.h"

namespace falafel::store_scenario {

class OperationWatch {
 public:
  explicit OperationWatch(const Scenario& scenario);

  // The clock has jumped or may have jumped: events of the kinds time_jump and fault.
  void on_time_jump(const sim::TraceEvent& jump);
  void on_entry_changed(bool is_any_locked, std::uint64_t time_ns) {
    progress_.on_change(is_any_locked, time_ns);
  }
  void on_called(fabric::FiberId fiber, std::uint64_t time_ns);
  void on_returned(fabric::FiberId fiber, const checkers::Operation& operation,
                   const OperationResult& result, std::uint64_t time_ns, std::uint64_t step);
  void on_abandoned(fabric::FiberId fiber) { calls_.erase(fiber); }

  void add_violations(std::vector<checkers::Judgement>& violations) const;

 private:
  const sim::SimulationOptions& options_;
  checkers::OperationProgress progress_;
  std::map<fabric::FiberId, checkers::OperationProgress::Call> calls_;
  std::uint64_t jumped_ns_ = 0;  // sum of all clock jumps so far
  std::optional<std::uint64_t> faults_over_ns_;
};

}  // namespace falafel::store_scenario
