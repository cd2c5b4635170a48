// The checksum that nobody can predict who does not know its secret.
#include "stores/checksum.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "fabric/text.h"
#include "stores/crc64.h"
#include "tools/scenarios/colliding_values.h"

namespace falafel::stores {
namespace {

TEST(Checksum, IsTheCrcWithoutASecret) {
  const std::vector<std::byte> bytes(24, std::byte{7});
  EXPECT_EQ(Checksum().of(bytes), crc64(bytes));
}

TEST(Checksum, DependsOnEveryByteTheLengthAndTheSecret) {
  std::set<std::uint64_t> sums;
  std::size_t contents = 0;
  for (const std::size_t size : {1U, 7U, 8U, 9U, 64U}) {
    for (const std::uint64_t secret : {0U, 1U, 2U}) {
      const Checksum checksum = Checksum::keyed(secret);
      std::vector<std::byte> bytes(size);
      sums.insert(checksum.of(bytes));
      ++contents;
      for (std::byte& byte : bytes) {
        byte = std::byte{0xff};
        sums.insert(checksum.of(bytes));
        byte = std::byte{0};
        ++contents;
      }
    }
  }
  EXPECT_EQ(sums.size(), contents);
  EXPECT_FALSE(sums.contains(0));
}

// All of them have the same CRC.
TEST(Checksum, TellsValuesApartThatAnAdversaryHasChosen) {
  std::set<std::uint64_t> crcs;
  std::set<std::uint64_t> sums;
  for (const char* const word : {"11111111", "22222222", "33333333", "44444444"}) {
    const auto value = scenarios::colliding_value(fabric::bytes_of(std::string_view(word)), 2, 0);
    crcs.insert(crc64(value));
    sums.insert(Checksum::keyed(1).of(value));
  }
  EXPECT_EQ(crcs.size(), 1U);
  EXPECT_EQ(sums.size(), 4U);
}

}  // namespace
}  // namespace falafel::stores
