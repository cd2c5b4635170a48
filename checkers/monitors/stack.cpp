// A stack of distinct values, all of them taken: an order is correct if the periods of the values,
// from insertion to take, are disjoint or nested. Only values that are certainly there for a while
// matter: another one can be taken directly after its insertion. At a gap at which no value is
// certainly there, the stack may as well be empty: every value there can be inserted later or taken
// earlier. So the runs of the other gaps can be judged one by one. During such a run the stack is
// never empty, so the same value is at its bottom throughout: one whose insertion was called before
// the run and whose take returned after it. Any such value can be the bottom, because what lies
// below it can as well lie above it. Without the bottom, the run falls apart into shorter ones.
// (docs/checkers.md names the papers.)
//
// Values that no answered take returned may stay forever, or be taken by a take without an answer.
// One of them needs such a take only if its insertion lies within a run of the taken values; then
// it must be gone before the bottom of the run is. This file tries one way to do without most
// takes; another may exist where it fails, so the result may be undecided.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "checkers/monitors/lifetimes.h"
#include "checkers/monitors/minimum_tree.h"

namespace falafel::checkers::monitors {

namespace {

using Outcome = MonitorResult::Outcome;

// From the return of an insertion to the call of a take.
struct Run {
  std::uint32_t begin = 0;  // event
  std::uint32_t end = 0;    // event
};

// Nests the values that are certainly there for a while.
class Nesting {
 public:
  explicit Nesting(std::vector<Lifetime> values) : values_(std::move(values)) {
    std::ranges::sort(values_, {}, [](const Lifetime& value) { return value.insert.return_event; });
    for (std::uint32_t number = 0; number < values_.size(); ++number) {
      ends_.push_back({values_[number].insert.return_event, number, true});
      ends_.push_back({values_[number].take.call, number, false});
    }
    std::ranges::sort(ends_, {}, &End::event);
    place_.resize(values_.size());
    std::vector<std::int64_t> present(ends_.size());
    std::int64_t count = 0;
    for (std::uint32_t index = 0; index < ends_.size(); ++index) {
      auto& [begin, end] = place_[ends_[index].value];
      (ends_[index].is_begin ? begin : end) = index;
      count += ends_[index].is_begin ? 1 : -1;
      present[index] = count;
    }
    present_.assign(present);
    std::vector<std::int64_t> calls(values_.size());
    for (std::size_t number = 0; number < values_.size(); ++number) {
      calls[number] = values_[number].insert.call;
    }
    calls_.assign(calls);
    next_.resize(values_.size() + 1);
    for (std::uint32_t number = 0; number < next_.size(); ++number) next_[number] = number;
  }

  // Returns whether all values can be nested.
  bool run() {
    find_runs(0, static_cast<std::uint32_t>(ends_.size()));
    while (!pending_.empty()) {
      const Part part = pending_.back();
      pending_.pop_back();
      const std::optional<std::uint32_t> bottom = find_bottom(part);
      if (!bottom) {
        failed_ = part;
        return false;
      }
      runs_.push_back({ends_[part.begin].event, ends_[part.end].event});
      remove(*bottom);
      find_runs(part.begin, part.end);
    }
    return true;
  }

  // The run of each bottom, after run() succeeded.
  std::vector<Run> take_runs() { return std::move(runs_); }

  // The values in the run that has no bottom, after run() failed.
  std::vector<Lifetime> unnested() {
    std::vector<Lifetime> values;
    for (std::uint32_t number = next_alive(ends_[failed_.begin].value); number < values_.size();
         number = next_alive(number + 1)) {
      if (place_[number].first < failed_.end) values.push_back(values_[number]);
    }
    return values;
  }

 private:
  struct End {
    std::uint32_t event;
    std::uint32_t value;
    bool is_begin;
  };
  // A run, by the indices of its first and last end.
  struct Part {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  std::uint32_t next_alive(std::uint32_t number) {
    std::uint32_t root = number;
    while (next_[root] != root) root = next_[root];
    while (next_[number] != root) number = std::exchange(next_[number], root);
    return root;
  }

  // The first value whose certain period begins at or after the end with this index.
  std::uint32_t first_value_from(std::uint32_t end) const {
    const auto found = std::ranges::lower_bound(
        place_, end, {},
        [](const std::pair<std::uint32_t, std::uint32_t>& place) { return place.first; });
    return static_cast<std::uint32_t>(found - place_.begin());
  }

  void find_runs(std::uint32_t begin, std::uint32_t end) {
    std::uint32_t from = begin;
    for (;;) {
      const std::uint32_t value = next_alive(first_value_from(from));
      if (value >= values_.size() || place_[value].first >= end) return;
      const std::uint32_t first = place_[value].first;
      const std::size_t free = present_.first_at_most(0, first, end);
      from = static_cast<std::uint32_t>(std::min<std::size_t>(free, end));
      pending_.push_back({first, from});
    }
  }

  std::optional<std::uint32_t> find_bottom(const Part& part) {
    const std::uint32_t begin = ends_[part.begin].event;
    const std::uint32_t end = ends_[part.end].event;
    const std::uint32_t last = first_value_from(part.end);
    std::size_t candidate = first_value_from(part.begin);
    for (;;) {
      candidate = calls_.first_at_most(static_cast<std::int64_t>(begin) - 1, candidate, last);
      if (candidate >= last) return std::nullopt;
      if (values_[candidate].take.return_event > end) return static_cast<std::uint32_t>(candidate);
      ++candidate;
    }
  }

  void remove(std::uint32_t value) {
    present_.add(place_[value].first, place_[value].second, -1);
    calls_.add(value, value + std::size_t{1}, never);
    next_[value] = value + 1;
  }

  std::vector<Lifetime> values_;                                // by the return of their insertion
  std::vector<End> ends_;                                       // of the certain periods
  std::vector<std::pair<std::uint32_t, std::uint32_t>> place_;  // by value: indices of its ends
  MinimumTree present_;  // by end: the number of values that are certainly there behind it
  MinimumTree calls_;    // by value: the call of its insertion
  std::vector<std::uint32_t> next_;
  std::vector<Part> pending_;
  std::vector<Run> runs_;
  Part failed_;
};

bool is_nested(const std::vector<Lifetime>& values) { return Nesting(values).run(); }

// Leaves out values as long as the others cannot be nested: first many at once, then one by one.
void minimize(std::vector<Lifetime>& values) {
  for (std::size_t part = values.size() / 2; part > 0;
       part = std::min(part / 2, values.size() / 2)) {
    for (std::size_t begin = 0; begin < values.size();) {
      std::vector<Lifetime> fewer = values;
      const std::size_t end = std::min(begin + part, values.size());
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(begin),
                  fewer.begin() + static_cast<std::ptrdiff_t>(end));
      if (is_nested(fewer)) {
        begin = end;
      } else {
        values = std::move(fewer);
      }
    }
  }
}

MonitorResult stack_violation(std::span<const Lifetime> values) {
  MonitorResult result{.outcome = Outcome::violated};
  for (const Lifetime& value : values) {
    result.core.push_back(value.insert.position);
    result.core.push_back(value.take.position);
  }
  return result;
}

// The latest gap until which a value must be taken whose insertion lies in one of the runs.
class Deadlines {
 public:
  explicit Deadlines(std::vector<Run> runs) : runs_(std::move(runs)) {
    std::ranges::stable_sort(runs_, [](const Run& left, const Run& right) {
      return std::tuple(left.begin, right.end) < std::tuple(right.begin, left.end);
    });
  }

  // Insertions by their calls; never: the value may stay.
  std::uint32_t of(const Interval& insertion) {
    for (; next_ < runs_.size() && runs_[next_].begin <= insertion.call; ++next_) {
      leave(runs_[next_].begin);
      open_.push_back(runs_[next_]);
    }
    leave(insertion.call);
    const auto inside = std::ranges::partition_point(
        open_, [&](const Run& run) { return run.end >= insertion.return_event; });
    return inside == open_.begin() ? never : std::prev(inside)->end;
  }

 private:
  void leave(std::uint32_t event) {
    while (!open_.empty() && open_.back().end <= event) open_.pop_back();
  }

  std::vector<Run> runs_;
  std::vector<Run> open_;  // the outermost is first
  std::size_t next_ = 0;
};

// Returns whether the takes without an answer suffice for the deadlines.
bool suffice(const std::vector<std::uint32_t>& takes, std::vector<std::uint32_t> deadlines) {
  std::erase(deadlines, never);
  std::ranges::sort(deadlines);
  for (std::size_t index = 0; index < deadlines.size(); ++index) {
    if (index >= takes.size() || takes[index] > deadlines[index]) return false;
  }
  return true;
}

std::size_t count_until(const std::vector<std::uint32_t>& sorted, std::uint32_t event) {
  return static_cast<std::size_t>(std::ranges::upper_bound(sorted, event) - sorted.begin());
}

// The first empty gap of the interval at which takes without an answer can have taken every value
// that is left and certainly there. `returns`: those of the insertions of values that are left,
// ascending.
std::optional<std::uint32_t> gap_with_takes(const EmptyGaps& gaps, const Interval& empty,
                                            const std::vector<std::uint32_t>& returns,
                                            const std::vector<std::uint32_t>& takes) {
  for (std::uint32_t gap = empty.call; gap < empty.return_event; ++gap) {
    const std::optional<std::uint32_t> found = gaps.first_in(gap, empty.return_event);
    if (!found) return std::nullopt;
    gap = *found;
    if (count_until(returns, gap) <= count_until(takes, gap)) return gap;
  }
  return std::nullopt;
}

class StackMonitor {
 public:
  explicit StackMonitor(Lifetimes lifetimes) : lifetimes_(std::move(lifetimes)) {
    for (const Lifetime& value : lifetimes_.values) {
      if (!value.is_taken()) {
        left_.push_back(value);
      } else if (value.is_certain()) {
        taken_.push_back(value);
      }
    }
    std::ranges::sort(left_, {}, [](const Lifetime& value) { return value.insert.call; });
    for (const Lifetime& value : left_) returns_.push_back(value.insert.return_event);
    std::ranges::sort(returns_);
  }

  MonitorResult judge() {
    Nesting nesting(taken_);
    if (!nesting.run()) {
      std::vector<Lifetime> unnested = nesting.unnested();
      minimize(unnested);
      return stack_violation(unnested);
    }
    const EmptyGaps gaps(taken_, lifetimes_.events);
    std::vector<std::uint32_t> gaps_of_empties;
    for (const Interval& empty : lifetimes_.empties) {
      if (!gaps.first_in(empty.call, empty.return_event)) return covered(empty);
      const auto gap = gap_with_takes(gaps, empty, returns_, lifetimes_.takes_without_answer);
      if (!gap) return {.outcome = Outcome::violated};
      gaps_of_empties.push_back(*gap);
    }
    std::ranges::sort(gaps_of_empties);
    Deadlines deadlines(nesting.take_runs());
    std::vector<std::uint32_t> all;
    for (const Lifetime& value : left_) {
      const auto empty = std::ranges::lower_bound(gaps_of_empties, value.insert.return_event);
      const std::uint32_t until = deadlines.of(value.insert);
      all.push_back(empty == gaps_of_empties.end() ? until : std::min(until, *empty));
    }
    const bool holds = suffice(lifetimes_.takes_without_answer, all);
    if (holds) return {.outcome = Outcome::holds};
    return judge_certain_deadlines();
  }

 private:
  MonitorResult covered(const Interval& empty) const {
    std::vector<Lifetime> cover;
    for (const std::uint32_t number : cover_of(taken_, empty)) cover.push_back(taken_[number]);
    MonitorResult result = stack_violation(cover);
    result.core.push_back(empty.position);
    return result;
  }

  // A value that was certainly inserted while another was there must be gone when that is taken.
  MonitorResult judge_certain_deadlines() {
    std::ranges::sort(taken_, {}, [](const Lifetime& value) { return value.insert.return_event; });
    std::vector<std::uint32_t> ends;
    ends.reserve(taken_.size());
    for (const Lifetime& value : taken_) ends.push_back(value.take.call);
    std::ranges::sort(ends);
    // By the rank of the call of the take: the first return among the takes that are called then or
    // later. A Fenwick tree over the reversed ranks.
    std::vector<std::uint32_t> first_return(ends.size() + 1, never);
    std::size_t next = 0;
    std::vector<std::uint32_t> deadlines;
    for (const Lifetime& value : left_) {
      for (; next < taken_.size() && taken_[next].insert.return_event < value.insert.call; ++next) {
        const std::size_t rank = count_until(ends, taken_[next].take.call - 1);
        for (std::size_t node = ends.size() - rank; node <= ends.size(); node += node & -node) {
          first_return[node] = std::min(first_return[node], taken_[next].take.return_event);
        }
      }
      std::uint32_t deadline = never;
      const std::size_t rank = count_until(ends, value.insert.return_event);
      for (std::size_t node = ends.size() - rank; node > 0; node -= node & -node) {
        deadline = std::min(deadline, first_return[node]);
      }
      deadlines.push_back(deadline == never ? never : deadline - 1);
    }
    const bool may_suffice = suffice(lifetimes_.takes_without_answer, std::move(deadlines));
    return {.outcome = may_suffice ? Outcome::undecided : Outcome::violated};
  }

  Lifetimes lifetimes_;
  std::vector<Lifetime> taken_;  // only those that are certainly there for a while
  std::vector<Lifetime> left_;   // by the call of their insertion
  std::vector<std::uint32_t> returns_;
};

}  // namespace

MonitorResult judge_stack(Lifetimes lifetimes) {
  return StackMonitor(std::move(lifetimes)).judge();
}

}  // namespace falafel::checkers::monitors
