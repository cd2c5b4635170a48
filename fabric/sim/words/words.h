// Aligned words of memory, in the byte order of the processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace falafel::sim {

inline std::uint64_t load_word(const std::byte* address) {
  std::uint64_t word = 0;
  std::memcpy(&word, address, sizeof word);
  return word;
}

}  // namespace falafel::sim
