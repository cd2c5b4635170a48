// The input and the result of monitors: algorithms that decide in near-linear time whether a
// history of distinct values is linearizable (docs/checkers.md). Times are numbers of events: the
// calls and the returns of the history, in their order. All differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace falafel::checkers::monitors {

inline constexpr std::uint32_t never = 0xffff'ffffU;

// A call on a queue or stack, or on a register: a write inserts, and a read finds.
struct MonitoredCall {
  enum class Kind : std::uint8_t { insert, take, take_nothing };
  Kind kind = Kind::insert;
  std::optional<std::uint32_t> value{};  // its number; nullopt: take without an answer
  bool has_answer = false;
  std::uint64_t call_time = 0;
  std::uint64_t return_time = 0;  // only with an answer
};

struct Interval {
  std::uint32_t call = 0;
  std::uint32_t return_event = never;
  std::uint32_t position = never;  // in the history; never: there is no such call
};

// A value with the call that inserts it and the one that takes it.
struct Lifetime {
  Interval insert{};
  Interval take{.call = never};

  bool is_taken() const { return take.call != never; }
  // The value is certainly there from the return of its insertion until the call that takes it.
  bool is_certain() const { return insert.return_event < take.call; }
};

// A queue or stack whose values differ.
struct Lifetimes {
  std::vector<Lifetime> values;   // taken by a call with an answer, or inserted by one; by number
  std::vector<Interval> empties;  // takes that found nothing
  std::vector<std::uint32_t> takes_without_answer;  // their calls, ascending
  std::uint32_t events = 0;
};

struct MonitorResult {
  enum class Outcome : std::uint8_t { holds, violated, undecided };
  Outcome outcome = Outcome::undecided;
  // Violated: positions of operations that have no correct order, even without all others.
  std::vector<std::uint32_t> core{};
};

// Numbers the events of the calls. Intervals have the position of the call, and no return without
// an answer.
std::vector<Interval> number_events(std::span<const MonitoredCall> calls);

// Returns nullopt if two insertions have the same value. `values` is larger than every number of a
// value. `wrong` is set if a take is wrong in itself: its value was never inserted, or taken
// before, or taken before its insertion was called.
std::optional<Lifetimes> lifetimes_of(std::span<const MonitoredCall> calls, std::uint32_t values,
                                      std::optional<MonitorResult>& wrong);

// Without an answer, an insertion whose value nobody took did not happen, and a read says nothing.
MonitorResult judge_queue(Lifetimes lifetimes);
MonitorResult judge_stack(Lifetimes lifetimes);
// The numbers of the values are in the order of the values, and a take finds the smallest.
MonitorResult judge_priority_queue(Lifetimes lifetimes);

// `initial` is the number of the value before the first write.
MonitorResult judge_register(std::span<const MonitoredCall> calls, std::uint32_t values,
                             std::uint32_t initial);

// The gaps between consecutive events at which no value is certainly there. Gap g lies between the
// events g and g + 1.
class EmptyGaps {
 public:
  EmptyGaps(std::span<const Lifetime> values, std::uint32_t events);

  // The first gap from `first` on, before `end`; nullopt: there is none.
  std::optional<std::uint32_t> first_in(std::uint32_t first, std::uint32_t end) const;

 private:
  std::vector<std::uint32_t> next_;  // by gap: the first empty gap from it on
};

// Values that are certainly there at every gap of the interval, one after the other.
std::vector<std::uint32_t> cover_of(std::span<const Lifetime> values, const Interval& interval);

}  // namespace falafel::checkers::monitors
