// The words of a collision chain, read chunk by chunk from a key's home slot on, round the table's end,
// and read again to know that they stood there at the same time (double collect).
//
// The words of one READ are sampled at different times. Every change of an entry makes a word that was
// not there before, so if a second reading, begun after the first was complete, finds the same words,
// then all of them stood there together in between.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/client/operation.h"
#include "engine/layout/entry.h"

namespace falafel::engine {

class Walk {
 public:
  Walk(Operation& operation, std::uint64_t home);

  // The next words, as far as one chunk reaches. Waits. False if the connection is broken.
  bool read_chunk();
  // Words of the last chunk: their number and how many of them precede the first empty or locked one.
  std::uint64_t chunk_entries() const { return words_.size() - chunk_begin_; }
  std::uint64_t occupied_entries() const;
  Entry entry(std::uint64_t index) const { return words_[chunk_begin_ + index]; }
  std::uint64_t slot(std::uint64_t index) const;

  // Without bounded walks, there is always a next slot.
  bool covers_table() const;
  // The entry at `index` of the last chunk is the home slot's.
  bool is_home(std::uint64_t index) const { return chunk_begin_ + index == 0; }

  // The second reading of the words up to and including `index` of the last chunk. To save a round trip
  // its request may travel with those for containers: if the walk is so short that one does.
  std::optional<fabric::WorkRequest> second_reading(std::uint64_t index);
  // After second_reading was executed.
  void compare_second_reading(std::uint64_t index);

  enum class Validation : std::uint8_t { unchanged, changed, disconnected };
  // Uses the second reading if there was one; waits otherwise.
  Validation validate(std::uint64_t index);

 private:
  std::uint64_t around(std::uint64_t slot) const;  // where a slot beyond the table's end is

  Operation& operation_;
  std::uint64_t home_;
  std::uint64_t table_entries_;
  std::vector<Entry>& words_;  // from the home slot on
  std::uint64_t chunk_begin_ = 0;
  std::optional<bool> unchanged_;  // by the second reading
};

}  // namespace falafel::engine
