// Copies bytes as a block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace falafel::engine {

// `destination` must have enough room, and the ranges must not overlap. The standard alternative,
// std::ranges::copy in GCC 12, copies byte by byte from a constant source.
inline void copy_bytes(std::span<const std::byte> source, std::byte* destination) {
  std::copy_n(source.data(), source.size(), destination);
}

}  // namespace falafel::engine
