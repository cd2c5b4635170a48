// A priority queue of distinct values. A take finds its value if no smaller value is there, so
// larger values never matter to it. The monitor therefore places the values one after the other,
// the smallest first. It lets each be inserted as late as possible, and be taken in the first gap
// in which no smaller value is there. A value is then there as briefly as it can be, whatever the
// larger ones do, so the queue is linearizable if and only if each take has such a gap, and so has
// each take that found nothing (compare Lee and Mathur, OOPSLA 2025).
//
// Takes without an answer can have taken the values that no other take returned. The queue is
// - linearizable if it is so without these takes,
// - not linearizable if it is not even so without those values.
// Otherwise, some of the values must be gone before others are taken. The monitor knows the latest
// gap for each. If the takes are too few or too late for these, the queue is not linearizable. If
// not, the value that must be gone first gets the first of the takes, and so on. The queue is
// linearizable if the values can be placed then; otherwise it remains undecided.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "checkers/monitors/lifetimes.h"

namespace falafel::checkers::monitors {

namespace {

using Outcome = MonitorResult::Outcome;

// The gaps in which no value is there.
class FreeGaps {
 public:
  explicit FreeGaps(std::uint32_t events) : next_(events + 2), previous_(events + 2) {
    std::iota(next_.begin(), next_.end(), 0U);
    std::iota(previous_.begin(), previous_.end(), 0U);
  }

  // The first free gap from `gap` on; the number of gaps: there is none.
  std::uint32_t first_from(std::uint32_t gap) { return find(next_, gap); }
  // The last free gap before `gap`. There is one.
  std::uint32_t last_before(std::uint32_t gap) { return find(previous_, gap) - 1; }

  // Takes the gaps from `begin` to before `end`.
  void take(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t gap = first_from(begin); gap < end; gap = first_from(gap)) {
      next_[gap] = gap + 1;
      previous_[gap + 1] = gap;
    }
  }

 private:
  static std::uint32_t find(std::vector<std::uint32_t>& links, std::uint32_t gap) {
    while (links[gap] != gap) {
      links[gap] = links[links[gap]];
      gap = links[gap];
    }
    return gap;
  }

  std::vector<std::uint32_t> next_;      // a gap that is taken links to a later one
  std::vector<std::uint32_t> previous_;  // a gap behind one that is taken links to an earlier one
};

// The gaps in which an operation can take effect.
struct Choice {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

// Values with their places.
struct Placement {
  std::vector<Lifetime> values;  // ascending; `take.call` is the gap of the take
  std::vector<Choice> takes;     // of the values that are taken
  std::vector<Choice> empties;
  std::optional<Interval> impossible{};  // a take that has no gap
  std::size_t smaller = 0;               // the number of values that are in its way
};

std::optional<Choice> choice_in(FreeGaps& gaps, std::uint32_t begin, std::uint32_t end) {
  const std::uint32_t first = gaps.first_from(begin);
  if (first >= end) return std::nullopt;
  return Choice{.first = first, .last = gaps.last_before(end)};
}

Placement place(std::vector<Lifetime> values, const std::vector<Interval>& empties,
                std::uint32_t events) {
  Placement placement{.values = std::move(values), .takes = {}, .empties = {}};
  FreeGaps gaps(events);
  for (Lifetime& value : placement.values) {
    Interval& take = value.take;
    if (value.is_taken()) {
      take.call = std::max(take.call, value.insert.call);
      const std::uint32_t end = std::min(take.return_event, events + 1);
      const std::optional<Choice> choice = choice_in(gaps, take.call, end);
      if (!choice && take.return_event != never) {
        placement.impossible = take;
        return placement;
      }
      take.call = choice ? choice->first : never;  // without an answer, it need not happen
      if (choice) placement.takes.push_back(*choice);
    }
    ++placement.smaller;
    if (value.is_certain()) {
      gaps.take(value.insert.return_event, std::min(value.take.call, events + 1));
    }
  }
  for (const Interval& empty : empties) {
    const std::optional<Choice> choice = choice_in(gaps, empty.call, empty.return_event);
    if (!choice) {
      placement.impossible = empty;
      return placement;
    }
    placement.empties.push_back(*choice);
  }
  return placement;
}

// The take that has no gap, the values that are there meanwhile, and those because of which these
// are taken so late. Empty if they are many.
std::vector<std::uint32_t> core_of(const Placement& placement, const std::vector<Lifetime>& given) {
  constexpr std::size_t most_values = 64;
  struct Wanted {
    Interval gaps;
    std::size_t smaller;
  };
  std::vector<Wanted> wanted = {{*placement.impossible, placement.smaller}};
  std::map<std::uint32_t, bool> is_in_core;  // by position
  is_in_core[placement.impossible->position] = true;
  if (placement.smaller < given.size()) {
    is_in_core[given[placement.smaller].insert.position] = true;
  }
  for (std::size_t next = 0; next < wanted.size(); ++next) {
    if (wanted.size() > most_values) return {};
    const std::span<const Lifetime> placed(placement.values.data(), wanted[next].smaller);
    for (const std::uint32_t number : cover_of(placed, wanted[next].gaps)) {
      const Lifetime& value = given[number];
      if (is_in_core[value.insert.position]) continue;
      is_in_core[value.insert.position] = true;
      if (!value.is_taken()) continue;
      is_in_core[value.take.position] = true;
      Interval late = value.take;
      late.call = std::max(late.call, value.insert.call);
      late.return_event = placed[number].take.call;
      if (late.call < late.return_event) wanted.push_back({late, number});
    }
  }
  std::vector<std::uint32_t> core;
  core.reserve(is_in_core.size());
  for (const auto& [position, is_in] : is_in_core) core.push_back(position);
  return core;
}

MonitorResult violation(const Placement& placement, const std::vector<Lifetime>& given) {
  return {.outcome = Outcome::violated, .core = core_of(placement, given)};
}

// A value that nobody took, with the last gap in which it may be taken.
struct LeftValue {
  std::size_t number = 0;
  std::uint32_t deadline = never;  // never: it may stay
};

// The smallest `last` of all choices whose `first` is at least a given gap.
class EarliestLast {
 public:
  explicit EarliestLast(std::uint32_t events) : least_(events + 3, never) {}

  void add(const Choice& choice) {
    for (std::size_t index = place_of(choice.first); index < least_.size();
         index += index & -index) {
      least_[index] = std::min(least_[index], choice.last);
    }
  }
  std::uint32_t from(std::uint32_t gap) const {
    std::uint32_t least = never;
    for (std::size_t index = place_of(gap); index > 0; index -= index & -index) {
      least = std::min(least, least_[index]);
    }
    return least;
  }

 private:
  // Later gaps come first.
  std::size_t place_of(std::uint32_t gap) const {
    return least_.size() - 1 - std::min<std::size_t>(gap, least_.size() - 2);
  }

  std::vector<std::uint32_t> least_;  // a Fenwick tree
};

// The values that nobody took, in the order in which they must be gone. `placement` is that of the
// other values. A take of a larger value, or one that found nothing, has no gap left if the value
// is there from its first choice to its last.
std::vector<LeftValue> left_values(const std::vector<Lifetime>& given, const Placement& placement,
                                   std::uint32_t events) {
  EarliestLast deadlines(events);
  for (const Choice& empty : placement.empties) deadlines.add(empty);
  std::vector<LeftValue> left;
  std::size_t taken = placement.takes.size();
  for (std::size_t number = given.size(); number-- > 0;) {
    if (given[number].is_taken()) {
      deadlines.add(placement.takes[--taken]);
    } else {
      left.push_back({number, deadlines.from(given[number].insert.return_event)});
    }
  }
  std::ranges::sort(left, {}, [&](const LeftValue& value) {
    return std::pair(value.deadline, given[value.number].insert.return_event);
  });
  return left;
}

}  // namespace

MonitorResult judge_priority_queue(Lifetimes lifetimes) {
  const std::vector<Lifetime> given = std::move(lifetimes.values);
  const Placement all = place(given, lifetimes.empties, lifetimes.events);
  if (!all.impossible) return {.outcome = Outcome::holds};
  if (lifetimes.takes_without_answer.empty()) return violation(all, given);

  std::vector<Lifetime> taken = given;
  std::erase_if(taken, [](const Lifetime& value) { return !value.is_taken(); });
  const Placement least = place(taken, lifetimes.empties, lifetimes.events);
  if (least.impossible) return violation(least, taken);

  std::vector<Lifetime> values = given;
  const std::vector<LeftValue> left = left_values(given, least, lifetimes.events);
  const std::vector<std::uint32_t>& calls = lifetimes.takes_without_answer;
  for (std::size_t index = 0; index < left.size(); ++index) {
    const bool has_take = index < calls.size();
    const bool is_late =
        left[index].deadline != never && (!has_take || calls[index] > left[index].deadline);
    if (is_late) return {.outcome = Outcome::violated};
    if (has_take) values[left[index].number].take = {.call = calls[index]};
  }
  const Placement placement = place(values, lifetimes.empties, lifetimes.events);
  return {.outcome = placement.impossible ? Outcome::undecided : Outcome::holds};
}

}  // namespace falafel::checkers::monitors
