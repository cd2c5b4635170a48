// One split: half of the keys of a full subtable move to a new one, while other clients go on.
//
// The client requests memory for the new subtable, reserves all its slots, and puts it into the
// directory as prepared. It then changes all entries of both subtables, and the headers of the old
// one. It moves the slots one by one, each to the same place of the new subtable: it freezes the
// old slot, copies it, and clears it. Clients that see the split look into the old subtable first,
// and clients with an old directory notice the headers. An insert finds no room in the new subtable
// before slots move.
//
// All steps after the first are CASes, and none of their words occurs twice. So several clients may
// carry out the same split, and any of them may finish it.
#pragma once

#include <cstdint>
#include <span>

#include "stores/race/client_state.h"

namespace falafel::race {

class Split {
 public:
  // `client` outlives this object and is connected. `hash` is that of a key of the subtable.
  Split(ClientState& client, const KeyHash& hash) : client_(client), hash_(hash) {}

  enum class Outcome : std::uint8_t {
    done,
    in_progress,    // another client splits the subtable, or has just done it
    full,           // the directory has its largest depth
    out_of_memory,  // of the memory node
    broken,         // the connection is down; the split may stay unfinished
  };
  Outcome run();
  // Finishes a split that is in progress, if there is one. False: the connection is down.
  bool help();

 private:
  // A slot: its place from the start of both subtables, and the word in the old one.
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t word = 0;
  };
  using Action = bool (Split::*)(Place place);
  enum class Standing : std::uint8_t { stays, moves, changed, broken };

  bool find_split(DirectoryEntry& entry, DirectoryEntry& sibling);
  bool take_subtable();
  bool create_subtable();
  bool prepare(bool& is_prepared);
  bool finish();
  bool change_headers();
  bool advance_entries(EntryState state);
  bool advance(std::uint64_t index, const DirectoryEntry& before, const DirectoryEntry& after);
  bool raise_depth();
  bool for_each_slot(Action action);
  Standing judge(std::uint64_t word);
  bool remove_tentative(Place place);
  bool move(Place place);
  bool copy(Place& place, bool& is_moved);
  bool swap(std::uint64_t offset, std::uint64_t expected, std::uint64_t desired,
            std::uint64_t& found) {
    return client_.connection->swap(offset, expected, desired, found);
  }
  std::uint64_t step() const { return std::uint64_t{1} << depth_; }
  std::uint64_t header(std::uint64_t depth, std::uint64_t suffix) const;

  ClientState& client_;
  const KeyHash hash_;
  std::uint64_t depth_ = 0;   // before
  std::uint64_t suffix_ = 0;  // of the old subtable
  std::uint64_t old_ = 0;
  std::uint64_t new_ = 0;
};

}  // namespace falafel::race
