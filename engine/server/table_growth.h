// Grows the table while clients use it: begins another table, freezes the empty slots of the former
// ones, and moves their entries.
//
// 1. begin() states the next table in the status line. The cleanup works in the last table only, so
//    no slot of the others becomes empty from then on.
// 2. Each empty slot of a former table is frozen: swapped for a word that never changes again. A
//    client's insertion there comes before, or it fails, and the key goes to the next table.
// 3. When the first table in use has no empty slot, its entries are moved one after the other: an
//    entry is locked, its word is inserted at the end of its key's chain in the later tables, and
//    the locked entry becomes a deleted one without a key. Deleted entries only lose their keys.
// 4. When no entry of the first table has a key, it is no longer in use.
//
// If the last table has no room for an entry that moves, the next one begins, or the entry stays
// where it is until a cleanup has made room. docs/protocol.md ("A table that grows") proves that a
// search for a key always finds it or finds a lock, and that no key is stored twice.
//
// The object is its own journal, as EntryRemoval. A server that starts over its memory begins again
// with step 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/safeguards.h"
#include "engine/server/chain.h"
#include "engine/server/chunk.h"
#include "engine/server/pace.h"
#include "engine/server/single_update.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// The counters that growth advances.
struct GrowthCounters {
  std::uint64_t& tables_begun;
  std::uint64_t& entries_moved;
  std::uint64_t& containers_unreadable;
  std::uint64_t& updates_lost;
};

class TableGrowth {
 public:
  // Reads the key of an entry's container. Returns nullopt if it has none. May wait.
  using ReadKey = std::function<std::optional<std::vector<std::byte>>(Entry entry)>;

  TableGrowth(fabric::Host& host, Chunk& chunk, const Safeguards& safeguards, EntryUpdater& updater,
              ReadKey read_key, const GrowthCounters& counters);

  bool may_begin() const { return chunk_.tables.last + 1 < chunk_.geometry.most_tables; }
  // Requires that no removal of an entry is in progress, and may_begin(). Returns
  // false if the system has no memory for the table.
  bool begin();

  // Freezes or moves some entries. Neither the collector nor the cleanup may be active. Waits.
  void work_piece();
  bool has_work() const { return chunk_.tables.are_growing() && !waits_; }
  // Call when what work_piece() waits for may have happened: a cleanup, or an audit.
  void try_again() { waits_ = false; }
  // Finishes the move that a cancelled fiber left incomplete.
  void finish();

 private:
  enum class Phase : std::uint8_t {
    idle,
    examining,  // what to do with the entry
    freezing,
    dropping,  // takes the key from an entry
    locking,
    searching,  // for the place of the locked entry in a later table
    placing,
    leaving,    // takes the key from the locked entry
    unlocking,  // there is no room for it
  };

  bool is_everything_frozen() const;
  void freeze_piece();
  void move_piece();
  void end_pass();

  void handle(std::uint64_t slot);
  void step();
  void examine();
  void freeze();
  void drop();
  void lock();
  void search();
  void place();
  void leave();
  void unlock();
  void leave_over();

  bool update(std::uint64_t slot, Entry expected, Entry desired);
  Entry successor(Entry entry) const;
  void publish(Tables tables);

  fabric::Host& host_;
  Chunk& chunk_;
  const Safeguards& safeguards_;
  ReadKey read_key_;
  GrowthCounters counters_;
  SingleUpdate update_;
  Pace pace_;

  std::uint64_t next_frozen_slot_ = 0;  // all slots before it that are in use are not empty
  std::uint64_t next_slot_ = 0;         // of the first table in use, to be moved
  bool has_left_over_ = false;          // this pass could not move an entry
  bool waits_ = false;

  Phase phase_ = Phase::idle;
  std::uint64_t slot_ = 0;
  Entry entry_;  // of that slot, without the lock
  std::uint32_t lost_ = 0;
  std::optional<Chain> chain_;  // the later tables' slots for its key
  Entry target_;                // the entry at the end of the chain
};

}  // namespace falafel::engine
