#include "checkers/memory_view.h"

#include <fmt/format.h>

#include <cstring>

#include "engine/layout/container.h"
#include "engine/layout/references.h"
#include "engine/layout/status_line.h"

namespace falafel::checkers {
namespace {

std::string to_string(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string describe_reference(engine::Entry entry, const engine::Geometry& geometry) {
  const engine::References references(geometry);
  std::string text = fmt::format("offset {}", geometry.to_offset(entry.reference()));
  if (geometry.fingerprint_bits > 0) {
    text += fmt::format(", fingerprint {}", references.fingerprint(entry));
  }
  if (geometry.size_class_bits > 0) {
    text += fmt::format(", size class {}", references.size_class(entry));
  }
  return text;
}

}  // namespace

engine::Entry MemoryView::entry(std::uint64_t slot) const {
  std::uint64_t word = 0;
  std::memcpy(&word, chunk.data() + geometry.entry_offset(slot), sizeof word);
  return engine::Entry(word);
}

engine::Tables MemoryView::tables() const {
  std::uint64_t word = 0;
  std::memcpy(&word, chunk.data() + engine::tables_offset, sizeof word);
  return engine::Tables::from_word(word);
}

std::optional<StoredContainer> read_stored(const MemoryView& view, engine::Entry entry) {
  using engine::Verification;
  const std::uint64_t offset = view.geometry.to_offset(entry.reference());
  if (!view.geometry.may_hold_container(offset)) return std::nullopt;
  const auto bytes = view.chunk.first(view.geometry.mature_end()).subspan(offset);
  const auto header = engine::read_container_header(bytes, Verification::on);
  if (!header) return std::nullopt;
  const auto key = engine::read_container_key(bytes, *header, Verification::on);
  const auto value = engine::read_container_value(bytes, *header, Verification::on);
  if (!key || !value) return std::nullopt;
  return StoredContainer{.offset = offset,
                         .size_bytes = view.geometry.round_up_to_unit(header->container_bytes()),
                         .key = to_string(*key),
                         .value = to_string(*value)};
}

std::uint32_t expected_reference(const engine::Geometry& geometry, std::uint64_t offset,
                                 std::uint64_t hash, std::uint64_t container_bytes) {
  const std::uint64_t last_class = (1U << geometry.size_class_bits) - 1;
  std::uint64_t size_class = 0;
  while (size_class < last_class && container_bytes > std::uint64_t{64} << size_class) ++size_class;
  std::uint64_t reference = offset / geometry.unit_bytes;
  reference |= size_class << (32 - geometry.fingerprint_bits - geometry.size_class_bits);
  if (geometry.fingerprint_bits > 0) {
    reference |= hash >> (64 - geometry.fingerprint_bits) << (32 - geometry.fingerprint_bits);
  }
  return static_cast<std::uint32_t>(reference);
}

std::string describe(engine::Entry entry, const engine::Geometry& geometry) {
  if (entry.is_empty()) {
    return fmt::format("{}, tag {}{}", entry.is_frozen() ? "frozen" : "empty", entry.tag(),
                       entry.is_locked() ? ", locked" : "");
  }
  return fmt::format("{}, tag {}{}{}", describe_reference(entry, geometry), entry.tag(),
                     entry.is_deleted() ? ", deleted" : "", entry.is_locked() ? ", locked" : "");
}

std::string describe_wrong_reference(std::uint64_t slot, engine::Entry entry,
                                     std::uint32_t reference, const engine::Geometry& geometry) {
  return fmt::format("slot {} ({}) does not match its container, to which an entry with {} points",
                     slot, describe(entry, geometry),
                     describe_reference(entry.moved_to(reference), geometry));
}

std::map<std::string, std::string> read_contents(const MemoryView& view) {
  std::map<std::string, std::string> contents;
  for (std::uint64_t slot = 0; slot < view.end_of_slots(); ++slot) {
    const engine::Entry entry = view.entry(slot);
    if (entry.is_empty() || entry.is_deleted()) continue;
    if (auto stored = read_stored(view, entry); stored && !stored->key.empty()) {
      contents.emplace(std::move(stored->key), std::move(stored->value));
    }
  }
  return contents;
}

}  // namespace falafel::checkers
