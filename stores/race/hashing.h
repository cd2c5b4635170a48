// The hashes of a key: the subtable, the two combined buckets in it, and the fingerprint.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace falafel::race {

// The bits that tell subtables apart are the last ones of the first hash, its fingerprint the first
// ones, and the two choices are independent of both.
struct KeyHash {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  std::uint64_t suffix(std::uint64_t depth) const {
    return first & ((std::uint64_t{1} << depth) - 1);
  }
  std::uint64_t fingerprint(std::uint32_t bits) const {
    return bits == 0 ? 0 : first >> (64 - bits);
  }
  std::array<std::uint64_t, 2> choices(std::uint64_t combined_buckets) const {
    return {(first >> 16 & 0xff'ffff'ffff) % combined_buckets, second % combined_buckets};
  }
};

KeyHash hash_of(std::span<const std::byte> key, std::uint64_t seed);

}  // namespace falafel::race
