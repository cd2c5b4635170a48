// The operations on one key as a sequence of call and return events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checkers/history.h"
#include "checkers/linearization/key_partition.h"
#include "checkers/linearization/transition.h"

namespace falafel::checkers::linearization {

inline constexpr std::uint32_t none = 0xffff'ffffU;

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

class Timeline {
 public:
  void assign(std::span<const Operation> history, const KeyPartition& partition, std::size_t key);

  std::span<const TimedOperation> operations() const { return operations_; }  // by call
  std::span<const Event> events() const { return events_; }                   // by time
  std::span<const std::uint32_t> returns() const { return returns_; }  // operations, by return
  std::size_t slots() const { return slots_; }

 private:
  struct Moment {
    std::uint64_t time;
    std::uint32_t position;
    bool is_return;
  };

  void sort_moments(std::span<const Operation> history, std::span<const std::uint32_t> positions);
  void add_call(const KeyPartition& partition, std::uint32_t position);
  void add_return(std::uint32_t operation);
  void find_twins();
  std::uint32_t take_slot();

  std::vector<TimedOperation> operations_;
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
