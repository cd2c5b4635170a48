// A queue of distinct values is linearizable if and only if
// - no value is taken before one that was certainly inserted earlier, and
// - each take that found nothing has a moment at which no value is certainly there
// (Henzinger, Sezgin and Vafeiadis, CONCUR 2013).
//
// Takes without an answer may have taken values that no other call took. Each of them can do so at
// any time after its call, so only its call matters: the earlier the better. The values need them
// in the order of the returns of their insertions, because each reason to have a value taken early
// is also one for every value that was certainly inserted earlier. So the first call takes the
// value whose insertion returned first, and so on; no other choice is better.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "checkers/monitors/lifetimes.h"

namespace falafel::checkers::monitors {

namespace {

using Outcome = MonitorResult::Outcome;

void assign_takes(Lifetimes& lifetimes) {
  std::vector<Lifetime*> left;
  for (Lifetime& value : lifetimes.values) {
    if (!value.is_taken()) left.push_back(&value);
  }
  std::ranges::sort(left, {}, [](const Lifetime* value) { return value->insert.return_event; });
  const std::size_t count = std::min(left.size(), lifetimes.takes_without_answer.size());
  for (std::size_t index = 0; index < count; ++index) {
    left[index]->take.call = lifetimes.takes_without_answer[index];
  }
}

void add_value(std::vector<std::uint32_t>& core, const Lifetime& value) {
  core.push_back(value.insert.position);
  if (value.take.position != never) core.push_back(value.take.position);
}

// If values without an answered take are involved, so are all takes without an answer; then the
// core is left empty.
MonitorResult queue_violation(const std::vector<const Lifetime*>& values, const Interval* empty) {
  MonitorResult result{.outcome = Outcome::violated};
  for (const Lifetime* const value : values) {
    if (value->take.position == never && value->take.call != never) return result;
    add_value(result.core, *value);
  }
  if (empty != nullptr) result.core.push_back(empty->position);
  return result;
}

// A value that is taken though another, certainly inserted earlier, is taken later or never.
MonitorResult judge_order(const std::vector<Lifetime>& values) {
  std::vector<const Lifetime*> by_return;
  std::vector<const Lifetime*> by_call;
  for (const Lifetime& value : values) {
    by_return.push_back(&value);
    by_call.push_back(&value);
  }
  std::ranges::sort(by_return, {},
                    [](const Lifetime* value) { return value->insert.return_event; });
  std::ranges::sort(by_call, {}, [](const Lifetime* value) { return value->insert.call; });
  const Lifetime* last_taken = nullptr;  // of those that were inserted before
  std::size_t earlier = 0;
  for (const Lifetime* const value : by_call) {
    while (by_return[earlier]->insert.return_event < value->insert.call) {
      const Lifetime* const candidate = by_return[earlier++];
      const bool is_later = last_taken == nullptr || candidate->take.call > last_taken->take.call;
      if (is_later) last_taken = candidate;
    }
    if (last_taken != nullptr && value->take.return_event < last_taken->take.call) {
      return queue_violation({last_taken, value}, nullptr);
    }
  }
  return {.outcome = Outcome::holds};
}

}  // namespace

MonitorResult judge_queue(Lifetimes lifetimes) {
  const bool has_takes_without_answer = !lifetimes.takes_without_answer.empty();
  assign_takes(lifetimes);
  MonitorResult order = judge_order(lifetimes.values);
  if (order.outcome == Outcome::violated) {
    // Another take without an answer may take the value that nobody took in the core.
    for (const Lifetime& value : lifetimes.values) {
      const bool is_in_core =
          std::ranges::find(order.core, value.insert.position) != order.core.end();
      if (has_takes_without_answer && is_in_core && !value.is_taken()) order.core.clear();
    }
    return order;
  }
  const EmptyGaps gaps(lifetimes.values, lifetimes.events);
  for (const Interval& empty : lifetimes.empties) {
    if (gaps.first_in(empty.call, empty.return_event)) continue;
    std::vector<const Lifetime*> cover;
    for (const std::uint32_t number : cover_of(lifetimes.values, empty)) {
      cover.push_back(&lifetimes.values[number]);
      const bool depends = has_takes_without_answer && cover.back()->take.position == never;
      if (depends) return {.outcome = Outcome::violated};
    }
    return queue_violation(cover, &empty);
  }
  return {.outcome = Outcome::holds};
}

}  // namespace falafel::checkers::monitors
