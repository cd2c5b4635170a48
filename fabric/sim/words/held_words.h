// The words that atomics of one device hold: an atomic holds its word between its read and its
// write. The device finishes that atomic before it starts another one on the word; other accesses
// ignore the hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/assert.h"
#include "fabric/work_request.h"

namespace falafel::sim {

// The queue pair of an atomic that holds a word.
class WordHolder {
 public:
  // Writes the word.
  virtual void leave_gap(const std::byte* word) = 0;

 protected:
  ~WordHolder() = default;
};

class HeldWords {
 public:
  void hold(const std::byte* word, WordHolder& holder) {
    FALAFEL_ASSERT(holder_of(word) == nullptr, "two atomics of one device hold a word");
    held_words_.push_back({word, &holder});
  }
  void release(const std::byte* word) {
    FALAFEL_ASSERT(holder_of(word) != nullptr, "an atomic releases a word that it does not hold");
    std::erase_if(held_words_, [word](const HeldWord& held) { return held.word == word; });
  }
  bool holds_any_of(const std::byte* begin, std::uint64_t length_bytes) const {
    for (const HeldWord& held : held_words_) {
      if (held.word < begin + length_bytes && begin < held.word + fabric::word_bytes) return true;
    }
    return false;
  }
  // Null if nobody holds it.
  WordHolder* holder_of(const std::byte* word) const {
    for (const HeldWord& held : held_words_) {
      if (held.word == word) return held.holder;
    }
    return nullptr;
  }

 private:
  struct HeldWord {
    const std::byte* word;
    WordHolder* holder;
  };

  std::vector<HeldWord> held_words_;
};

}  // namespace falafel::sim
