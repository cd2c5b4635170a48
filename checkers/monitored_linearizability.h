// Linearizability of queues, stacks, priority queues and registers whose values differ, in
// near-linear time; of
// other histories and objects by the search of specification_linearizability.h. The verdicts are
// those of the search, where it reaches no limit (docs/checkers.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "checkers/hash.h"
#include "checkers/linearizability_report.h"
#include "checkers/linearization/object_search.h"
#include "checkers/linearization/specification_model.h"
#include "checkers/monitors/lifetimes.h"
#include "checkers/monitors/monitored_history.h"
#include "checkers/specification.h"
#include "checkers/specification_history.h"
#include "checkers/specifications/priority_queue.h"
#include "checkers/specifications/queue.h"
#include "checkers/specifications/register.h"
#include "checkers/specifications/stack.h"

namespace falafel::checkers {

namespace monitors {

// A call with its value itself; null: it has none.
template <typename Value>
struct ValueCall {
  MonitoredCall call{};
  const Value* value = nullptr;
};

template <typename S>
struct Monitored;

// A queue, a stack or a priority queue. Only those that are empty at first have a monitor.
template <typename S, typename Value, MonitorResult (*judge_lifetimes)(Lifetimes)>
struct MonitoredSequence {
  using ValueType = Value;

  static bool has_monitor(const typename S::State& initial) { return initial.empty(); }
  static const Value* initial_value(const typename S::State& /*initial*/) { return nullptr; }

  static std::optional<ValueCall<Value>> call_of(const typename S::Operation& operation,
                                                 const typename S::Result* result) {
    if (const auto* const push = std::get_if<typename S::Push>(&operation)) {
      return ValueCall<Value>{.value = &push->value};
    }
    const bool finds_nothing = result != nullptr && !result->has_value();
    using Kind = MonitoredCall::Kind;
    return ValueCall<Value>{
        .call = {.kind = finds_nothing ? Kind::take_nothing : Kind::take},
        .value = result != nullptr && result->has_value() ? &**result : nullptr};
  }

  static MonitorResult judge(std::span<const MonitoredCall> calls, std::uint32_t values) {
    std::optional<MonitorResult> wrong;
    std::optional<Lifetimes> lifetimes = lifetimes_of(calls, values, wrong);
    if (!lifetimes) return {};
    return wrong ? *wrong : judge_lifetimes(*std::move(lifetimes));
  }
};

template <typename Value>
struct Monitored<specifications::BasicQueue<Value>>
    : MonitoredSequence<specifications::BasicQueue<Value>, Value, judge_queue> {};

template <typename Value>
struct Monitored<specifications::BasicStack<Value>>
    : MonitoredSequence<specifications::BasicStack<Value>, Value, judge_stack> {};

template <>
struct Monitored<specifications::PriorityQueue>
    : MonitoredSequence<specifications::PriorityQueue, std::uint64_t, judge_priority_queue> {
  // Ranks.
  static std::vector<std::uint32_t> number(const std::vector<const std::uint64_t*>& values) {
    std::vector<std::uint64_t> sorted;
    sorted.reserve(values.size());
    for (const std::uint64_t* const value : values) sorted.push_back(*value);
    std::ranges::sort(sorted);
    std::vector<std::uint32_t> numbers;
    numbers.reserve(values.size());
    for (const std::uint64_t* const value : values) {
      const auto rank = std::ranges::lower_bound(sorted, *value) - sorted.begin();
      numbers.push_back(static_cast<std::uint32_t>(rank));
    }
    return numbers;
  }
};

template <typename Value>
struct Monitored<specifications::BasicRegister<Value>> {
  using S = specifications::BasicRegister<Value>;
  using ValueType = Value;

  static bool has_monitor(const Value& /*initial*/) { return true; }
  static const Value* initial_value(const Value& initial) { return &initial; }

  static std::optional<ValueCall<Value>> call_of(const typename S::Operation& operation,
                                                 const typename S::Result* result) {
    if (const auto* const write = std::get_if<typename S::Write>(&operation)) {
      return ValueCall<Value>{.value = &write->value};
    }
    if (result == nullptr) return std::nullopt;
    return ValueCall<Value>{.call = {.kind = MonitoredCall::Kind::take}, .value = result};
  }

  // The initial value has the number 0.
  static MonitorResult judge(std::span<const MonitoredCall> calls, std::uint32_t values) {
    return judge_register(calls, values, 0);
  }
};

// Equal values get equal numbers, consecutive from 0.
template <typename Value>
std::vector<std::uint32_t> number_values(const std::vector<const Value*>& values) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> hashes;
  for (std::uint32_t index = 0; index < values.size(); ++index) {
    hashes.emplace_back(hash_of(*values[index]), index);
  }
  std::ranges::sort(hashes);
  std::vector<std::uint32_t> first(values.size());  // the first index with the same value
  for (std::size_t begin = 0; begin < hashes.size(); ++begin) {
    const auto [hash, index] = hashes[begin];
    first[index] = index;
    for (std::size_t before = begin; before-- > 0 && hashes[before].first == hash;) {
      const std::uint32_t candidate = first[hashes[before].second];
      if (*values[candidate] != *values[index]) continue;
      first[index] = candidate;
      break;
    }
  }
  std::vector<std::uint32_t> numbers(values.size());
  std::uint32_t next = 0;
  for (std::uint32_t index = 0; index < values.size(); ++index) {
    numbers[index] = first[index] == index ? next++ : numbers[first[index]];
  }
  return numbers;
}

template <typename S>
concept HasMonitor = requires {
  typename Monitored<S>::ValueType;
};

}  // namespace monitors

// Judges as SpecificationChecker does.
template <Specification S>
class MonitoredChecker {
 public:
  explicit MonitoredChecker(LinearizabilityLimits limits = {},
                            typename S::State initial = S::initial())
      : limits_(limits), model_(std::move(initial)) {}

  // As that of SpecificationChecker. The longest order and the operations that do not fit are those
  // of a few operations that have no correct order by themselves; if there are no few, they may be
  // missing.
  LinearizabilityReport report(std::span<const Call<S>> history,
                               std::size_t most_listed = default_most_listed) {
    model_.assign(history);
    if constexpr (monitors::HasMonitor<S>) {
      if (monitors::Monitored<S>::has_monitor(model_.initial_state())) {
        monitors::MonitoredHistory monitored;
        const monitors::MonitorResult result = judge(history, monitored);
        if (result.outcome != monitors::MonitorResult::Outcome::undecided) {
          return monitors::report_of(result, monitored, model_, search_, limits_, most_listed);
        }
      }
    }
    return search_.report(model_, limits_, most_listed);
  }

 private:
  monitors::MonitorResult judge(std::span<const Call<S>> history,
                                monitors::MonitoredHistory& monitored) const {
    using Monitor = monitors::Monitored<S>;
    std::vector<const typename Monitor::ValueType*> values;
    std::vector<std::uint32_t> call_of_value;
    const auto* const initial_value = Monitor::initial_value(model_.initial_state());
    if (initial_value != nullptr) values.push_back(initial_value);
    const std::size_t first = values.size();
    for (std::size_t position = 0; position < history.size(); ++position) {
      const Call<S>& call = history[position];
      if (call.is_refused) continue;
      const auto found = Monitor::call_of(call.operation, call.answer());
      if (!found) continue;
      if (found->value != nullptr) {
        values.push_back(found->value);
        call_of_value.push_back(static_cast<std::uint32_t>(monitored.calls.size()));
      }
      monitored.add(found->call, outline_of(call), position);
    }
    const std::vector<std::uint32_t> numbers = numbers_of(values);
    for (std::size_t index = 0; index < call_of_value.size(); ++index) {
      monitored.calls[call_of_value[index]].value = numbers[first + index];
    }
    return Monitor::judge(monitored.calls, static_cast<std::uint32_t>(values.size()));
  }

  static std::vector<std::uint32_t> numbers_of(const auto& values) {
    if constexpr (requires { monitors::Monitored<S>::number(values); }) {
      return monitors::Monitored<S>::number(values);
    } else {
      return monitors::number_values(values);
    }
  }

  LinearizabilityLimits limits_;
  linearization::SpecificationModel<S> model_;
  linearization::ObjectSearch search_;
};

}  // namespace falafel::checkers
