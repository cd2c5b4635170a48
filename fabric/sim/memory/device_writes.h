// A device writes the memory of its host; the processors see it at once, and fibers that wait for a
// word wake up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fabric/sim/run/world.h"

namespace falafel::sim {

inline void put_bytes(World& world, std::byte* to, const std::byte* from,
                      std::uint64_t length_bytes) {
  if (!world.late_words.empty()) world.late_words.forget(to, length_bytes);
  std::memcpy(to, from, length_bytes);
  world.word_waits.wake(to, length_bytes);
}

inline void put_word(World& world, std::byte* to, std::uint64_t word) {
  put_bytes(world, to, reinterpret_cast<const std::byte*>(&word), sizeof word);
}

}  // namespace falafel::sim
