// Common definitions of the litmus tests: sizes, words in memory, and results that must be values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "fabric/assert.h"
#include "fabric/error.h"
#include "fabric/work_request.h"

namespace falafel::litmus {

// Smaller than any device's: a transfer of several packets has few words, and so few orders in
// which they can be placed.
inline constexpr std::uint64_t small_mtu_bytes = 16;
inline constexpr std::uint64_t packet_words = small_mtu_bytes / fabric::word_bytes;
inline constexpr std::uint64_t most_yields = 8;  // before a scripted fault occurs

template <typename Value>
Value must(fabric::Result<Value> result) {
  FALAFEL_ASSERT(result.has_value(), "{}: {}", fabric::to_string(result.error().code),
                 result.error().detail);
  if constexpr (!std::is_void_v<Value>) return std::move(*result);
}

inline std::uint64_t word_of(std::span<const std::byte> bytes, std::uint64_t word) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.subspan(word * fabric::word_bytes, fabric::word_bytes).data(),
              fabric::word_bytes);
  return value;
}

inline void set_word(std::span<std::byte> bytes, std::uint64_t word, std::uint64_t value) {
  std::memcpy(bytes.subspan(word * fabric::word_bytes, fabric::word_bytes).data(), &value,
              fabric::word_bytes);
}

}  // namespace falafel::litmus
