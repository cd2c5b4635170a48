// The tables of a node as its workers see them (Nessie 5): operations on the keys of the node,
// carried out by the processor under locks.
//
// In NessieHY, clients READ the tables meanwhile, so an entry never changes once an ITE refers to
// it, and a DTE that was replaced is used again only after its expiry, as in NessieCD. In NessieSD,
// only workers read, under the locks, so a DTE that was replaced is free at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/answer.h"
#include "stores/nessie/data_table.h"
#include "stores/nessie/hashing.h"
#include "stores/nessie/locks.h"

namespace falafel::nessie {

class ServedTable {
 public:
  // `data` outlives this object.
  ServedTable(fabric::Host& host, std::shared_ptr<fabric::MemoryBlock> block,
              const NodeLayout& layout, std::uint64_t node, std::uint64_t nodes, DataTable& data,
              const Options& options);

  // Each waits.
  std::optional<Bytes> get(std::span<const std::byte> key);
  // stored, table_full, out_of_memory
  stores::Answer put(std::span<const std::byte> key, std::span<const std::byte> value);
  // deleted, not_found
  stores::Answer remove(std::span<const std::byte> key);

  std::uint64_t moves() const { return moves_; }
  std::uint64_t lock_waits() const { return locks_.waits(); }

 private:
  // Slots from the one for a key to one that is empty. The entry in each slot but the last moves to
  // the next one, from the end.
  using Chain = std::vector<std::uint64_t>;
  struct Room {
    Chain chain{};  // empty: there is no room
    // A group that must be locked before the chain can be followed further.
    std::optional<std::uint64_t> missing_group{};
  };

  Candidates candidates(std::span<const std::byte> key) const;
  Locks::Numbers groups_of(const Candidates& candidates) const;
  std::uint64_t group_of(std::uint64_t index) const { return index / options_.slots_per_lock; }
  void lock(LockHolder& holder, const Locks::Numbers& groups) const;

  std::uint64_t load(std::uint64_t index) const;
  void change(std::uint64_t index, std::uint64_t before, std::uint64_t after);
  std::optional<DataEntry> entry_of(std::uint64_t word, bool with_value) const;
  bool has_key(std::uint64_t word, std::span<const std::byte> key) const;
  std::optional<std::uint64_t> find(const Candidates& candidates,
                                    std::span<const std::byte> key) const;

  Room room_for(const Candidates& candidates, std::span<const std::byte> key,
                const Locks::Numbers& groups) const;
  Room room_by_moving(std::uint64_t source, const Locks::Numbers& groups) const;
  std::optional<std::uint64_t> destination_of(std::uint64_t index) const;
  bool move(std::uint64_t source, std::uint64_t destination);
  stores::Answer install(const Chain& chain, std::span<const std::byte> key,
                         std::span<const std::byte> value);
  // The ITE of a new valid DTE; nullopt if there is no room for it.
  std::optional<std::uint64_t> write_entry(const Bytes& key, const Bytes& value);
  // No ITE refers to this one's DTE any more.
  void retire(std::uint64_t word);

  fabric::Host& host_;
  std::shared_ptr<fabric::MemoryBlock> block_;
  NodeLayout layout_;
  std::uint64_t node_;
  std::uint64_t nodes_;
  DataTable& data_;
  Options options_;
  Locks locks_;
  std::uint64_t moves_ = 0;
};

}  // namespace falafel::nessie
