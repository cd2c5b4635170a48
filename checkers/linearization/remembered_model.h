// An object as a model of the search, which remembers the results of apply().
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "checkers/linearization/model.h"
#include "checkers/linearization/object_model.h"
#include "checkers/linearization/timeline.h"

namespace falafel::checkers::linearization {

// Indeterminate calls of equal operations have the same number.
struct CallTransition {
  std::uint32_t number = 0;
  std::uint32_t call = 0;  // its position in the history
  bool only_reads = false;

  friend bool operator==(const CallTransition& left, const CallTransition& right) {
    return left.number == right.number;
  }
  friend std::strong_ordering operator<=>(const CallTransition& left, const CallTransition& right) {
    return left.number <=> right.number;
  }
};

class RememberedModel;

// The lookahead of the object's specification, if it has one.
class ObjectLookahead {
 public:
  using Timeline = linearization::Timeline<CallTransition>;
  using TimedOperation = linearization::TimedOperation<CallTransition>;

  // Ignores the answers of operations that return at or after the horizon.
  void assign(const RememberedModel& model, const Timeline& timeline, std::size_t horizon);
  void order(std::uint32_t operation) {
    if (object_ != nullptr) object_->order(operation);
  }
  void undo(std::uint32_t operation) {
    if (object_ != nullptr) object_->undo(operation);
  }
  Prospect prospect(const RememberedModel& /*model*/, std::uint32_t /*rank*/,
                    const TimedOperation& operation, State before, State after) const {
    if (object_ == nullptr) return Prospect::good;
    const auto planned = static_cast<std::size_t>(&operation - timeline_->operations().data());
    return object_->may_follow(before, planned, after) ? Prospect::good : Prospect::excluded;
  }

 private:
  ObjectModel* object_ = nullptr;  // null: it has no lookahead
  const Timeline* timeline_ = nullptr;
  std::vector<PlannedCall> planned_;
};

class RememberedModel {
 public:
  using Transition = CallTransition;
  using Lookahead = ObjectLookahead;

  explicit RememberedModel(ObjectModel& object) : object_(object) {}

  ObjectModel& object() const { return object_; }

  void begin() {
    object_.forget_states();
    next_.clear();
  }

  static State initial() { return 0; }

  State apply(State state, const Transition& transition) {
    const std::uint64_t step = std::uint64_t{state} << 32U | transition.number;
    const auto known = next_.find(step);
    if (known != next_.end()) return known->second;
    const State after = object_.step(state, transition.call);
    next_.emplace(step, after);
    return after;
  }

  static bool only_reads(const Transition& transition) { return transition.only_reads; }

  std::uint64_t memory_bytes() const {
    constexpr std::uint64_t entry_bytes = 64;
    return object_.states_bytes() + next_.size() * entry_bytes;
  }

 private:
  ObjectModel& object_;
  std::map<std::uint64_t, State> next_;  // by state and transition
};

inline void ObjectLookahead::assign(const RememberedModel& model, const Timeline& timeline,
                                    std::size_t horizon) {
  object_ = model.object().looks_ahead() ? &model.object() : nullptr;
  if (object_ == nullptr) return;
  timeline_ = &timeline;
  planned_.clear();
  for (const TimedOperation& operation : timeline.operations()) {
    planned_.push_back({operation.position, operation.rank >= horizon});
  }
  object_->plan(planned_);
}

}  // namespace falafel::checkers::linearization
