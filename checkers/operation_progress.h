// Progress of individual operations; progress.h covers the store as a whole.
//
// In steps: an operation restarts only because another party changed an entry or because it found a
// locked entry. It backs off before it reads a locked entry again. The changes and locks during the
// operation therefore bound the number of verbs it may post.
//
// In time: once faults are over, an operation waits for others at most as long as their time-outs
// allow. Waiting is time in which no party can take a step; the duration of the steps themselves
// does not count.
//
// Properties: "progress.operation.verbs", "progress.operation.waiting".
#pragma once

#include <cstdint>
#include <string>

#include "checkers/history.h"
#include "checkers/judgement.h"

namespace falafel::checkers {

struct OperationBounds {
  // One walk over the whole table and every container, regardless of what it finds.
  std::uint64_t verbs_of_attempt = 0;
  // The number of attempts that an operation may make for reasons of its own.
  std::uint64_t attempts = 1;
  // The shortest back-off between two attempts that find a lock.
  std::uint64_t shortest_lock_wait_ns = 0;
  // Applies once faults are over.
  std::uint64_t longest_wait_ns = 0;
};

class OperationProgress {
 public:
  // The checker's counters at the call of an operation.
  struct Call {
    std::uint64_t changes = 0;
    std::uint64_t locked_ns = 0;
    std::uint64_t waited_ns = 0;
  };

  explicit OperationProgress(const OperationBounds& bounds) : bounds_(bounds) {}

  // An entry changed. `is_any_locked` says whether any entry is locked after the change.
  void on_change(bool is_any_locked, std::uint64_t time_ns);
  // After the end of the faults, no party could take a step for `duration_ns`.
  void on_waited(std::uint64_t duration_ns) { waited_ns_ += duration_ns; }

  Call on_call(std::uint64_t time_ns);
  // `verbs` is the number of verbs that the operation posted.
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
  std::uint64_t locked_ns_ = 0;  // up to `locked_since_ns_` if an entry is locked
  std::uint64_t locked_since_ns_ = 0;
  bool is_any_locked_ = false;
  std::uint64_t waited_ns_ = 0;
  Judgement judgement_{
      .verdict = Verdict::holds, .property = "progress.operation", .explanation = {}};
};

}  // namespace falafel::checkers
