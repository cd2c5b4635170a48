// Words that tell which WRITE of a series they come from, and whether all of their bytes do.
#pragma once

#include <cstdint>
#include <optional>

namespace falafel::acceptance {

// Counts are below this.
inline constexpr std::uint32_t end_of_stamps = std::uint32_t{1} << 31U;

// A word that mixes the bytes of two consecutive stamps is no stamp, unless it equals one of them.
// The stamp of 0 is the word 0.
constexpr std::uint64_t stamp_of(std::uint32_t count) {
  const std::uint64_t word = std::uint64_t{count} << 32U | count;
  return count % 2 == 0 ? word : ~word;
}

// nullopt: the word is a mixture.
constexpr std::optional<std::uint32_t> count_of(std::uint64_t word) {
  for (const std::uint64_t plain : {word, ~word}) {
    const auto count = static_cast<std::uint32_t>(plain);
    if (count < end_of_stamps && stamp_of(count) == word) return count;
  }
  return std::nullopt;
}

}  // namespace falafel::acceptance
