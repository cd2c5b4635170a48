// The result of a measurement of a mature space.
#pragma once

#include <algorithm>
#include <cstdint>

namespace falafel::engine {

struct LiveSpace {
  std::uint64_t used_bytes = 0;     // when the measurement began
  std::uint64_t live_bytes = 0;     // of containers, in whole units
  std::uint64_t longest_bytes = 0;  // the longest of these containers

  void add(std::uint64_t container_bytes) {
    live_bytes += container_bytes;
    longest_bytes = std::max(longest_bytes, container_bytes);
  }
};

}  // namespace falafel::engine
