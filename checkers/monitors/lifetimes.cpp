#include "checkers/monitors/lifetimes.h"

#include <algorithm>
#include <tuple>

namespace falafel::checkers::monitors {

namespace {

using Kind = MonitoredCall::Kind;
using Outcome = MonitorResult::Outcome;

struct Moment {
  std::uint64_t time;
  bool is_return;
  std::uint32_t position;
};

MonitorResult wrong_take(const Interval& take, const Interval* other) {
  MonitorResult result{.outcome = Outcome::violated, .core = {take.position}};
  if (other != nullptr) result.core.push_back(other->position);
  return result;
}

}  // namespace

std::vector<Interval> number_events(std::span<const MonitoredCall> calls) {
  std::vector<Moment> moments;
  moments.reserve(2 * calls.size());
  for (std::uint32_t position = 0; position < calls.size(); ++position) {
    moments.push_back({calls[position].call_time, false, position});
    if (calls[position].has_answer)
      moments.push_back({calls[position].return_time, true, position});
  }
  // Calls sort before returns at the same time, because such operations are concurrent.
  std::ranges::sort(moments, [](const Moment& left, const Moment& right) {
    return std::tuple(left.time, left.is_return, left.position) <
           std::tuple(right.time, right.is_return, right.position);
  });
  std::vector<Interval> intervals(calls.size());
  for (std::uint32_t event = 0; event < moments.size(); ++event) {
    Interval& interval = intervals[moments[event].position];
    (moments[event].is_return ? interval.return_event : interval.call) = event;
    interval.position = moments[event].position;
  }
  return intervals;
}

std::optional<Lifetimes> lifetimes_of(std::span<const MonitoredCall> calls, std::uint32_t values,
                                      std::optional<MonitorResult>& wrong) {
  const std::vector<Interval> intervals = number_events(calls);
  Lifetimes lifetimes;
  std::vector<Lifetime> by_value(values);
  for (const Interval& interval : intervals) {
    const MonitoredCall& call = calls[interval.position];
    lifetimes.events += call.has_answer ? 2U : 1U;
    if (call.kind != Kind::insert) continue;
    Lifetime& lifetime = by_value[*call.value];
    if (lifetime.insert.position != never) return std::nullopt;
    lifetime.insert = interval;
  }
  for (const Interval& interval : intervals) {
    const MonitoredCall& call = calls[interval.position];
    if (call.kind == Kind::insert) continue;
    if (!call.has_answer) {
      lifetimes.takes_without_answer.push_back(interval.call);
    } else if (call.kind == Kind::take_nothing) {
      lifetimes.empties.push_back(interval);
    } else {
      Lifetime& lifetime = by_value[*call.value];
      if (lifetime.is_taken()) {
        wrong = wrong_take(interval, &lifetime.take);
        wrong->core.push_back(lifetime.insert.position);
      } else if (lifetime.insert.position == never) {
        wrong = wrong_take(interval, nullptr);
      } else if (interval.return_event < lifetime.insert.call) {
        wrong = wrong_take(interval, &lifetime.insert);
      }
      if (wrong) return lifetimes;
      lifetime.take = interval;
    }
  }
  for (const Lifetime& lifetime : by_value) {
    if (lifetime.insert.position == never) continue;
    const bool happened = lifetime.is_taken() || lifetime.insert.return_event != never;
    if (happened) lifetimes.values.push_back(lifetime);
  }
  std::ranges::sort(lifetimes.takes_without_answer);
  return lifetimes;
}

EmptyGaps::EmptyGaps(std::span<const Lifetime> values, std::uint32_t events) : next_(events + 1) {
  std::vector<std::int32_t> change(events + 1);
  for (const Lifetime& value : values) {
    if (!value.is_certain()) continue;
    ++change[value.insert.return_event];
    if (value.take.call < events) --change[value.take.call];
  }
  std::vector<bool> is_empty(events + 1);
  std::int32_t present = 0;
  for (std::uint32_t gap = 0; gap <= events; ++gap) {
    present += change[gap];
    is_empty[gap] = present == 0;
  }
  std::uint32_t next = never;
  for (std::uint32_t gap = events + 1; gap-- > 0;) {
    if (is_empty[gap]) next = gap;
    next_[gap] = next;
  }
}

std::optional<std::uint32_t> EmptyGaps::first_in(std::uint32_t first, std::uint32_t end) const {
  if (first >= next_.size() || next_[first] >= end) return std::nullopt;
  return next_[first];
}

std::vector<std::uint32_t> cover_of(std::span<const Lifetime> values, const Interval& interval) {
  std::vector<std::uint32_t> cover;
  std::uint32_t gap = interval.call;
  while (gap < interval.return_event) {
    std::uint32_t best = never;
    std::uint32_t end = gap;
    for (std::uint32_t number = 0; number < values.size(); ++number) {
      const Lifetime& value = values[number];
      if (value.insert.return_event > gap || value.take.call <= end) continue;
      best = number;
      end = value.take.call;
    }
    if (best == never) break;
    cover.push_back(best);
    gap = end;
  }
  return cover;
}

}  // namespace falafel::checkers::monitors
