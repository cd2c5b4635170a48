// Lookahead for the register of a key: ValueSupplies, with the numbers of the values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "checkers/linearization/timeline.h"
#include "checkers/linearization/transition.h"
#include "checkers/value_supplies.h"

namespace falafel::checkers::linearization {

template <typename Model>
class SupplyLookahead {
 public:
  using Timeline = linearization::Timeline<Transition>;
  using TimedOperation = linearization::TimedOperation<Transition>;

  // Ignores reads by operations that return at or after the horizon.
  void assign(const Model& /*model*/, const Timeline& timeline, std::size_t horizon) {
    timeline_ = &timeline;
    horizon_ = horizon;
    for (const TimedOperation& operation : timeline.operations()) {
      supplies_.reset(Model::awaited_value(operation.transition));
      supplies_.reset(Model::written_value(operation.transition));
    }
    supplies_.reset(Model::initial());
    for (const TimedOperation& operation : timeline.operations()) count(operation, 1);
  }

  void order(std::uint32_t operation) { count(timeline_->operations()[operation], -1); }
  void undo(std::uint32_t operation) { count(timeline_->operations()[operation], 1); }

  // Rates an operation that leads from one state to the other.
  Prospect prospect(const Model& /*model*/, std::uint32_t /*rank*/, const TimedOperation& operation,
                    State before, State after) const {
    if (before == after) return Prospect::good;
    return supplies_.may_be_overwritten(before, finds(operation)) ? Prospect::good
                                                                  : Prospect::excluded;
  }

 private:
  static_assert(none == ValueSupplies::no_value);

  std::uint32_t finds(const TimedOperation& operation) const {
    return operation.rank < horizon_ ? Model::awaited_value(operation.transition) : none;
  }

  void count(const TimedOperation& operation, std::int32_t change) {
    supplies_.count(finds(operation), Model::written_value(operation.transition), change);
  }

  const Timeline* timeline_ = nullptr;
  std::size_t horizon_ = 0;
  ValueSupplies supplies_;
};

}  // namespace falafel::checkers::linearization
