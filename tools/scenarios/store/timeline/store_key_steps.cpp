#include "tools/scenarios/store/timeline/store_key_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "engine/layout/entry.h"
#include "tools/scenarios/store/timeline/store_lanes.h"

namespace falafel::store_scenario {

using timeline::Effect;
using timeline::EffectKind;
using timeline::KeyStep;
using timeline::KeyStepRole;
using timeline::none;
using timeline::OperationSpan;

namespace {

// The number of recent changes of a slot or region to report.
constexpr std::size_t most_changes = 4;
constexpr std::size_t most_containers = 2;

template <typename Change>
std::span<const Change> last(const std::vector<Change>& changes, std::size_t most = most_changes) {
  return std::span(changes).last(std::min(changes.size(), most));
}

}  // namespace

StoreKeySteps::StoreKeySteps(const timeline::Timeline& timeline)
    : KeyStepSearch(timeline), run_(timeline), memory_(store_memory(timeline)) {}

// The last entry and the last container that the operation read.
std::vector<std::uint32_t> StoreKeySteps::decisive_readings(std::uint32_t operation) const {
  std::optional<std::uint32_t> entry;
  std::optional<std::uint32_t> container;
  for (const std::uint32_t number : readings(operation)) {
    (is_container(run_.effects[number].offset) ? container : entry) = number;
  }
  std::vector<std::uint32_t> decisive;
  for (const auto& reading : {entry, container}) {
    if (reading) decisive.push_back(*reading);
  }
  return decisive;
}

void StoreKeySteps::add_context_of(const OperationSpan& operation) {
  add_stores_of(operation);
  const bool is_at_rest = run_.lanes[operation.lane].kind == StoreLanes::server_kind;
  if (is_at_rest) add_slots_of_key(operation.key);
}

void StoreKeySteps::add_context_of(const checkers::Judgement& violation, std::uint64_t last_step) {
  for (const std::uint64_t slot : violation.slots) add_slot(slot, last_step);
}

// Adds the operations that gave the key the value that the reader found; if it found none, the last
// one that stored a value earlier.
void StoreKeySteps::add_stores_of(const OperationSpan& reader) {
  const bool has_found = reader.label == "found";
  const std::string stored = has_found ? " to" + reader.answer.substr(reader.label.size()) : "";
  std::optional<std::uint32_t> last;
  for (std::uint32_t number = 0; number < run_.operations.size(); ++number) {
    const OperationSpan& operation = run_.operations[number];
    const bool is_store = operation.kind == "set" && operation.key == reader.key;
    if (!is_store || operation.call_step > reader.return_step) continue;
    if (has_found ? operation.text.ends_with(stored) : operation.answer == "stored") last = number;
  }
  if (last) add_operation(*last, KeyStepRole::origin);
}

// Adds the key's slots and the fate of its entry.
void StoreKeySteps::add_slots_of_key(const std::string& key) {
  std::set<std::uint64_t> slots;
  for (const SlotChange& change : memory_.memory.slots) {
    const bool has_key =
        change.container != none && memory_.memory.containers[change.container].key == key;
    if (has_key) slots.insert(change.slot);
  }
  for (const std::uint64_t slot : slots) add_slot(slot, run_.steps);
}

// Adds the last changes of the slot up to a step, and the fate of the memory that it pointed to.
void StoreKeySteps::add_slot(std::uint64_t slot, std::uint64_t last_step) {
  const std::uint64_t offset = memory_.geometry.entry_offset(slot);
  std::vector<std::uint32_t> changes;
  for (std::uint32_t number = 0; number < run_.effects.size(); ++number) {
    const Effect& effect = run_.effects[number];
    const bool is_change = effect.kind == EffectKind::swapped || effect.kind == EffectKind::stored;
    const bool is_here = effect.offset <= offset && offset < effect.offset + effect.length_bytes;
    if (is_change && is_here && effect.step <= last_step) changes.push_back(number);
  }
  for (const std::uint32_t number : last(changes)) {
    add_effect(number, number == changes.back() ? KeyStepRole::stale : KeyStepRole::context);
  }
  std::vector<std::uint64_t> containers;
  for (const SlotChange& change : memory_.memory.slots) {
    const engine::Entry entry(change.word);
    if (change.slot != slot || entry.is_empty() || change.step > last_step) continue;
    containers.push_back(memory_.geometry.to_offset(entry.reference()));
  }
  for (const std::uint64_t container : last(containers, most_containers)) {
    add_memory_at(container, last_step);
  }
}

// Adds the writers of a container's location, and the uses of its region.
void StoreKeySteps::add_memory_at(std::uint64_t offset, std::uint64_t last_step) {
  const engine::Geometry& geometry = memory_.geometry;
  if (!is_container(offset)) return;
  const std::uint64_t region = (offset - geometry.region_offset(0)) / geometry.region_bytes;
  if (region >= geometry.region_count || !regions_.insert(region).second) return;
  std::vector<std::uint32_t> writes;
  for (std::uint32_t number = 0; number < run_.effects.size(); ++number) {
    const Effect& effect = run_.effects[number];
    const bool is_here = effect.offset <= offset && offset < effect.offset + effect.length_bytes;
    if (effect.kind == EffectKind::written && is_here && effect.step <= last_step) {
      writes.push_back(number);
    }
  }
  for (const std::uint32_t number : last(writes)) add_effect(number, KeyStepRole::context);
  add_states_of(region, last_step);
}

void StoreKeySteps::add_states_of(std::uint64_t region, std::uint64_t last_step) {
  std::vector<KeyStep> changes;
  std::optional<engine::RegionState> state;
  for (const RegionChange& change : memory_.memory.regions) {
    if (change.region != region || change.use.state == state || change.step > last_step) continue;
    state = change.use.state;
    changes.push_back({.step = change.step,
                       .role = KeyStepRole::context,
                       .text = fmt::format("region {} is {}", region, to_string(*state))});
  }
  for (const KeyStep& change : last(changes)) add(change);
}

}  // namespace falafel::store_scenario
