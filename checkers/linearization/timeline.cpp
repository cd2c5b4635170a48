#include "checkers/linearization/timeline.h"

#include <algorithm>
#include <tuple>

#include "fabric/fabric.h"

namespace falafel::checkers::linearization {

void Timeline::assign(std::span<const Operation> history, const KeyPartition& partition,
                      std::size_t key) {
  operations_.clear();
  events_.clear();
  returns_.clear();
  free_slots_.clear();
  indeterminate_.clear();
  slots_ = 0;
  if (operation_at_.size() < history.size()) operation_at_.resize(history.size());
  sort_moments(history, partition.positions(key));
  for (const Moment& moment : moments_) {
    if (moment.is_return) {
      add_return(operation_at_[moment.position]);
    } else {
      add_call(partition, moment.position);
    }
  }
  for (std::uint32_t operation = 0; operation < operations_.size(); ++operation) {
    if (operations_[operation].is_indeterminate()) indeterminate_.push_back(operation);
  }
  find_twins();
}

// Calls sort before returns at the same time, because such operations are concurrent.
void Timeline::sort_moments(std::span<const Operation> history,
                            std::span<const std::uint32_t> positions) {
  moments_.clear();
  for (const std::uint32_t position : positions) {
    const Operation& operation = history[position];
    moments_.push_back({operation.call_time, position, false});
    if (operation.answer == Answer::indeterminate) continue;
    FALAFEL_ASSERT(operation.return_time >= operation.call_time, "{}", describe(operation));
    moments_.push_back({operation.return_time, position, true});
  }
  std::ranges::sort(moments_, [](const Moment& left, const Moment& right) {
    return std::tuple(left.time, left.is_return, left.position) <
           std::tuple(right.time, right.is_return, right.position);
  });
}

void Timeline::add_call(const KeyPartition& partition, std::uint32_t position) {
  const auto operation = static_cast<std::uint32_t>(operations_.size());
  operation_at_[position] = operation;
  operations_.push_back({.transition = partition.transition(position),
                         .position = position,
                         .call_event = static_cast<std::uint32_t>(events_.size()),
                         .slot = take_slot()});
  events_.push_back({operation, false});
}

void Timeline::add_return(std::uint32_t operation) {
  TimedOperation& returning = operations_[operation];
  returning.return_event = static_cast<std::uint32_t>(events_.size());
  returning.rank = static_cast<std::uint32_t>(returns_.size());
  free_slots_.push_back(returning.slot);
  returns_.push_back(operation);
  events_.push_back({operation, true});
}

std::uint32_t Timeline::take_slot() {
  if (free_slots_.empty()) return static_cast<std::uint32_t>(slots_++);
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void Timeline::find_twins() {
  const auto sort_key = [this](std::uint32_t operation) {
    const Transition& transition = operations_[operation].transition;
    return std::tuple(transition.kind, transition.value, transition.expected, operation);
  };
  std::ranges::sort(indeterminate_, {}, sort_key);
  for (std::size_t index = 1; index < indeterminate_.size(); ++index) {
    const std::uint32_t earlier = indeterminate_[index - 1];
    TimedOperation& later = operations_[indeterminate_[index]];
    if (later.transition == operations_[earlier].transition) later.twin = earlier;
  }
}

}  // namespace falafel::checkers::linearization
