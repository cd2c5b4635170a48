// Lookahead for models whose values only grow until they are overwritten. The current order must be
// able to produce the value that the next get found, possibly after an operation overwrites the
// value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "checkers/linearization/timeline.h"
#include "checkers/linearization/transition.h"

namespace falafel::checkers::linearization {

template <typename Model>
class NextGetLookahead {
 public:
  using Timeline = linearization::Timeline<Transition>;
  using TimedOperation = linearization::TimedOperation<Transition>;

  // Ignores gets that return at or after the horizon.
  void assign(const Model& /*model*/, const Timeline& timeline, std::size_t horizon) {
    timeline_ = &timeline;
    const auto returns = timeline.returns();
    is_ordered_.assign(timeline.operations().size(), false);
    next_get_.assign(returns.size() + 1, none);
    overwriters_.assign(timeline, [&](const TimedOperation& operation) {
      return Model::overwrites(operation.transition);
    });
    gets_.assign(timeline, [&](const TimedOperation& operation) {
      return operation.transition.kind == OperationKind::get && operation.rank < horizon;
    });
    for (std::size_t rank = returns.size(); rank-- > 0;) {
      const std::size_t first = gets_.first_to_return[rank];
      next_get_[rank] = first < gets_.candidates.size() ? gets_.candidates[first].operation : none;
    }
  }

  void order(std::uint32_t operation) { is_ordered_[operation] = true; }
  void undo(std::uint32_t operation) { is_ordered_[operation] = false; }

  // Rates an operation that leads to the state `after`. It is poor if only an overwrite in time can
  // save it, and unseen if in addition no get can find the state before the overwrite. `rank` is
  // the number of operations that have returned.
  Prospect prospect(const Model& model, std::uint32_t rank, const TimedOperation& operation,
                    State /*before*/, State after) const {
    const auto operations = timeline_->operations();
    std::uint32_t next = next_get_[rank];
    while (next != none && is_ordered_[next]) next = next_get_[operations[next].rank + 1];
    if (next == none) return Prospect::good;
    const TimedOperation& get = operations[next];
    if (model.may_become(after, get.transition)) return Prospect::good;
    const bool is_overwritten =
        may_come_before(get, rank, overwriters_, [&](const TimedOperation& overwriter) {
          return &overwriter != &operation &&
                 model.may_become(overwriter.transition, get.transition);
        });
    if (!is_overwritten) return Prospect::excluded;
    const bool is_seen = may_come_before(get, rank, gets_, [&](const TimedOperation& other) {
      return model.may_become(after, other.transition);
    });
    return is_seen ? Prospect::poor : Prospect::unseen;
  }

 private:
  // Operations of one kind, sorted by return; those that never return are last.
  struct Candidate {
    std::uint32_t operation;
    std::uint32_t first_call;  // the earliest call among this and all later candidates
  };
  struct Candidates {
    std::vector<Candidate> candidates;
    // by rank: the first candidate that returns at that rank or later
    std::vector<std::uint32_t> first_to_return;

    template <typename Predicate>
    void assign(const Timeline& timeline, Predicate is_meant) {
      candidates.clear();
      first_to_return.clear();
      const auto operations = timeline.operations();
      for (const std::uint32_t operation : timeline.returns()) {
        first_to_return.push_back(static_cast<std::uint32_t>(candidates.size()));
        if (is_meant(operations[operation])) candidates.push_back({operation, none});
      }
      first_to_return.push_back(static_cast<std::uint32_t>(candidates.size()));
      for (std::uint32_t operation = 0; operation < operations.size(); ++operation) {
        if (operations[operation].is_indeterminate() && is_meant(operations[operation])) {
          candidates.push_back({operation, none});
        }
      }
      std::uint32_t first_call = none;
      for (std::size_t index = candidates.size(); index-- > 0;) {
        first_call = std::min(first_call, operations[candidates[index].operation].call_event);
        candidates[index].first_call = first_call;
      }
    }
  };

  // Returns whether a suitable operation, not yet ordered, may be ordered before the get returns.
  template <typename Predicate>
  bool may_come_before(const TimedOperation& get, std::uint32_t rank, const Candidates& all,
                       Predicate fits) const {
    for (std::size_t index = all.first_to_return[rank]; index < all.candidates.size(); ++index) {
      const Candidate& candidate = all.candidates[index];
      if (candidate.first_call >= get.return_event) return false;
      const TimedOperation& operation = timeline_->operations()[candidate.operation];
      const bool may_come =
          operation.call_event < get.return_event && !is_ordered_[candidate.operation];
      if (may_come && fits(operation)) return true;
    }
    return false;
  }

  const Timeline* timeline_ = nullptr;
  std::vector<bool> is_ordered_;  // by operation
  // by rank: the first get that returns at that rank or later
  std::vector<std::uint32_t> next_get_;
  Candidates overwriters_;
  Candidates gets_;
};

}  // namespace falafel::checkers::linearization
