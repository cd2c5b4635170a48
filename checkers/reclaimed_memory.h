// Memory is not reused while a reader may still access it: no READ of a container returns words
// from memory that was freed after the reader read the entry that led there. The checksum would
// usually detect this and the operation would restart. This checker requires more: freeing waits
// for readers (Behringer 3.6.1, epochs).
//
// Each region and each mature space has a ghost incarnation: the moment at which it was last freed.
// Property: "reclamation.read-of-freed-memory".
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "checkers/judgement.h"
#include "engine/layout/geometry.h"
#include "engine/layout/inspection.h"

namespace falafel::checkers {

// The same property as operations observe it: `count` is how often a container failed its checksum
// during an operation. The count is zero if freeing waits for readers. Property:
// "reclamation.bad-checksum".
Judgement check_bad_checksums(std::uint64_t count);

class ReclaimedMemory {
 public:
  using Reader = std::uint32_t;                             // executes one operation at a time
  using Request = std::pair<std::uint32_t, std::uint64_t>;  // queue pair, position in its queue

  explicit ReclaimedMemory(const engine::Geometry& geometry)
      : geometry_(geometry),
        regions_(geometry.region_count),
        spaces_(geometry.mature_space_count) {}

  // Call with the server's bookkeeping whenever it may have changed.
  void on_books(std::span<const engine::RegionInspection> regions,
                std::span<const engine::MatureSpaceInspection> mature_spaces);
  void on_operation_called(Reader reader);
  // A reader posts a READ. The READ is judged if it starts where an entry points or where an
  // earlier READ ended.
  void on_read_posted(Reader reader, Request request, std::uint64_t offset,
                      std::uint64_t length_bytes);
  // A request read an entry that points to the container at `offset`.
  void on_entry_read(Request request, std::uint64_t offset);
  // A request read words from memory.
  void on_words_taken(Request request, std::uint64_t offset, std::uint64_t step);
  // The operation is over; results of its remaining requests are ignored.
  void on_operation_over(Reader reader);
  // The server crashed and lost its memory.
  void on_restart();

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  using Moment = std::uint64_t;
  struct RegionGhost {
    engine::RegionInspection seen;
    Moment freed = 0;
  };
  struct SpaceGhost {
    bool in_use = false;
    Moment freed = 0;
  };
  struct Read {
    Reader reader = 0;
    std::uint64_t container = 0;  // offset of the container; 0: the READ is not of a container
    Moment entry_read = 0;
  };
  struct OfReader {
    // time at which each entry was read, by container offset
    std::map<std::uint64_t, Moment> entries;
    std::map<std::uint64_t, Read> read_ends;  // by the offset behind the requested range
  };

  Moment freed_at(std::uint64_t offset) const;

  const engine::Geometry& geometry_;
  Moment now_ = 1;
  std::vector<RegionGhost> regions_;
  std::vector<SpaceGhost> spaces_;
  std::map<Reader, OfReader> readers_;
  std::map<Request, Read> reads_;
  Judgement judgement_{.verdict = Verdict::holds, .property = "reclamation", .explanation = {}};
};

}  // namespace falafel::checkers
