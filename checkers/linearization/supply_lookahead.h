// Lookahead for registers: an order must not overwrite a value that a get still has to find if no
// remaining operation can write it again. With this lookahead, histories in which all values differ
// need almost no search.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "checkers/linearization/timeline.h"
#include "checkers/linearization/transition.h"

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
      reset(Model::awaited_value(operation.transition));
      reset(Model::written_value(operation.transition));
    }
    reset(Model::initial());
    for (const TimedOperation& operation : timeline.operations()) count(operation, 1);
  }

  void order(std::uint32_t operation) { count(timeline_->operations()[operation], -1); }
  void undo(std::uint32_t operation) { count(timeline_->operations()[operation], 1); }

  // Rates an operation that leads from one state to the other.
  Prospect prospect(const Model& /*model*/, std::uint32_t /*rank*/, const TimedOperation& operation,
                    State before, State after) const {
    if (before == after || supplies_[before].writers > 0) return Prospect::good;
    const bool is_missed = supplies_[before].readers > (finds(operation) == before ? 1 : 0);
    return is_missed ? Prospect::excluded : Prospect::good;
  }

 private:
  // Counts operations that are not yet ordered.
  struct Supply {
    std::int32_t readers = 0;  // must find the value
    std::int32_t writers = 0;  // may write the value
  };

  std::uint32_t finds(const TimedOperation& operation) const {
    return operation.rank < horizon_ ? Model::awaited_value(operation.transition) : none;
  }

  void reset(std::uint32_t value) {
    if (value == none) return;
    if (value >= supplies_.size()) supplies_.resize(value + std::size_t{1});
    supplies_[value] = {};
  }

  void count(const TimedOperation& operation, std::int32_t change) {
    const std::uint32_t found = finds(operation);
    const std::uint32_t written = Model::written_value(operation.transition);
    if (found != none) supplies_[found].readers += change;
    if (written != none) supplies_[written].writers += change;
  }

  const Timeline* timeline_ = nullptr;
  std::size_t horizon_ = 0;
  // by value; values that do not occur may have leftovers of other keys
  std::vector<Supply> supplies_;
};

}  // namespace falafel::checkers::linearization
