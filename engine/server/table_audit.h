// The audit walks over the table, counts deleted entries, and repairs entries that no correct
// client writes. It walks over all tables that have begun: clients may still pass those that are no
// longer in use.
//
// Clients may swap any entry, so the contents of the table are untrusted input. The audit looks for
// entries that are locked (the cleanup holds no locks when the audit runs), that point to memory
// not in use, or that are empty with a flag set and not frozen; in a table that is no longer in
// use, for all entries that are not frozen and have a key. If a locked entry points to a
// container whose key belongs into its chain, the audit removes the lock. Any other such entry
// becomes a deleted entry without a key, which searches pass and the next cleanup removes. The
// audit never empties it, because chains of other keys may run through it.
//
// The origin of a compare-and-swap is unknown, so the audit cannot blame a client.
#pragma once

#include <cstdint>

#include "engine/server/chunk.h"
#include "engine/server/container_reader.h"
#include "engine/server/memory_book.h"
#include "engine/server/pace.h"
#include "engine/server/server_inspection.h"
#include "engine/server/single_update.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class TableAudit {
 public:
  TableAudit(fabric::Host& host, const Chunk& chunk, const Safeguards& safeguards,
             const MemoryBook& book, EntryUpdater& updater, ContainerReader& reader,
             ServerStatistics& statistics);

  // Audits one part of the table. Neither the collector nor the cleanup may be active. Waits, and
  // lets other fibers run meanwhile. Returns true at the end of a walk. Each entry is tried once;
  // the next walk handles an entry that others keep changing.
  bool walk_piece();
  // The last complete walk counted these in the last table.
  std::uint64_t deleted_entries() const { return deleted_entries_; }
  std::uint64_t occupied_entries() const { return occupied_entries_; }

 private:
  // The work of one call of walk_piece(), in entries that it looks at.
  class Piece {
   public:
    explicit Piece(fabric::Host& host) : pace_(host) {}

    void add(std::uint64_t work) {
      done_ += work;
      pace_.step(work);
    }
    bool is_over() const { return done_ >= work_of_piece; }

   private:
    static constexpr std::uint64_t work_of_piece = 4'096;

    Pace pace_;
    std::uint64_t done_ = 0;
  };
  // The piece may be over before an entry has been judged. The next piece then continues with it.
  enum class Place : std::uint8_t { right, wrong, not_yet_known };

  void move_to(std::uint64_t slot);
  bool is_foreign(std::uint32_t table, Entry entry) const;
  bool look_at(std::uint64_t slot, Piece& piece);
  bool repair(std::uint64_t slot, Entry entry, Piece& piece);
  Place place_of(std::uint64_t slot, Entry entry, Piece& piece);

  fabric::Host& host_;
  const Chunk& chunk_;
  const Safeguards& safeguards_;
  const MemoryBook& book_;
  ContainerReader& reader_;
  ServerStatistics& statistics_;
  SingleUpdate update_;
  std::uint64_t next_slot_ = 0;
  // How many entries directly before the next one were not empty when this walk looked at them.
  // Only the cleanup empties entries, and it does not run during a walk.
  std::uint64_t occupied_before_ = 0;
  std::uint64_t counted_deleted_ = 0;
  std::uint64_t counted_occupied_ = 0;
  std::uint64_t deleted_entries_ = 0;
  std::uint64_t occupied_entries_ = 0;
};

}  // namespace falafel::engine
