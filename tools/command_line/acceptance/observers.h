// The processor's part in litmus tests: it looks at memory while a peer changes it, and counts what
// it found. Each observer ends when the word at stop_offset is no longer zero.
#pragma once

#include <array>
#include <cstdint>

#include "fabric/fabric.h"

namespace falafel::acceptance {

inline constexpr std::uint64_t stop_offset = 0;

using Counts = std::array<std::uint64_t, 8>;

// Loads the later word, then the earlier one, again and again. The peer changes the earlier one to
// each stamp before the later one.
struct TwoWords {
  std::uint64_t looks = 0;
  std::uint64_t changes = 0;   // looks that found another later word than the one before
  std::uint64_t inverted = 0;  // looks that found the later word newer than the earlier one
  std::uint64_t torn = 0;      // looks that found a word that nobody wrote
};
TwoWords watch_two_words(fabric::Host& host, fabric::MemoryBlock& memory,
                         std::uint64_t earlier_offset, std::uint64_t later_offset,
                         bool later_counts_plainly);

// Takes messages, each with the stamp of its number, and then loads the word.
struct Messages {
  std::uint64_t messages = 0;
  std::uint64_t older_word = 0;    // messages after which the word was older than the message
  std::uint64_t out_of_order = 0;  // messages with another number than the next one
  std::uint64_t failed = 0;        // receives that did not succeed
};
struct MessageSource {
  fabric::QueuePair* queue_pair = nullptr;
  fabric::CompletionQueue* receives = nullptr;
  std::uint32_t local_key = 0;
  std::uint64_t buffer_offset = 0;
  std::uint64_t buffers = 0;  // of one word each, all posted
};
Messages watch_messages(fabric::Host& host, fabric::MemoryBlock& memory,
                        const MessageSource& source, std::uint64_t word_offset);

// Adds 1 to the word by compare-and-swap, again and again.
struct CountedUp {
  std::uint64_t additions = 0;
};
CountedUp count_up(fabric::Host& host, fabric::MemoryBlock& memory, std::uint64_t offset);

// Stores increasing numbers to the word, and looks whether they stay.
struct StoredUp {
  std::uint64_t stores = 0;
  std::uint64_t undone = 0;
};
StoredUp store_up(fabric::Host& host, fabric::MemoryBlock& memory, std::uint64_t offset);

}  // namespace falafel::acceptance
