// Memory is not used again while somebody may look at it: no READ of a container takes words from memory
// that was given free since the entry that led there was read. The checksum would often notice, and the
// operation start over; that memory waits for its readers is what this asks (Behringer 3.6.1, epochs).
//
// Each region and each mature space has a ghost incarnation: the moment at which it was given free last.
// Property: "reclamation.read-of-freed-memory".
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "checkers/judgement.h"
#include "engine/layout/geometry.h"
#include "engine/layout/inspection.h"

namespace falafel::checkers {

// The same, as operations see it: how often a container failed its checksum under one of them. None does
// while memory waits for its readers. Property: "reclamation.bad-checksum".
Judgement check_bad_checksums(std::uint64_t count);

class ReclaimedMemory {
 public:
  using Reader = std::uint32_t;                             // who executes one operation at a time
  using Request = std::pair<std::uint32_t, std::uint64_t>;  // a queue pair, a place in its queue

  explicit ReclaimedMemory(const engine::Geometry& geometry)
      : geometry_(geometry), regions_(geometry.region_count) {}

  // The server's books, whenever they may have changed.
  void on_books(std::span<const engine::RegionInspection> regions,
                std::span<const engine::MatureSpaceInspection> mature_spaces);
  void on_operation_called(Reader reader);
  // A reader asks for that memory. It is judged if an entry led there, or an earlier READ ended there.
  void on_read_posted(Reader reader, Request request, std::uint64_t offset,
                      std::uint64_t length_bytes);
  // A request finds an entry that points to the container at `offset`.
  void on_entry_read(Request request, std::uint64_t offset);
  // A request takes words from memory.
  void on_words_taken(Request request, std::uint64_t offset, std::uint64_t step);
  // Nobody looks any more at what the operation's requests may still bring.
  void on_operation_over(Reader reader);
  // The server has died: all its memory is gone.
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
    std::uint64_t container = 0;  // its offset; 0: what it reads is no container
    Moment entry_read = 0;
  };
  struct OfReader {
    std::map<std::uint64_t, Moment> entries;  // when they were read, by the container's offset
    std::map<std::uint64_t, Read> read_ends;  // by the offset behind what was asked for
  };

  Moment freed_at(std::uint64_t offset) const;

  const engine::Geometry& geometry_;
  Moment now_ = 1;
  std::vector<RegionGhost> regions_;
  std::array<SpaceGhost, engine::mature_space_count> spaces_{};
  std::map<Reader, OfReader> readers_;
  std::map<Request, Read> reads_;
  Judgement judgement_{.verdict = Verdict::holds, .property = "reclamation", .explanation = {}};
};

}  // namespace falafel::checkers
