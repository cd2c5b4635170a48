// The checksum that verifies stored entries.
#include "stores/crc64.h"

#include <gtest/gtest.h>

#include <vector>

namespace falafel::stores {
namespace {

TEST(Crc64, DependsOnEveryByteAndIsNeverZeroForZeros) {
  EXPECT_EQ(crc64({}), crc64_seed);
  for (const std::size_t size : {1U, 8U, 24U, 4'096U}) {
    std::vector<std::byte> bytes(size);
    const std::uint64_t of_zeros = crc64(bytes);
    EXPECT_NE(of_zeros, 0U);
    bytes.back() = std::byte{1};
    EXPECT_NE(crc64(bytes), of_zeros);
  }
}

}  // namespace
}  // namespace falafel::stores
