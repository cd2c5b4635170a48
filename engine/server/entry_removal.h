// The removal of one deleted entry by a backward shift (Knuth, The Art of Computer Programming 3, 6.4,
// algorithm R), while clients go on.
//
// The deleted entry's slot is the hole. The hole takes the first entry behind it in the chain that a search
// may meet there, which is one whose home slot is not behind the hole; that entry's slot is the hole then; and
// so on up to the chain's end, where the hole becomes empty. At most two entries are locked at a time: the
// hole and the one that moves into it, or the hole and the empty entry that ends the chain. docs/protocol.md
// ("The table") proves that every key is found all the time, or its search meets a lock.
//
// It is its own journal: a fiber that is cancelled in the middle leaves the phase and the locked entries here,
// and finish() goes on from there.
#pragma once

#include <cstdint>

#include "engine/server/chunk.h"
#include "engine/server/container_reader.h"
#include "engine/server/rebinding_counter.h"
#include "engine/server/server.h"
#include "engine/server/single_update.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class EntryRemoval {
 public:
  EntryRemoval(fabric::Host& host, const Chunk& chunk, const Safeguards& safeguards,
               EntryUpdater& updater, ContainerReader& reader, RebindingCounter& rebindings,
               ServerStatistics& statistics);

  // Waits. False if there is no deleted entry any more, or if somebody changed entries again and again: then
  // all are unlocked, and one deleted entry is left for the next time. Not while one is under way.
  bool remove(std::uint64_t slot);
  // Goes on with the removal that is under way, if there is one. Waits. The same answer.
  bool finish();

 private:
  enum class Phase : std::uint8_t {
    idle,
    locking_hole,
    searching,
    dropping,      // an entry whose container cannot be read
    locking_next,  // the entry that moves, or the chain's end
    filling,       // the hole takes the next entry
    emptying,      // the hole becomes empty
    unlocking_end,
    abandoning,  // the hole becomes a deleted entry without a key
  };
  struct Place {
    std::uint64_t slot = 0;
    Entry entry;  // without its lock
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

  // Waits, and repeats what a broken connection kept from happening. False: the entry was another one.
  bool update(const Place& place, Entry expected, Entry desired, Entry* current = nullptr);
  bool has_tries_left() { return ++lost_ < most_lost; }
  Entry successor(Entry entry) const;
  std::uint64_t behind(std::uint64_t slot) const;
  std::uint64_t distance(std::uint64_t from, std::uint64_t to) const;

  static constexpr std::uint32_t most_lost = 8;  // compare-and-swaps, by one removal on one entry

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
  std::uint64_t position_ = 0;  // searching: the slot to be looked at
  std::uint64_t moves_ = 0;
  std::uint64_t looked_at_ = 0;
  std::uint32_t lost_ = 0;
  bool succeeded_ = false;
};

}  // namespace falafel::engine
