// Values of an adversary who knows that a store verifies by the CRC-64: all of one length have the
// same CRC, and each pair of words of one may take the place of the same pair of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/crc64.h"

namespace falafel::scenarios {

// The second word of a pair. A CRC is linear, so it cancels all that the first word changes.
inline std::vector<std::byte> cancelling_word(std::span<const std::byte> word) {
  const std::vector<std::byte> zeros(word.size());
  const std::uint64_t cancelling = stores::crc64(word) ^ stores::crc64(zeros);
  std::vector<std::byte> bytes(sizeof cancelling);
  std::memcpy(bytes.data(), &cancelling, sizeof cancelling);
  return bytes;
}

// `margin_bytes` blanks, then pairs of the word and the one that cancels it.
inline std::vector<std::byte> colliding_value(std::span<const std::byte> word, std::size_t pairs,
                                              std::size_t margin_bytes) {
  const std::vector<std::byte> second = cancelling_word(word);
  std::vector<std::byte> value(margin_bytes, std::byte{' '});
  for (; pairs > 0; --pairs) {
    value.insert(value.end(), word.begin(), word.end());
    value.insert(value.end(), second.begin(), second.end());
  }
  return value;
}

}  // namespace falafel::scenarios
