// Reads the words of a collision chain chunk by chunk, from a key's home slot and around the end of
// the table. Reads them a second time to verify that the slots had these keys at the same time
// (double collect).
//
// One READ samples its words at different times. Every change of an entry creates a word that was
// not there before. If a second pass that starts after the end of the first finds the same words,
// all of them were present together in between.
//
// A key that others overwrite continuously changes its slot's word continuously. A walk that
// restarted for this reason therefore compares keys instead of words. It reads the server's counter
// of rebindings before the first pass and after the second. If both values are equal and even, no
// cleanup bound a slot to another key in between, and only cleanups do so. A slot that was occupied
// in both passes then had the same key throughout, even if its word changed (docs/protocol.md,
// "Double collect").
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/client/pending_operation.h"
#include "engine/layout/entry.h"

namespace falafel::engine {

class Walk {
 public:
  // The basis on which the two passes are compared.
  enum class By : std::uint8_t { words, keys };
  Walk(PendingOperation& operation, std::uint64_t home, By by);

  // Reads the words of the next chunk. Waits. Returns false if the connection is broken.
  bool read_chunk();
  // The number of words in the last chunk, and how many of them precede the first empty or locked
  // one.
  std::uint64_t chunk_entries() const { return words_.size() - chunk_begin_; }
  std::uint64_t occupied_entries() const;
  Entry entry(std::uint64_t index) const { return words_[chunk_begin_ + index]; }
  std::uint64_t slot(std::uint64_t index) const;

  // Without bounded walks, there is always a next slot.
  bool covers_table() const;
  // Considers all words of both passes so far.
  bool has_deleted() const;
  // Returns whether the entry at `index` of the last chunk is in the home slot.
  bool is_home(std::uint64_t index) const { return chunk_begin_ + index == 0; }

  // The request for the second pass over the words up to and including `index` of the last chunk.
  // It may share a round trip with requests for containers. Returns nullopt if the walk is too long
  // for a single request.
  std::optional<fabric::WorkRequest> second_reading(std::uint64_t index);
  // Call after the request from second_reading() has completed.
  void compare_second_reading(std::uint64_t index) { compare(0, index + 1); }

  // Cleaning: slots have changed, and a cleanup was in progress when the walk began. Too long: see
  // PendingOperation::has_walked_too_long().
  enum class Validation : std::uint8_t { unchanged, changed, cleaning, disconnected, too_long };
  // Uses the result of second_reading() if there is one; otherwise reads and waits.
  Validation validate(std::uint64_t index);

 private:
  std::uint64_t around(std::uint64_t slot) const;  // wraps a slot beyond the end of the table
  // Compares the words from `position` on, whose second read has just completed.
  void compare(std::uint64_t position, std::uint64_t count);
  Validation validate_keys();

  PendingOperation& operation_;
  std::uint64_t home_;
  std::uint64_t table_entries_;
  std::vector<Entry>& words_;  // starting at the home slot
  By by_;
  std::uint64_t rebindings_ = 0;  // before the first pass, if keys are compared
  std::uint64_t chunk_begin_ = 0;
  // The result of the second pass: that of its worst word.
  enum class Second : std::uint8_t { same_words, same_if_not_rebound, different };
  std::optional<Second> second_;
  bool second_has_deleted_ = false;
};

}  // namespace falafel::engine
