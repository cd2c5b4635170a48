// The slots that a search for a key passes, from the key's home slot in the first table in use on.
// The caller loads the entry of each slot and passes it. Behind a frozen entry, and at the end of a
// whole table, the search goes on in the next table. It is over behind an empty entry, and at the
// end of the last table.
#pragma once

#include <cstdint>

#include "engine/server/chunk.h"

namespace falafel::engine {

class Chain {
 public:
  Chain(const Chunk& chunk, std::uint64_t hash, std::uint32_t table)
      : chunk_(chunk), hash_(hash), table_(table), home_(home()) {}

  bool is_over() const { return is_over_; }
  std::uint64_t slot() const {
    return geometry().first_slot(table_) + (home_ + distance_) % geometry().entries_of(table_);
  }
  std::uint32_t table() const { return table_; }

  // `entry` is that of the slot.
  void pass(Entry entry) {
    const bool has_next_table = table_ < chunk_.tables.last;
    if (!entry.is_empty() && distance_ + 1 < geometry().entries_of(table_)) {
      ++distance_;
    } else if (has_next_table && (!entry.is_empty() || entry.is_frozen())) {
      ++table_;
      home_ = home();
      distance_ = 0;
    } else {
      is_over_ = true;
    }
  }

 private:
  const Geometry& geometry() const { return chunk_.geometry; }
  std::uint64_t home() const { return hash_ % geometry().entries_of(table_); }

  const Chunk& chunk_;
  std::uint64_t hash_;
  std::uint32_t table_;
  std::uint64_t home_;
  std::uint64_t distance_ = 0;
  bool is_over_ = false;
};

}  // namespace falafel::engine
