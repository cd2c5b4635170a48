// Reads the words of a collision chain chunk by chunk, from a key's home slot and around the end of
// the table. Behind a frozen entry, and behind a whole table while there is a later one, the chain
// goes on at the key's home slot in the next table (docs/protocol.md, "A table that grows"). Reads
// them a second time to verify that the slots had these keys at the same time (double collect).
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
  // Begins in the first table in use. `hash` is that of the key.
  Walk(PendingOperation& operation, std::uint64_t hash, By by);

  // Reads the words of the next chunk. Waits. Returns false if the connection is broken.
  bool read_chunk();
  // Returns whether the entry at `index` of the last chunk is frozen, so that the chain goes on in
  // the next table.
  bool is_frozen(std::uint64_t index) const;
  // The next chunk is to be the first one of the next table, whose number is read together with it.
  // The entry at `index` of the last chunk is the last one here. Returns false if there is no room
  // for another table: then no server has frozen the entry.
  bool go_on_behind(std::uint64_t index);
  // The walk has covered the last table that this client knows. Finds out if there is a later one.
  // Waits. Returns false if the connection is broken.
  bool look_for_next_table();
  bool has_next_table() const { return segment_.table < operation_.session().tables().last; }
  // Returns whether the last chunk is in a table that the server has not begun.
  bool is_beyond_tables() const { return segment_.table > operation_.session().tables().last; }
  bool is_in_first_segment() const { return earlier_.empty(); }
  // The number of words in the last chunk, and how many of them precede the first empty or locked
  // one.
  std::uint64_t chunk_entries() const { return words_.size() - chunk_begin_; }
  std::uint64_t occupied_entries() const;
  Entry entry(std::uint64_t index) const { return words_[chunk_begin_ + index]; }
  std::uint64_t slot(std::uint64_t index) const;

  // All slots of the present table. Without bounded walks, there is always a next slot.
  bool covers_table() const;
  // Considers all words of both passes so far that are in the present table.
  bool has_deleted() const;
  // Returns whether the entry at `index` of the last chunk is in the home slot, behind nothing but
  // entries that never change again: frozen ones, and those without a key if the cleanup had left
  // their table before they were read.
  bool is_home(std::uint64_t index) const;
  // Returns whether the word says that its container has no key. Only in a store whose table can
  // grow, because a table from which the keys have moved consists of such words.
  bool has_no_key(Entry word) const;

  // Adds the requests for the second pass over the words up to and including `index` of the last
  // chunk. They may share a round trip with requests for containers. Returns false if the walk is
  // too long for one request in each table.
  bool add_second_reading(std::uint64_t index, std::vector<fabric::WorkRequest>& chain);
  // Call after the requests from add_second_reading() have completed.
  void compare_second_reading(std::uint64_t index) { compare(0, chunk_begin_ + index + 1); }

  // Cleaning: slots have changed, and a cleanup was in progress when the walk began. Too long: see
  // PendingOperation::has_walked_too_long().
  enum class Validation : std::uint8_t { unchanged, changed, cleaning, disconnected, too_long };
  // Uses the result of add_second_reading() if there is one; otherwise reads and waits.
  Validation validate(std::uint64_t index);

 private:
  // The part of the walk that is in one table.
  struct Segment {
    std::uint32_t table = 0;
    std::uint64_t first_slot = 0;  // of the table
    std::uint64_t entries = 0;     // of the table
    std::uint64_t home = 0;        // of the key, counted from the first slot
    std::uint64_t begin = 0;       // position of its first word
    bool was_former = false;       // before it was read, the client knew of a later table

    // Counted from the first slot.
    std::uint64_t index_of(std::uint64_t position) const {
      const std::uint64_t index = home + position - begin;
      return index < entries ? index : index - entries;
    }
  };
  // Words of one table that one request can read.
  struct Piece {
    std::uint64_t slot = 0;
    std::uint64_t count = 0;
    bool ends_segment = false;
  };

  bool read_with_tables(const fabric::WorkRequest& request);
  Segment segment_in(std::uint32_t table, std::uint64_t begin) const;
  // The piece that begins at this position, of a walk up to `length`.
  Piece piece_at(std::uint64_t position, std::uint64_t length) const;
  std::uint64_t add_pieces(std::uint64_t position, std::uint64_t length,
                           std::vector<fabric::WorkRequest>& chain);
  // Compares the words from `position` on, whose second read has just completed.
  void compare(std::uint64_t position, std::uint64_t count);
  Validation validate_keys();

  PendingOperation& operation_;
  OperationBuffers& buffers_;
  std::uint64_t hash_;
  Segment segment_;                 // the last one
  std::vector<Segment> earlier_{};  // in tables before it
  bool reads_tables_ = false;       // with the next chunk
  std::vector<Entry>& words_;       // starting at the home slot in the first table in use
  By by_;
  std::uint64_t rebindings_ = 0;  // before the first pass, if keys are compared
  std::uint64_t chunk_begin_ = 0;
  // The result of the second pass: that of its worst word.
  enum class Second : std::uint8_t { same_words, same_if_not_rebound, different };
  std::optional<Second> second_;
  bool second_has_deleted_ = false;
};

}  // namespace falafel::engine
