// The tables in use, as the status line states them. A store begins with table 0. While the table
// grows, the first table in use differs from the last; all keys are in these tables and the ones
// between.
#pragma once

#include <bit>
#include <cstdint>

namespace falafel::engine {

struct Tables {
  std::uint32_t first = 0;
  std::uint32_t last = 0;

  static Tables from_word(std::uint64_t word) { return std::bit_cast<Tables>(word); }
  std::uint64_t word() const { return std::bit_cast<std::uint64_t>(*this); }
  bool are_growing() const { return first < last; }

  friend bool operator==(const Tables&, const Tables&) = default;
};
static_assert(sizeof(Tables) == sizeof(std::uint64_t));

}  // namespace falafel::engine
