#include "tools/timeline/key_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "engine/layout/entry.h"

namespace falafel::timeline {
namespace {

// The number of recent changes of a slot or region to report.
constexpr std::size_t most_changes = 4;
constexpr std::size_t most_containers = 2;

template <typename Change>
std::span<const Change> last(const std::vector<Change>& changes, std::size_t most = most_changes) {
  return std::span(changes).last(std::min(changes.size(), most));
}

class KeyStepSearch {
 public:
  explicit KeyStepSearch(const Timeline& timeline) : timeline_(timeline) {}

  void add_violation(const checkers::Judgement& violation);
  void add_critical(const explorer::CriticalStep& critical);
  std::vector<KeyStep> take();

 private:
  void add_operation(std::uint32_t number, KeyStepRole role);
  void add_return(std::uint32_t number);
  void add_effect(std::uint32_t number, KeyStepRole role);
  void add_readings(std::uint32_t operation);
  void add_origin(std::uint32_t effect);
  void add_operations_at(std::uint64_t step);
  void add_stores_of(const OperationSpan& reader);
  void add_slots_of_key(const std::string& key);
  void add_slot(std::uint64_t slot, std::uint64_t last_step);
  void add_memory_at(std::uint64_t offset, std::uint64_t last_step);
  void add_states_of(std::uint64_t region, std::uint64_t last_step);
  bool is_container(std::uint64_t offset) const {
    return offset >= timeline_.geometry.region_offset(0);
  }
  std::string name(std::uint32_t operation) const;

  const Timeline& timeline_;
  std::vector<KeyStep> steps_;
  std::set<std::uint32_t> operations_;  // operations that were added
  std::set<std::uint32_t> effects_;
  std::set<std::uint64_t> regions_;
};

std::string KeyStepSearch::name(std::uint32_t number) const {
  const OperationSpan& operation = timeline_.operations[number];
  return operation.kind == "set"
             ? fmt::format("{} \"{}\" to \"{}\"", operation.kind, operation.key, operation.value)
             : fmt::format("{} \"{}\"", operation.kind, operation.key);
}

void KeyStepSearch::add_operation(std::uint32_t number, KeyStepRole role) {
  if (!operations_.insert(number).second) return;
  const OperationSpan& operation = timeline_.operations[number];
  steps_.push_back({.step = operation.call_step,
                    .role = role,
                    .lane = operation.lane,
                    .operation = number,
                    .text = "calls " + name(number)});
}

void KeyStepSearch::add_return(std::uint32_t number) {
  const OperationSpan& operation = timeline_.operations[number];
  const bool has_value = operation.answer == "found";
  const bool has_returned = operation.return_step != never;
  steps_.push_back({.step = has_returned ? operation.return_step : timeline_.steps,
                    .role = KeyStepRole::violation,
                    .lane = operation.lane,
                    .operation = number,
                    .text = !has_returned
                                ? name(number) + " never returns"
                                : fmt::format("{} \"{}\" answers: {}{}", operation.kind,
                                              operation.key, operation.answer,
                                              has_value ? " \"" + operation.value + "\"" : "")});
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

// Adds the last entry and the last container that an operation read, which determined its answer.
void KeyStepSearch::add_readings(std::uint32_t operation) {
  std::optional<std::uint32_t> entry;
  std::optional<std::uint32_t> container;
  for (std::uint32_t number = 0; number < timeline_.effects.size(); ++number) {
    const Effect& effect = timeline_.effects[number];
    const bool is_its =
        effect.request != none && timeline_.requests[effect.request].operation == operation;
    if (!is_its) continue;
    const bool is_swap = effect.kind == EffectKind::swapped || effect.kind == EffectKind::refused;
    if (effect.kind != EffectKind::read && !is_swap) continue;
    (is_container(effect.offset) ? container : entry) = number;
  }
  for (const auto& reading : {entry, container}) {
    if (!reading) continue;
    add_effect(*reading, KeyStepRole::stale);
    add_origin(*reading);
  }
}

// Adds the operations that gave the key the value that the reader found; if it found none, the last
// one that stored a value earlier.
void KeyStepSearch::add_stores_of(const OperationSpan& reader) {
  std::optional<std::uint32_t> last;
  for (std::uint32_t number = 0; number < timeline_.operations.size(); ++number) {
    const OperationSpan& operation = timeline_.operations[number];
    const bool is_store = operation.kind == "set" && operation.key == reader.key;
    if (!is_store || operation.call_step > reader.return_step) continue;
    if (reader.answer == "found" ? operation.value == reader.value : operation.answer == "stored") {
      last = number;
    }
  }
  if (last) add_operation(*last, KeyStepRole::origin);
}

// Adds the key's slots and the fate of its entry.
void KeyStepSearch::add_slots_of_key(const std::string& key) {
  std::set<std::uint64_t> slots;
  for (const SlotChange& change : timeline_.memory.slots) {
    const bool has_key =
        change.container != none && timeline_.memory.containers[change.container].key == key;
    if (has_key) slots.insert(change.slot);
  }
  for (const std::uint64_t slot : slots) add_slot(slot, timeline_.steps);
}

// Adds the last changes of the slot up to a step, and the fate of the memory that it pointed to.
void KeyStepSearch::add_slot(std::uint64_t slot, std::uint64_t last_step) {
  const std::uint64_t offset = timeline_.geometry.entry_offset(slot);
  std::vector<std::uint32_t> changes;
  for (std::uint32_t number = 0; number < timeline_.effects.size(); ++number) {
    const Effect& effect = timeline_.effects[number];
    const bool is_change = effect.kind == EffectKind::swapped || effect.kind == EffectKind::stored;
    const bool is_here = effect.offset <= offset && offset < effect.offset + effect.length_bytes;
    if (is_change && is_here && effect.step <= last_step) changes.push_back(number);
  }
  for (const std::uint32_t number : last(changes)) {
    add_effect(number, number == changes.back() ? KeyStepRole::stale : KeyStepRole::context);
  }
  std::vector<std::uint64_t> containers;
  for (const SlotChange& change : timeline_.memory.slots) {
    const engine::Entry entry(change.word);
    if (change.slot != slot || entry.is_empty() || change.step > last_step) continue;
    containers.push_back(timeline_.geometry.to_offset(entry.offset_units()));
  }
  for (const std::uint64_t container : last(containers, most_containers)) {
    add_memory_at(container, last_step);
  }
}

// Adds the writers of a container's location, and the uses of its region.
void KeyStepSearch::add_memory_at(std::uint64_t offset, std::uint64_t last_step) {
  const engine::Geometry& geometry = timeline_.geometry;
  if (!is_container(offset)) return;
  const std::uint64_t region = (offset - geometry.region_offset(0)) / geometry.region_bytes;
  if (region >= geometry.region_count || !regions_.insert(region).second) return;
  std::vector<std::uint32_t> writes;
  for (std::uint32_t number = 0; number < timeline_.effects.size(); ++number) {
    const Effect& effect = timeline_.effects[number];
    const bool is_here = effect.offset <= offset && offset < effect.offset + effect.length_bytes;
    if (effect.kind == EffectKind::written && is_here && effect.step <= last_step) {
      writes.push_back(number);
    }
  }
  for (const std::uint32_t number : last(writes)) add_effect(number, KeyStepRole::context);
  add_states_of(region, last_step);
}

void KeyStepSearch::add_states_of(std::uint64_t region, std::uint64_t last_step) {
  std::vector<KeyStep> changes;
  std::optional<engine::RegionState> state;
  for (const RegionChange& change : timeline_.memory.regions) {
    if (change.region != region || change.use.state == state || change.step > last_step) continue;
    state = change.use.state;
    changes.push_back({.step = change.step,
                       .role = KeyStepRole::context,
                       .text = fmt::format("region {} is {}", region, to_string(*state))});
  }
  for (const KeyStep& change : last(changes)) steps_.push_back(change);
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
    if (std::ranges::find(violation.calls, operation.call_time) == violation.calls.end()) continue;
    add_operation(number, KeyStepRole::stale);
    add_return(number);
    add_readings(number);
    add_stores_of(operation);
    const bool is_at_rest = timeline_.lanes[operation.lane].kind == LaneKind::server;
    if (is_at_rest) add_slots_of_key(operation.key);
  }
  const std::uint64_t step = violation.step == 0 ? timeline_.steps : violation.step;
  for (const std::uint64_t slot : violation.slots) add_slot(slot, step);
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

void KeyStepSearch::add_critical(const explorer::CriticalStep& critical) {
  steps_.push_back({.step = critical.step,
                    .role = KeyStepRole::critical,
                    .text = "the violation is inevitable from here on"});
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

}  // namespace

// Other properties that the run also violates follow from the same steps.
std::vector<KeyStep> find_key_steps(const Timeline& timeline,
                                    const std::vector<checkers::Judgement>& violations,
                                    const std::optional<explorer::CriticalStep>& critical) {
  KeyStepSearch search(timeline);
  if (!violations.empty()) search.add_violation(violations.front());
  if (critical) search.add_critical(*critical);
  return search.take();
}

}  // namespace falafel::timeline
