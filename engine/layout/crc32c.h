// CRC-32C (Castagnoli), computed with the processor's instruction if available.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace falafel::engine {

// Extends `checksum` by `bytes`. The checksum of no bytes is not zero, so zeroed memory never
// verifies.
inline constexpr std::uint32_t crc32c_seed = 0xffff'ffff;
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t checksum = crc32c_seed);

}  // namespace falafel::engine
