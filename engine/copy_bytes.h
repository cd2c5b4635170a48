// Copies bytes as a block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace falafel::engine {

// `destination` has room for them; they do not overlap. The std::ranges::copy of GCC 12 would take the bytes of
// a constant source one by one.
inline void copy_bytes(std::span<const std::byte> source, std::byte* destination) {
  std::copy_n(source.data(), source.size(), destination);
}

}  // namespace falafel::engine
