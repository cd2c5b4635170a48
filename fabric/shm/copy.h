// Copies bytes that others may access at the same time. An aligned word is copied by one access of
// the processor, everything else byte by byte. All accesses are atomic, so there is no data race.
// They acquire and release, so whoever sees a word also sees what was written before it: words are
// placed and sampled in address order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace falafel::shm {

inline constexpr std::size_t word_bytes = 8;

inline std::atomic_ref<std::uint64_t> word_at(std::byte* address) {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(address));
}
inline std::uint64_t load_word(std::byte* address) {
  return word_at(address).load(std::memory_order_acquire);
}
inline void store_word(std::byte* address, std::uint64_t value) {
  word_at(address).store(value, std::memory_order_release);
}

inline std::size_t beyond_word(const std::byte* address) {
  return reinterpret_cast<std::uintptr_t>(address) % word_bytes;
}

inline void copy_bytes(std::byte* destination, std::byte* source, std::size_t length) {
  const auto byte_at = [](std::byte* address) {
    return std::atomic_ref<unsigned char>(*reinterpret_cast<unsigned char*>(address));
  };
  for (std::size_t position = 0; position < length; ++position) {
    byte_at(destination + position)
        .store(byte_at(source + position).load(std::memory_order_acquire),
               std::memory_order_release);
  }
}

// The side whose aligned words must be copied whole: the memory of the responder.
enum class WholeWords : bool { of_source, of_destination };

// Every twentieth instruction of a GET is in this loop, even though it is unrolled.
inline void copy_words(std::byte* destination, std::byte* source, std::size_t words) {
#pragma GCC unroll 8
  for (std::size_t index = 0; index < words; ++index) {
    store_word(destination + index * word_bytes, load_word(source + index * word_bytes));
  }
}

// For sides whose words are aligned differently: assembles, or takes apart, the words of the other
// side.
inline void copy_displaced(std::byte* destination, std::byte* source, std::size_t words,
                           WholeWords whole) {
  alignas(word_bytes) std::byte word[word_bytes];
  for (std::size_t index = 0; index < words; ++index) {
    std::byte* const to = destination + index * word_bytes;
    std::byte* const from = source + index * word_bytes;
    if (whole == WholeWords::of_source) {
      store_word(word, load_word(from));
      copy_bytes(to, word, word_bytes);
    } else {
      copy_bytes(word, from, word_bytes);
      store_word(to, load_word(word));
    }
  }
}

inline void copy_with_parts_of_words(std::byte* destination, std::byte* source, std::size_t length,
                                     WholeWords whole) {
  const std::size_t beyond = beyond_word(whole == WholeWords::of_source ? source : destination);
  const std::size_t head =
      beyond == 0 ? 0 : (length < word_bytes - beyond ? length : word_bytes - beyond);
  copy_bytes(destination, source, head);
  destination += head;
  source += head;
  const std::size_t words = (length - head) / word_bytes;
  if (beyond_word(destination) == beyond_word(source)) {
    copy_words(destination, source, words);
  } else {
    copy_displaced(destination, source, words, whole);
  }
  const std::size_t moved = words * word_bytes;
  copy_bytes(destination + moved, source + moved, length - head - moved);
}

inline void copy_shared(std::byte* destination, std::byte* source, std::size_t length,
                        WholeWords whole) {
  const bool are_words =
      beyond_word(destination) == 0 && beyond_word(source) == 0 && length % word_bytes == 0;
  if (are_words) return copy_words(destination, source, length / word_bytes);
  copy_with_parts_of_words(destination, source, length, whole);
}

}  // namespace falafel::shm
