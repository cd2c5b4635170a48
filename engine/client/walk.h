// The words of a collision chain, read chunk by chunk from a key's home slot on, round the table's end,
// and read again to know that its slots had these keys at the same time (double collect).
//
// The words of one READ are sampled at different times. Every change of an entry makes a word that was
// not there before, so if a second reading, begun after the first was complete, finds the same words,
// then all of them stood there together in between.
//
// A key that others overwrite for ever gives its slot another word for ever. A walk that has started over for
// that asks more precisely: it reads the server's counter of rebindings before the first reading and after
// the second one. If it is the same even number, no cleanup has bound a slot to another key in between, and
// nobody else does; so a slot that is occupied at both readings has had the same key all the time, and may
// have another word (docs/protocol.md, "Double collect").
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/client/operation.h"
#include "engine/layout/entry.h"

namespace falafel::engine {

class Walk {
 public:
  // What the two readings are compared by.
  enum class By : std::uint8_t { words, keys };
  Walk(Operation& operation, std::uint64_t home, By by);

  // The next words, as far as one chunk reaches. Waits. False if the connection is broken.
  bool read_chunk();
  // Words of the last chunk: their number and how many of them precede the first empty or locked one.
  std::uint64_t chunk_entries() const { return words_.size() - chunk_begin_; }
  std::uint64_t occupied_entries() const;
  Entry entry(std::uint64_t index) const { return words_[chunk_begin_ + index]; }
  std::uint64_t slot(std::uint64_t index) const;

  // Without bounded walks, there is always a next slot.
  bool covers_table() const;
  // Of all words so far.
  bool has_deleted() const;
  // The entry at `index` of the last chunk is the home slot's.
  bool is_home(std::uint64_t index) const { return chunk_begin_ + index == 0; }

  // The second reading of the words up to and including `index` of the last chunk. To save a round trip
  // its request may travel with those for containers: if the walk is so short that one does.
  std::optional<fabric::WorkRequest> second_reading(std::uint64_t index);
  // After second_reading was executed.
  void compare_second_reading(std::uint64_t index) { compare(0, index + 1); }

  // Cleaning: slots have changed, and a cleanup was at work when the walk began.
  enum class Validation : std::uint8_t { unchanged, changed, cleaning, disconnected };
  // Uses the second reading if there was one; waits otherwise.
  Validation validate(std::uint64_t index);

 private:
  std::uint64_t around(std::uint64_t slot) const;  // where a slot beyond the table's end is
  // Of the words from `position` on, whose second reading has just been executed.
  void compare(std::uint64_t position, std::uint64_t count);
  Validation validate_keys();

  Operation& operation_;
  std::uint64_t home_;
  std::uint64_t table_entries_;
  std::vector<Entry>& words_;  // from the home slot on
  By by_;
  std::uint64_t rebindings_ = 0;  // before the first reading, if keys are compared
  std::uint64_t chunk_begin_ = 0;
  // What the second reading found: the worst of its words.
  enum class Second : std::uint8_t { same_words, same_if_not_rebound, different };
  std::optional<Second> second_;
};

}  // namespace falafel::engine
