// The server's in-memory hash map: PUT, DELETE and GET on the table and the extents, whose memory
// clients read at the same time. It is the only writer (Pilaf 3.1).
//
// All changes keep to an order in which a client finds either the old or the new state of a slot,
// or a checksum that is wrong: an extent is written before the entry that points to it, and freed
// after the entry that pointed to it has been overwritten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/buddy_allocator.h"
#include "stores/checksum.h"
#include "stores/pilaf/displacement.h"
#include "stores/pilaf/hashing.h"
#include "stores/pilaf/layout.h"
#include "stores/pilaf/options.h"

namespace falafel::pilaf {

enum class PutOutcome : std::uint8_t { stored, table_full, extents_full };

class HashMap {
 public:
  using Random = std::function<std::uint64_t(std::uint64_t bound)>;
  // For each slot of a larger table, the slot whose entry moves there.
  using Placement = std::vector<std::optional<std::uint64_t>>;

  // `memory` is zero and has Geometry::block_bytes(). `options` outlives the map.
  HashMap(const Options& options, const Geometry& geometry,
          std::shared_ptr<fabric::MemoryBlock> memory, Random random);

  // After table_full or extents_full, nothing has changed.
  PutOutcome put(std::span<const std::byte> key, std::span<const std::byte> value);
  bool remove(std::span<const std::byte> key);
  std::optional<std::vector<std::byte>> get(std::span<const std::byte> key);

  // Growing. Nothing if this seed finds no slot for one of the keys.
  std::optional<Placement> place_all(const Geometry& larger);
  // Copies everything to `memory`, which no client reads yet. Without a placement, the table keeps
  // its size and its order.
  void move_to(const Geometry& larger, std::shared_ptr<fabric::MemoryBlock> memory,
               const std::optional<Placement>& placement);

  // The checksum of extents, which is the CRC-64 otherwise. Call it while the map is empty.
  void verify_by(const stores::Checksum& checksum) { checksum_ = checksum; }

  const Geometry& geometry() const { return geometry_; }
  const std::shared_ptr<fabric::MemoryBlock>& memory() const { return memory_; }
  const stores::BuddyAllocator& allocator() const { return allocator_; }
  std::uint64_t keys() const { return keys_; }

 private:
  struct Found {
    std::uint64_t slot;
    Entry entry;
    std::vector<std::byte> extent;
  };

  ProbeSequence slots(std::span<const std::byte> key) const;
  std::optional<Found> find(std::span<const std::byte> key);
  Entry read_entry(std::uint64_t slot);
  void write_entry(std::uint64_t slot, const ExtentPointer& pointer);
  void empty_entry(std::uint64_t slot);
  std::uint32_t next_changes(std::uint64_t slot);
  std::vector<std::byte> read_extent(const ExtentPointer& pointer);
  std::optional<ExtentPointer> write_extent(std::span<const std::byte> extent);
  ExtentPointer overwrite_extent(std::uint64_t offset, std::span<const std::byte> extent);

  PutOutcome replace(const Found& found, std::span<const std::byte> extent);
  PutOutcome insert(std::span<const std::byte> key, std::span<const std::byte> extent);
  void carry_out(const DisplacementChain& chain, const ExtentPointer& pointer);
  TableView view();

  const Options& options_;
  Geometry geometry_;
  stores::Checksum checksum_;
  std::shared_ptr<fabric::MemoryBlock> memory_;
  Random random_;
  stores::BuddyAllocator allocator_;
  std::uint64_t keys_ = 0;
};

}  // namespace falafel::pilaf
