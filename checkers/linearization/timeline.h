// The operations on one object as a sequence of call and return events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace falafel::checkers::linearization {

inline constexpr std::uint32_t none = 0xffff'ffffU;

template <typename Transition>
struct TimedOperation {
  Transition transition;
  std::uint32_t position = 0;    // in the history
  std::uint32_t call_event = 0;  // events are counted from 0
  std::uint32_t return_event = none;
  std::uint32_t rank = none;  // among the returns
  // Unique among the operations that are pending at the same time.
  std::uint32_t slot = 0;
  // Indeterminate operations: the previous identical operation.
  std::uint32_t twin = none;

  bool is_indeterminate() const { return return_event == none; }
};

struct Event {
  std::uint32_t operation;
  bool is_return;
};

template <typename Transition>
class Timeline {
 public:
  // `part` has the operations, by their positions in a history, in these members:
  //   std::size_t history_size()
  //   std::span<const std::uint32_t> positions()
  //   std::uint64_t call_time(position), return_time(position); bool is_indeterminate(position)
  //   Transition transition(position)
  // No operation returns before its call.
  template <typename Part>
  void assign(const Part& part) {
    operations_.clear();
    events_.clear();
    returns_.clear();
    free_slots_.clear();
    indeterminate_.clear();
    slots_ = 0;
    if (operation_at_.size() < part.history_size()) operation_at_.resize(part.history_size());
    sort_moments(part);
    for (const Moment& moment : moments_) {
      if (moment.is_return) {
        add_return(operation_at_[moment.position]);
      } else {
        add_call(part.transition(moment.position), moment.position);
      }
    }
    for (std::uint32_t operation = 0; operation < operations_.size(); ++operation) {
      if (operations_[operation].is_indeterminate()) indeterminate_.push_back(operation);
    }
    find_twins();
  }

  std::span<const TimedOperation<Transition>> operations() const { return operations_; }  // by call
  std::span<const Event> events() const { return events_; }                               // by time
  std::span<const std::uint32_t> returns() const { return returns_; }  // operations, by return
  std::size_t slots() const { return slots_; }

 private:
  struct Moment {
    std::uint64_t time;
    std::uint32_t position;
    bool is_return;
  };

  // Calls sort before returns at the same time, because such operations are concurrent.
  template <typename Part>
  void sort_moments(const Part& part) {
    moments_.clear();
    for (const std::uint32_t position : part.positions()) {
      moments_.push_back({part.call_time(position), position, false});
      if (part.is_indeterminate(position)) continue;
      moments_.push_back({part.return_time(position), position, true});
    }
    std::ranges::sort(moments_, [](const Moment& left, const Moment& right) {
      return std::tuple(left.time, left.is_return, left.position) <
             std::tuple(right.time, right.is_return, right.position);
    });
  }

  void add_call(const Transition& transition, std::uint32_t position) {
    const auto operation = static_cast<std::uint32_t>(operations_.size());
    operation_at_[position] = operation;
    operations_.push_back({.transition = transition,
                           .position = position,
                           .call_event = static_cast<std::uint32_t>(events_.size()),
                           .slot = take_slot()});
    events_.push_back({operation, false});
  }

  void add_return(std::uint32_t operation) {
    TimedOperation<Transition>& returning = operations_[operation];
    returning.return_event = static_cast<std::uint32_t>(events_.size());
    returning.rank = static_cast<std::uint32_t>(returns_.size());
    free_slots_.push_back(returning.slot);
    returns_.push_back(operation);
    events_.push_back({operation, true});
  }

  void find_twins() {
    std::ranges::sort(indeterminate_, {}, [this](std::uint32_t operation) {
      return std::tuple(operations_[operation].transition, operation);
    });
    for (std::size_t index = 1; index < indeterminate_.size(); ++index) {
      const std::uint32_t earlier = indeterminate_[index - 1];
      TimedOperation<Transition>& later = operations_[indeterminate_[index]];
      if (later.transition == operations_[earlier].transition) later.twin = earlier;
    }
  }

  std::uint32_t take_slot() {
    if (free_slots_.empty()) return static_cast<std::uint32_t>(slots_++);
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }

  std::vector<TimedOperation<Transition>> operations_;
  std::vector<Event> events_;
  std::vector<std::uint32_t> returns_;
  std::size_t slots_ = 0;
  // Used only during assign().
  std::vector<Moment> moments_;
  std::vector<std::uint32_t> operation_at_;  // by position in the history
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> indeterminate_;
};

}  // namespace falafel::checkers::linearization
