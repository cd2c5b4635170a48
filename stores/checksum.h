// The checksum by which bytes verify themselves: the CRC-64, or one that depends on a secret.
//
// A CRC finds accidents. Who chooses values can choose two of the same CRC, and even two of which
// every mixture has it, whatever the CRC's seed is: a CRC is linear. The keyed checksum is a
// polynomial of the bytes at a secret point, modulo 2^61 - 1. Who does not know the secret makes
// two contents of n words agree with a probability of at most 2n / 2^61.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace falafel::stores {

class Checksum {
 public:
  // The CRC-64.
  Checksum() = default;
  static Checksum keyed(std::uint64_t secret);

  std::uint64_t of(std::span<const std::byte> bytes) const;

 private:
  std::uint64_t point_ = 0;  // 0: the CRC-64
};

}  // namespace falafel::stores
