#include "checkers/table.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "checkers/history.h"
#include "engine/layout/container.h"

namespace falafel::checkers {
namespace {

Judgement table_violated(std::string property, std::string explanation,
                         std::vector<std::uint64_t> slots) {
  return {.verdict = Verdict::violated,
          .property = "table." + std::move(property),
          .explanation = std::move(explanation),
          .slots = std::move(slots)};
}

std::uint64_t hash_of(const MemoryView& view, const std::string& key) {
  return engine::hash_of(std::as_bytes(std::span(key)), view.hash_key);
}

// The slot at which a search for the key ends before it reaches `slot`. The search begins in the
// first table in use, and goes on in the next one behind a frozen entry and behind a whole table.
std::optional<std::uint64_t> find_gap(const MemoryView& view, std::uint64_t slot,
                                      const std::string& key) {
  const engine::Geometry& geometry = view.geometry;
  const engine::Tables tables = view.tables();
  const std::uint64_t hash = hash_of(view, key);
  std::uint64_t walked = slot;
  for (std::uint32_t table = tables.first; table <= tables.last; ++table) {
    const std::uint64_t entries = geometry.entries_of(table);
    const std::uint64_t home = hash % entries;
    for (std::uint64_t distance = 0; distance < entries; ++distance) {
      walked = geometry.first_slot(table) + (home + distance) % entries;
      if (walked == slot) return std::nullopt;
      const engine::Entry entry = view.entry(walked);
      if (table < tables.last && entry.is_frozen()) break;
      if (entry.is_empty()) return walked;
    }
  }
  return walked;
}

std::uint32_t reference_to(const MemoryView& view, const StoredContainer& stored) {
  return expected_reference(view.geometry, stored.offset, hash_of(view, stored.key),
                            engine::container_bytes(stored.key.size(), stored.value.size()));
}

}  // namespace

Judgement check_table(const MemoryView& view) {
  std::map<std::string, std::uint64_t> slots;
  for (std::uint64_t slot = 0; slot < view.end_of_slots(); ++slot) {
    const engine::Entry entry = view.entry(slot);
    const auto here = [&] {
      return fmt::format("slot {} ({})", slot, describe(entry, view.geometry));
    };
    if (entry.is_locked()) {
      return table_violated("locked", here() + " is locked although no cleanup is in progress",
                            {slot});
    }
    if (entry.is_empty()) continue;
    const auto stored = read_stored(view, entry);
    if (!stored) {
      return table_violated("unreadable", here() + " does not point to a valid container", {slot});
    }
    if (stored->key.empty()) continue;
    const std::uint32_t reference = reference_to(view, *stored);
    if (entry.reference() != reference) {
      return table_violated("wrong-reference",
                            describe_wrong_reference(slot, entry, reference, view.geometry),
                            {slot});
    }
    const auto [other, is_new] = slots.emplace(stored->key, slot);
    if (!is_new) {
      return table_violated("duplicate-key",
                            fmt::format("slots {} and {} both have the key {}", other->second, slot,
                                        quote(stored->key)),
                            {other->second, slot});
    }
    if (const auto gap = find_gap(view, slot, stored->key)) {
      return table_violated(
          "unreachable-key",
          fmt::format("{} has the key {}, but a search for it ends at slot {}, which "
                      "is empty",
                      here(), quote(stored->key), *gap),
          {slot, *gap});
    }
  }
  return {.verdict = Verdict::holds, .property = "table", .explanation = {}};
}

}  // namespace falafel::checkers
