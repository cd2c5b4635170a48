#include "explorer/timeline/key_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace falafel::timeline {
namespace {

constexpr std::size_t most_places = 2;

}  // namespace

void KeyStepSearch::add_operation(std::uint32_t number, KeyStepRole role) {
  if (!operations_.insert(number).second) return;
  const OperationSpan& operation = timeline_.operations[number];
  steps_.push_back({.step = operation.call_step,
                    .role = role,
                    .lane = operation.lane,
                    .operation = number,
                    .text = "calls " + operation.text});
}

void KeyStepSearch::add_return(std::uint32_t number) {
  const OperationSpan& operation = timeline_.operations[number];
  const bool has_returned = operation.return_step != never;
  steps_.push_back({.step = has_returned ? operation.return_step : timeline_.steps,
                    .role = KeyStepRole::violation,
                    .lane = operation.lane,
                    .operation = number,
                    .text = has_returned
                                ? fmt::format("{} answers: {}", operation.name, operation.answer)
                                : operation.text + " never returns"});
}

void KeyStepSearch::add_effect(std::uint32_t number, KeyStepRole role) {
  if (!effects_.insert(number).second) return;
  const Effect& effect = timeline_.effects[number];
  const std::uint32_t operation =
      effect.request == none ? none : timeline_.requests[effect.request].operation;
  steps_.push_back({.step = effect.step,
                    .role = role,
                    .lane = effect.lane,
                    .operation = operation,
                    .effect = number,
                    .text = effect.text});
}

// Adds the writers of the words that the effect read.
void KeyStepSearch::add_origin(std::uint32_t effect) {
  for (const std::uint32_t source : timeline_.effects[effect].sources) {
    add_effect(source, KeyStepRole::origin);
    const std::uint32_t request = timeline_.effects[source].request;
    const std::uint32_t writer = request == none ? none : timeline_.requests[request].operation;
    if (writer != none) add_operation(writer, KeyStepRole::origin);
  }
}

bool KeyStepSearch::is_reading(const Effect& effect) {
  return effect.kind == EffectKind::read || effect.kind == EffectKind::swapped ||
         effect.kind == EffectKind::refused;
}

std::vector<std::uint32_t> KeyStepSearch::readings(std::uint32_t operation) const {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = 0; number < timeline_.effects.size(); ++number) {
    const Effect& effect = timeline_.effects[number];
    const bool is_its =
        effect.request != none && timeline_.requests[effect.request].operation == operation;
    if (is_its && is_reading(effect)) numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::uint32_t> KeyStepSearch::decisive_readings(std::uint32_t operation) const {
  std::vector<std::uint32_t> all = readings(operation);
  std::vector<std::uint32_t> last;
  std::set<std::pair<std::uint32_t, std::uint64_t>> places;
  for (auto number = all.rbegin(); number != all.rend() && last.size() < most_places; ++number) {
    const Effect& effect = timeline_.effects[*number];
    if (places.emplace(effect.memory, effect.offset).second) last.push_back(*number);
  }
  std::ranges::reverse(last);
  return last;
}

// Adds pending operations: in a run without progress, these are the ones that do not complete.
void KeyStepSearch::add_operations_at(std::uint64_t step) {
  for (std::uint32_t number = 0; number < timeline_.operations.size(); ++number) {
    const OperationSpan& operation = timeline_.operations[number];
    const bool is_under_way = operation.call_step < step && operation.return_step > step;
    if (is_under_way) add_operation(number, KeyStepRole::stale);
  }
}

void KeyStepSearch::add_violation(const checkers::Judgement& violation) {
  for (std::uint32_t number = 0; number < timeline_.operations.size(); ++number) {
    const OperationSpan& operation = timeline_.operations[number];
    if (std::ranges::find(violation.calls, operation.number) == violation.calls.end()) continue;
    add_operation(number, KeyStepRole::stale);
    add_return(number);
    for (const std::uint32_t reading : decisive_readings(number)) {
      add_effect(reading, KeyStepRole::stale);
      add_origin(reading);
    }
    add_context_of(operation);
  }
  const std::uint64_t step = violation.step == 0 ? timeline_.steps : violation.step;
  add_context_of(violation, step);
  if (violation.calls.empty() && violation.slots.empty()) add_operations_at(step);
  if (violation.calls.empty()) {
    // The remaining lines describe the state of each party in detail.
    const std::string first_line =
        violation.explanation.substr(0, violation.explanation.find('\n'));
    steps_.push_back({.step = step,
                      .role = KeyStepRole::violation,
                      .text = violation.property + ": " + first_line});
  }
}

std::vector<KeyStep> KeyStepSearch::take() {
  // Within one step, causes come before effects.
  const auto order = [](const KeyStep& key_step) {
    const bool is_violation = key_step.role == KeyStepRole::violation;
    const bool is_critical = key_step.role == KeyStepRole::critical;
    return std::pair(key_step.step, is_violation ? 2 : is_critical ? 1 : 0);
  };
  std::ranges::stable_sort(steps_, {}, order);
  return std::move(steps_);
}

std::vector<KeyStep> KeyStepSearch::find(const std::vector<checkers::Judgement>& violations,
                                         const std::optional<explorer::CriticalStep>& critical) {
  if (!violations.empty()) add_violation(violations.front());
  if (critical) {
    steps_.push_back({.step = critical->step,
                      .role = KeyStepRole::critical,
                      .text = "the violation is inevitable from here on"});
  }
  return take();
}

}  // namespace falafel::timeline
