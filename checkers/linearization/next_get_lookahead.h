// Lookahead for models whose values only grow until they are overwritten: an order must lead to what
// the next get found, be it that something overwrites the value before.
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
  // Gets that return at the horizon or later are not looked at.
  void assign(const Timeline& timeline, std::size_t horizon) {
    timeline_ = &timeline;
    const auto returns = timeline.returns();
    is_ordered_.assign(timeline.operations().size(), false);
    next_get_.assign(returns.size() + 1, none);
    list_overwriters(timeline);
    std::uint32_t overwriter = returning_overwriters_;
    first_overwriter_.assign(returns.size() + 1, overwriter);
    for (std::size_t rank = returns.size(); rank-- > 0;) {
      const Transition& transition = timeline.operations()[returns[rank]].transition;
      const bool is_get = transition.kind == OperationKind::get && rank < horizon;
      next_get_[rank] = is_get ? returns[rank] : next_get_[rank + 1];
      if (Model::overwrites(transition)) --overwriter;
      first_overwriter_[rank] = overwriter;
    }
  }

  void order(std::uint32_t operation) { is_ordered_[operation] = true; }
  void undo(std::uint32_t operation) { is_ordered_[operation] = false; }

  // Of an operation that leads to the state `after`. Poor: only if the value is overwritten in time.
  // `rank`: how many operations have returned.
  Prospect prospect(const Model& model, std::uint32_t rank, const TimedOperation& operation,
                    State /*before*/, State after) const {
    const auto operations = timeline_->operations();
    std::uint32_t next = next_get_[rank];
    while (next != none && is_ordered_[next]) next = next_get_[operations[next].rank + 1];
    if (next == none) return Prospect::good;
    const TimedOperation& get = operations[next];
    if (model.may_become(after, get.transition)) return Prospect::good;
    for (std::size_t index = first_overwriter_[rank]; index < overwriters_.size(); ++index) {
      if (overwriters_[index].first_call >= get.return_event) break;
      const TimedOperation& overwriter = operations[overwriters_[index].operation];
      const bool may_come = overwriter.call_event < get.return_event && &overwriter != &operation &&
                            !is_ordered_[overwriters_[index].operation];
      if (may_come && model.may_become(overwriter.transition, get.transition))
        return Prospect::poor;
    }
    return Prospect::none;
  }

 private:
  struct Overwriter {
    std::uint32_t operation;
    std::uint32_t first_call;  // of this and those after it
  };

  // By their returns; last come those that never return.
  void list_overwriters(const Timeline& timeline) {
    overwriters_.clear();
    const auto operations = timeline.operations();
    for (const std::uint32_t operation : timeline.returns()) {
      if (Model::overwrites(operations[operation].transition)) {
        overwriters_.push_back({operation, none});
      }
    }
    returning_overwriters_ = static_cast<std::uint32_t>(overwriters_.size());
    for (std::uint32_t operation = 0; operation < operations.size(); ++operation) {
      const bool overwrites = Model::overwrites(operations[operation].transition);
      if (operations[operation].is_indeterminate() && overwrites) {
        overwriters_.push_back({operation, none});
      }
    }
    std::uint32_t first_call = none;
    for (std::size_t index = overwriters_.size(); index-- > 0;) {
      first_call = std::min(first_call, operations[overwriters_[index].operation].call_event);
      overwriters_[index].first_call = first_call;
    }
  }

  const Timeline* timeline_ = nullptr;
  std::vector<bool> is_ordered_;         // by operation
  std::vector<std::uint32_t> next_get_;  // by rank: the first to return then or later
  std::vector<Overwriter> overwriters_;
  std::uint32_t returning_overwriters_ = 0;
  std::vector<std::uint32_t> first_overwriter_;  // by rank: the first to return then or later
};

}  // namespace falafel::checkers::linearization
