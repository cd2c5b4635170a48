#include "fabric/masked_atomics.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "fabric/random.h"

namespace falafel::fabric {
namespace {

// Adds bit by bit, as the description of the operation does.
std::uint64_t add_bit_by_bit(std::uint64_t word, std::uint64_t addend, std::uint64_t boundaries) {
  std::uint64_t sum = 0;
  unsigned carry = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    const auto at = [bit](std::uint64_t bits) { return static_cast<unsigned>(bits >> bit & 1U); };
    const unsigned ones = at(word) + at(addend) + carry;
    sum |= std::uint64_t{ones & 1U} << bit;
    carry = at(boundaries) != 0 ? 0 : ones >> 1U;
  }
  return sum;
}

TEST(MaskedAtomics, FieldsAreAddedOneByOne) {
  EXPECT_EQ(add_fields(0x01ff, 0x0101, 0x8080), 0x0200U) << "the carry of the low byte is lost";
  EXPECT_EQ(add_fields(0x01ff, 0x0101, 0), 0x0300U);
  RandomGenerator random(1);
  for (int round = 0; round < 10'000; ++round) {
    const std::uint64_t word = random.next();
    const std::uint64_t addend = random.next();
    const std::uint64_t boundaries = random.next() & random.next();
    ASSERT_EQ(add_fields(word, addend, boundaries), add_bit_by_bit(word, addend, boundaries))
        << std::hex << word << " + " << addend << " in fields of " << boundaries;
  }
}

TEST(MaskedAtomics, SwapComparesAndReplacesDifferentBits) {
  const WorkRequest request{.opcode = Opcode::masked_compare_and_swap,
                            .compare = 0x12,
                            .swap_or_add = 0xabcd'0000,
                            .compare_mask = 0xff,
                            .swap_mask = 0xffff'0000};
  EXPECT_TRUE(writes_word(request, 0x7777'5512));
  EXPECT_EQ(word_after(request, 0x7777'5512), 0xabcd'5512U);
  EXPECT_FALSE(writes_word(request, 0x7777'5513));
  EXPECT_EQ(word_after(request, 0x7777'5513), 0x7777'5513U);
}

TEST(MaskedAtomics, WholeMasksAreThePlainOperations) {
  WorkRequest request{.opcode = Opcode::masked_compare_and_swap,
                      .compare = 5,
                      .swap_or_add = 9,
                      .compare_mask = ~std::uint64_t{0},
                      .swap_mask = ~std::uint64_t{0}};
  EXPECT_EQ(word_after(request, 5), 9U);
  EXPECT_EQ(word_after(request, 6), 6U);
  request.opcode = Opcode::masked_fetch_and_add;
  EXPECT_EQ(word_after(request, ~std::uint64_t{0}), 8U);
}

}  // namespace
}  // namespace falafel::fabric
