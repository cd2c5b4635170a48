// The server's memory as a checker sees it: the bytes of the chunk and the server's bookkeeping at
// one moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/layout/entry.h"
#include "engine/layout/geometry.h"
#include "engine/layout/inspection.h"
#include "engine/layout/key_hash.h"
#include "engine/layout/tables.h"

namespace falafel::checkers {

struct MemoryView {
  const engine::Geometry& geometry;
  const engine::HashKey& hash_key;
  std::span<const std::byte> chunk;
  std::span<const engine::RegionInspection> regions;
  std::span<const engine::MatureSpaceInspection> mature_spaces;

  engine::Entry entry(std::uint64_t slot) const;
  // The tables in use, and the end of their slots.
  engine::Tables tables() const;
  std::uint64_t end_of_slots() const { return geometry.first_slot(tables().last + 1); }
};

// A verified container that an entry points to.
struct StoredContainer {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;  // rounded up to whole units
  std::string key;               // empty: a placeholder for a container that did not verify
  std::string value;
};
std::optional<StoredContainer> read_stored(const MemoryView& view, engine::Entry entry);

// The reference of an entry to a container of this length, whose key has this hash. It is computed
// from the layout (docs/store-layout.md, "References"), and not by the engine that it judges.
std::uint32_t expected_reference(const engine::Geometry& geometry, std::uint64_t offset,
                                 std::uint64_t hash, std::uint64_t container_bytes);

// For example "offset 448, tag 7, deleted"; with fingerprints "offset 448, fingerprint 9, ...".
std::string describe(engine::Entry entry, const engine::Geometry& geometry);
// Explains that the entry of a slot does not have the reference of its container.
std::string describe_wrong_reference(std::uint64_t slot, engine::Entry entry,
                                     std::uint32_t reference, const engine::Geometry& geometry);
// Returns the live keys and their values. Ignores duplicate keys and containers that do not verify,
// because check_table() reports them.
std::map<std::string, std::string> read_contents(const MemoryView& view);

}  // namespace falafel::checkers
