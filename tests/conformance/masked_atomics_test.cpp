// Masked atomics, on devices that have them: they compare and change a part of a word.
#include <cstdint>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(MaskedAtomicsTest);

WorkRequest masked_swap(const Peer& peer, std::uint64_t remote_offset, std::uint64_t expected,
                        std::uint64_t desired, std::uint64_t compare_mask,
                        std::uint64_t swap_mask) {
  WorkRequest request = peer.compare_and_swap(64, remote_offset, expected, desired);
  request.opcode = Opcode::masked_compare_and_swap;
  request.compare_mask = compare_mask;
  request.swap_mask = swap_mask;
  return request;
}

WorkRequest masked_add(const Peer& peer, std::uint64_t remote_offset, std::uint64_t addend,
                       std::uint64_t field_boundaries) {
  WorkRequest request = peer.fetch_and_add(64, remote_offset, addend);
  request.opcode = Opcode::masked_fetch_and_add;
  request.field_boundaries = field_boundaries;
  return request;
}

constexpr std::uint64_t low_half = 0xffff'ffff;
constexpr std::uint64_t high_half = ~low_half;

TEST_P(MaskedAtomicsTest, AreRefusedWhereTheDeviceLacksThem) {
  if (capabilities().masked_atomics) GTEST_SKIP();
  run_pairs({}, [](Peer& client) {
    EXPECT_EQ(error_of_posting(client, masked_swap(client, 0, 0, 1, low_half, low_half)),
              ErrorCode::unsupported);
    EXPECT_EQ(error_of_posting(client, masked_add(client, 0, 1, 0)), ErrorCode::unsupported);
    EXPECT_EQ(client.fetch_word(0), 0U);
  });
}

TEST_P(MaskedAtomicsTest, SwapComparesOneHalfAndReplacesTheOther) {
  if (!capabilities().masked_atomics) GTEST_SKIP();
  run_pairs({}, [](Peer& client) {
    client.succeed(client.fetch_and_add(64, 8, 0x1111'1111'0000'0007));
    client.succeed(masked_swap(client, 8, 7, 0x2222'2222'3333'3333, low_half, high_half));
    EXPECT_EQ(client.block().load(64), 0x1111'1111'0000'0007U);
    EXPECT_EQ(client.fetch_word(8), 0x2222'2222'0000'0007U);
    client.succeed(masked_swap(client, 8, 8, 0, low_half, high_half));
    EXPECT_EQ(client.block().load(64), 0x2222'2222'0000'0007U);
    EXPECT_EQ(client.fetch_word(8), 0x2222'2222'0000'0007U) << "it did not match";
    client.succeed(masked_swap(client, 8, 0, 0xf, 0, 0x8));
    EXPECT_EQ(client.fetch_word(8), 0x2222'2222'0000'000fU) << "without a comparison";
    EXPECT_EQ(client.fetch_word(0), 0U);
    EXPECT_EQ(client.fetch_word(16), 0U);
  });
}

TEST_P(MaskedAtomicsTest, AddKeepsCarriesWithinTheFields) {
  if (!capabilities().masked_atomics) GTEST_SKIP();
  run_pairs({}, [](Peer& client) {
    constexpr std::uint64_t halves = 0x8000'0000'8000'0000;
    client.succeed(masked_add(client, 0, 0x0000'0001'ffff'ffff, halves));
    client.succeed(masked_add(client, 0, 0x0000'0001'0000'0002, halves));
    EXPECT_EQ(client.block().load(64), 0x0000'0001'ffff'ffffU);
    EXPECT_EQ(client.fetch_word(0), 0x0000'0002'0000'0001U);
    client.succeed(masked_add(client, 0, 0xffff'ffff, 0));
    EXPECT_EQ(client.fetch_word(0), 0x0000'0003'0000'0000U) << "one field";
  });
}

// Each client counts in its own field of one word, some with plain and some with masked atomics.
TEST_P(MaskedAtomicsTest, AreAtomicAgainstOtherAtomics) {
  if (!capabilities().masked_atomics) GTEST_SKIP();
  constexpr std::uint64_t rounds = 5;
  run_pairs(
      {.client_count = 3},
      [](Peer& client) {
        const std::uint32_t shift = 16 * client.index;
        const std::uint64_t field = std::uint64_t{0xffff} << shift;
        for (std::uint64_t round = 0; round < rounds; ++round) {
          if (client.index == 0) {
            client.succeed(client.fetch_and_add(64, 0, 1));
          } else if (client.index == 1) {
            client.succeed(masked_add(client, 0, std::uint64_t{1} << shift, field & ~(field >> 1)));
          } else {
            client.succeed(
                masked_swap(client, 0, round << shift, (round + 1) << shift, field, field));
            EXPECT_EQ(client.block().load(64) & field, round << shift);
          }
        }
      },
      nothing,
      [](Site& site, Memory& memory) {
        constexpr std::uint64_t expected = rounds | rounds << 16 | rounds << 32;
        EXPECT_TRUE(wait_until(site.host, [&] { return memory.block->load(0) == expected; }))
            << std::hex << memory.block->load(0);
      });
}

TEST_P(MaskedAtomicsTest, FollowTheRulesOfAtomics) {
  if (!capabilities().masked_atomics) GTEST_SKIP();
  run_pairs({.access = {.local_write = true, .remote_read = true, .remote_write = true}},
            [](Peer& client) {
              WorkRequest request = masked_swap(client, 4, 0, 1, low_half, low_half);
              EXPECT_EQ(error_of_posting(client, request), ErrorCode::invalid_argument);
              request.remote.offset = 8;
              request.length_bytes = 4;
              EXPECT_EQ(error_of_posting(client, request), ErrorCode::invalid_argument);
              request.length_bytes = 8;
              EXPECT_EQ(client.execute(request).status, CompletionStatus::remote_access_error);
            });
}

}  // namespace
}  // namespace falafel::conformance
