// The server's view of its chunk: entries and containers, by the processor's own accesses. Entries are
// changed through an EntryUpdater only.
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
#include "fabric/fabric.h"

namespace falafel::engine {

struct ContainerCopy {
  ContainerHeader header;
  std::vector<std::byte> key;
  std::vector<std::byte> value;  // only if asked for
};

// Brings bytes of the chunk, from an offset on.
using ReadBytes = std::function<void(std::uint64_t offset, std::span<std::byte> destination)>;

struct Chunk {
  Geometry geometry;
  HashKey hash_key{};
  std::shared_ptr<fabric::MemoryBlock> block;

  Entry load_entry(std::uint64_t slot) const;
  // Empty if the entry points to nothing that verifies and fits a region.
  enum class Part : std::uint8_t { key, key_and_value };
  std::optional<ContainerCopy> read_container(Entry entry, Part part) const;
  // The same by other means than the processor's.
  std::optional<ContainerCopy> read_container(Entry entry, Part part, const ReadBytes& read) const;
  // A header that verifies, of a container that fits a region and the chunk; and its key.
  std::optional<ContainerHeader> read_header(std::uint64_t offset) const;
  std::optional<std::vector<std::byte>> read_key(std::uint64_t offset,
                                                 const ContainerHeader& header) const;
  // A deleted entry without a key, in the place of `entry` and with its tag.
  Entry stand_in_for(Entry entry) const;
  void write(std::uint64_t offset, std::span<const std::byte> bytes) const;
};

}  // namespace falafel::engine
