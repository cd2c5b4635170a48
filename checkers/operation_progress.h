// Progress of each operation by itself (the store as a whole: progress.h).
//
// In steps: an operation starts over only because somebody changed an entry meanwhile, or because it met a
// locked one, and it waits before it asks for that one again. So the verbs that it may post follow from what
// happened while it lasted. In time: as soon as faults are over, an operation waits for others only so
// long as their time-outs say. Waiting is time in which nobody could make a step; what the steps themselves
// take is not.
//
// Properties: "progress.operation.verbs", "progress.operation.waiting".
#pragma once

#include <cstdint>
#include <string>

#include "checkers/history.h"
#include "checkers/judgement.h"

namespace falafel::checkers {

struct OperationBounds {
  // One walk over the whole table and everything behind it, whatever it meets.
  std::uint64_t verbs_of_attempt = 0;
  // How often an operation may start over by itself.
  std::uint64_t attempts = 1;
  // Between two attempts that meet a lock.
  std::uint64_t shortest_lock_wait_ns = 0;
  // Once the faults are over.
  std::uint64_t longest_wait_ns = 0;
};

class OperationProgress {
 public:
  // The moment at which an operation was called.
  struct Call {
    std::uint64_t changes = 0;
    std::uint64_t locked_ns = 0;
    std::uint64_t waited_ns = 0;
  };

  explicit OperationProgress(const OperationBounds& bounds) : bounds_(bounds) {}

  // An entry changed. `is_any_locked`: whether one is locked from now on.
  void on_change(bool is_any_locked, std::uint64_t time_ns);
  // Nobody could make a step for that long, after the faults were over.
  void on_waited(std::uint64_t duration_ns) { waited_ns_ += duration_ns; }

  Call on_call(std::uint64_t time_ns);
  // `verbs`: how many it has posted.
  void on_return(const Call& call, const Operation& operation, std::uint64_t verbs,
                 std::uint64_t time_ns, std::uint64_t step);

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  std::uint64_t locked_ns(std::uint64_t time_ns) const;
  void violate(std::string property, const Operation& operation, std::string explanation,
               std::uint64_t step);

  OperationBounds bounds_;
  std::uint64_t changes_ = 0;
  std::uint64_t locked_ns_ = 0;  // until `locked_since_ns_`, if an entry is locked
  std::uint64_t locked_since_ns_ = 0;
  bool is_any_locked_ = false;
  std::uint64_t waited_ns_ = 0;
  Judgement judgement_{
      .verdict = Verdict::holds, .property = "progress.operation", .explanation = {}};
};

}  // namespace falafel::checkers
