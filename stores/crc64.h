// The checksum of stores that verify what clients READ: CRC-64 of the polynomial ECMA-182, with a
// seed other than zero, so that zeroed memory never verifies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace falafel::stores {

inline constexpr std::uint64_t crc64_seed = 0x5049'4c41'4643'5243;
std::uint64_t crc64(std::span<const std::byte> bytes);

}  // namespace falafel::stores
