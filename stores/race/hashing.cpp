#include "stores/race/hashing.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace falafel::race {

KeyHash hash_of(std::span<const std::byte> key, std::uint64_t seed) {
  constexpr std::uint64_t distance = 0x9e37'79b9'7f4a'7c15;
  return {.first = XXH3_64bits_withSeed(key.data(), key.size(), seed),
          .second = XXH3_64bits_withSeed(key.data(), key.size(), seed + distance)};
}

}  // namespace falafel::race
