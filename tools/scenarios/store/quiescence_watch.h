// Follows the questions of quiescence, their answers, and the operations of clients, for the
// checker of quiescence.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "checkers/history.h"
#include "checkers/judgement.h"
#include "checkers/quiescence.h"
#include "fabric/fabric.h"
#include "fabric/sim/trace.h"
#include "tools/scenarios/store/operation_watcher.h"
#include "tools/scenarios/store/scenario.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

class QuiescenceWatch {
 public:
  // Both outlive this object. Nothing is judged if safeguards are off, nor clients with batches.
  QuiescenceWatch(const Scenario& scenario, const StoreWorld& world);

  void introduce(const sim::Subject& subject);
  // Ignores events of other kinds.
  void observe(const sim::TraceEvent& event);

  // `queue_pair`: of the connection.
  void on_operation_called(fabric::FiberId fiber, std::uint32_t queue_pair,
                           const checkers::Operation& operation);
  void on_operation_returned(fabric::FiberId fiber, const OperationResult& result,
                             std::uint64_t step);
  void on_operation_abandoned(fabric::FiberId fiber);

  const checkers::Judgement& judgement() const { return quiescence_.judgement(); }

 private:
  struct Called {
    std::uint32_t queue_pair = 0;
    std::uint64_t number = 0;
  };

  void on_posted(const sim::TraceEvent& event);
  void on_delivered(const sim::TraceEvent& event);

  const Scenario& scenario_;
  const StoreWorld& world_;
  const bool is_judged_;
  checkers::Quiescence quiescence_;
  std::set<std::uint32_t> clients_;         // by queue pair
  std::map<fabric::FiberId, Called> gets_;  // and DELETEs that are pending
  std::uint64_t next_number_ = 0;
};

}  // namespace falafel::store_scenario
