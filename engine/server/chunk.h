// The server's view of its chunk: entries and containers, read by the processor. Only an
// EntryUpdater changes entries.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/layout/container.h"
#include "engine/layout/entry.h"
#include "engine/layout/geometry.h"
#include "engine/layout/key_hash.h"
#include "engine/layout/tables.h"
#include "fabric/fabric.h"

namespace falafel::engine {

struct ContainerCopy {
  ContainerHeader header;
  std::vector<std::byte> key;
  std::vector<std::byte> value;  // empty unless requested
};

// Reads bytes of the chunk, starting at an offset, into the destination.
using ReadBytes = std::function<void(std::uint64_t offset, std::span<std::byte> destination)>;

class HeldMemory;
class ValueAges;

struct Chunk {
  Geometry geometry;
  HashKey hash_key{};
  std::shared_ptr<fabric::MemoryBlock> block;
  // As the status line states them. Only the growth of the table changes them.
  Tables tables{};
  // The processor reads no container that is not held. Null: everything is.
  HeldMemory* held = nullptr;
  // Whoever moves an entry tells it. Null: no eviction, or the cleanup of the thesis.
  ValueAges* ages = nullptr;

  // The slots of the tables in use.
  std::uint64_t first_slot_in_use() const { return geometry.first_slot(tables.first); }
  std::uint64_t end_of_slots_in_use() const { return geometry.first_slot(tables.last + 1); }
  // The last table, into which new keys go.
  std::uint64_t last_table_begin() const { return geometry.first_slot(tables.last); }
  std::uint64_t last_table_entries() const { return geometry.entries_of(tables.last); }

  Entry load_entry(std::uint64_t slot) const;
  // Returns nullopt unless the entry points to a valid container that fits into a region.
  enum class Part : std::uint8_t { key, key_and_value };
  std::optional<ContainerCopy> read_container(Entry entry, Part part) const;
  // Reads the container with `read` instead of the processor.
  std::optional<ContainerCopy> read_container(Entry entry, Part part, const ReadBytes& read) const;
  // Returns a valid header of a container that fits into a region and the chunk; the second
  // function reads its key.
  std::optional<ContainerHeader> read_header(std::uint64_t offset) const;
  std::optional<std::vector<std::byte>> read_key(std::uint64_t offset,
                                                 const ContainerHeader& header) const;
  // A deleted entry without a key that replaces `entry` and has its tag.
  Entry stand_in_for(Entry entry) const;
  void write(std::uint64_t offset, std::span<const std::byte> bytes) const;
};

}  // namespace falafel::engine
