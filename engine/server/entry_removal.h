// Removes one deleted entry by a backward shift (Knuth, The Art of Computer Programming 3, 6.4,
// algorithm R) while clients are active.
//
// The slot of the deleted entry is the hole. The first entry behind it in the chain whose home slot
// is not behind the hole moves into the hole, and its slot becomes the new hole. This repeats until
// the end of the chain, where the hole becomes empty. At most two entries are locked at a time: the
// hole and the entry that moves into it, or the hole and the empty entry that ends the chain. Only
// the last table is cleaned up, because freezing the empty slots of the others depends on that none
// is added. docs/protocol.md ("The table") proves that a search for any key always finds it or
// finds a lock.
//
// The object is its own journal: if the fiber is cancelled, the phase and the locked entries remain
// here, and finish() continues from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/server/chunk.h"
#include "engine/server/container_reader.h"
#include "engine/server/rebinding_counter.h"
#include "engine/server/server_inspection.h"
#include "engine/server/single_update.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class EntryRemoval {
 public:
  EntryRemoval(fabric::Host& host, const Chunk& chunk, const Safeguards& safeguards,
               EntryUpdater& updater, ContainerReader& reader, RebindingCounter& rebindings,
               ServerStatistics& statistics);

  // `slot` is in the last table. Waits. Returns false if it has no deleted entry any more, or if
  // others changed entries repeatedly; then nothing is locked, and one deleted entry remains for
  // the next pass. Must not be called while a removal is in progress.
  bool remove(std::uint64_t slot);
  // Continues the removal in progress, if any. Waits. Returns the result of remove().
  bool finish();

 private:
  enum class Phase : std::uint8_t {
    idle,
    locking_hole,
    searching,
    dropping,      // removes an entry whose container cannot be read
    locking_next,  // locks the entry that moves, or the end of the chain
    filling,       // moves the next entry into the hole
    emptying,      // makes the hole empty
    unlocking_end,
    abandoning,  // makes the hole a deleted entry without a key
  };
  struct Place {
    std::uint64_t slot = 0;
    Entry entry;  // without the lock bit
  };

  void step();
  void lock_hole();
  void search();
  void look_at(std::uint64_t slot, Entry entry);
  void go_on();
  void drop();
  void lock_next();
  void fill();
  void empty();
  void unlock_end();
  void abandon();

  // Waits, and retries if a broken connection prevented the update. Returns false if the entry
  // differs from `expected`.
  bool update(const Place& place, Entry expected, Entry desired, Entry* current = nullptr);
  bool has_tries_left() { return ++lost_ < most_lost; }
  Entry successor(Entry entry) const;
  std::uint64_t behind(std::uint64_t slot) const;
  std::uint64_t distance(std::uint64_t from, std::uint64_t to) const;
  std::uint64_t home_of(std::span<const std::byte> key) const;

  // lost compare-and-swaps of one removal on one entry
  static constexpr std::uint32_t most_lost = 8;

  fabric::Host& host_;
  const Chunk& chunk_;
  const Safeguards& safeguards_;
  ContainerReader& reader_;
  RebindingCounter& rebindings_;
  ServerStatistics& statistics_;
  SingleUpdate update_;
  Phase phase_ = Phase::idle;
  Place hole_;
  Place next_;
  std::uint64_t position_ = 0;  // searching: the next slot to examine
  std::uint64_t moves_ = 0;
  std::uint64_t looked_at_ = 0;
  std::uint32_t lost_ = 0;
  bool succeeded_ = false;
};

}  // namespace falafel::engine
