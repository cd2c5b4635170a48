// Checks single operations while they run: each makes progress, and none gives up without need.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "checkers/disconnections.h"
#include "checkers/judgement.h"
#include "checkers/operation_progress.h"
#include "checkers/refusals.h"
#include "checkers/table_watch.h"
#include "checkers/trusted_locations.h"
#include "engine/server/server.h"
#include "fabric/fabric.h"
#include "fabric/sim/trace.h"
#include "tools/scenarios/store/operation_watcher.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

class OperationWatch {
 public:
  // `table`: the current server's. Both outlive this object.
  OperationWatch(const Scenario& scenario, const checkers::TableWatch& table);

  // The clock has jumped or may have jumped: events of the kinds time_jump and fault.
  void on_time_jump(const sim::TraceEvent& jump);
  void on_fault(const sim::TraceEvent& fault);
  // Events of the kinds request_posted, request_completed and queue_pair_error.
  void on_posted(fabric::FiberId fiber, const sim::TraceEvent& posted);
  void on_completed(const sim::TraceEvent& completed);
  void on_queue_pair_error(const sim::TraceEvent& error);

  void on_server_restart();
  // The same, over memory that may have data, which the table has.
  void on_server_started(std::uint64_t time_ns);
  // To be called after the table has the new entry.
  void on_entry_changed(std::uint64_t slot, engine::Entry previous, std::uint64_t time_ns);
  // The server may have denied somebody a region.
  void on_server(const engine::Server& server, std::uint64_t time_ns, std::uint64_t step);

  // `queue_pair`: of the connection. `server`: null if there is none.
  void on_called(fabric::FiberId fiber, const checkers::Operation& operation,
                 std::uint32_t queue_pair, const engine::Server* server, std::uint64_t time_ns);
  void on_returned(fabric::FiberId fiber, const checkers::Operation& operation,
                   const OperationResult& result, const engine::Server* server,
                   std::uint64_t time_ns, std::uint64_t step);
  void on_abandoned(fabric::FiberId fiber) { calls_.erase(fiber); }
  void on_goodbye(std::uint32_t queue_pair) { disconnections_.on_goodbye(queue_pair); }
  void on_connection(const sim::TraceEvent& event);

  void add_violations(std::vector<checkers::Judgement>& violations) const;

 private:
  struct FirstRead {
    std::uint64_t local_offset = 0;
    std::uint64_t remote_offset = 0;

    friend bool operator==(const FirstRead&, const FirstRead&) = default;
  };
  // The requests that an operation has posted so far. Empty in a batch, whose fibers post the
  // requests of others.
  struct Posted {
    bool is_in_batch = false;
    // Each walk of the operation begins with the same READ of entries.
    std::optional<FirstRead> first_read{};
    bool has_swapped = false;
  };
  struct Call {
    checkers::Operation operation;
    checkers::OperationProgress::Call progress;
    checkers::RefusalChecker::Call refusal;
    std::uint32_t queue_pair = 0;
    Posted posted;
    // For a SET and a COMPARE-AND-SET: the slot in which its key has had a container of at least
    // `needed_bytes` since the call.
    std::optional<std::uint64_t> overwrites_slot{};
    std::uint64_t needed_bytes = 0;
  };

  void on_read_posted(Call& call, const sim::TraceEvent& posted);
  void on_swap_posted(Call& call, const sim::TraceEvent& posted);
  void judge_answer(const Call& call, const checkers::Operation& operation, engine::Answer answer,
                    std::uint64_t cleanups, std::uint64_t time_ns, std::uint64_t step);

  const Scenario& scenario_;
  const engine::Geometry& geometry_;
  const sim::SimulationOptions& options_;
  const checkers::TableWatch& table_;
  checkers::OperationProgress progress_;
  // There is a hostile client, or a safeguard is off. The model of refusals does not cover the
  // memory, slots and locks that are then occupied.
  bool may_meet_damage_;
  checkers::RefusalChecker refusals_;
  checkers::Disconnections disconnections_;
  checkers::TrustedLocations locations_;
  std::map<fabric::FiberId, Call> calls_;
  std::uint64_t jumped_ns_ = 0;  // sum of all clock jumps so far
  std::optional<std::uint64_t> faults_over_ns_;
  std::uint32_t last_broken_ = 0;  // queue pair
  // Denials of the current server that were judged.
  std::uint64_t requests_denied_ = 0;
  std::uint64_t overwrites_denied_ = 0;
};

}  // namespace falafel::store_scenario
