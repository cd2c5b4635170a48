// References: which bits of an entry say where its container is, which key it may have, and how
// long it is.
#include "engine/layout/references.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <optional>

#include "engine/layout/container.h"
#include "engine/layout/geometry.h"

namespace falafel::engine {
namespace {

constexpr std::uint64_t all_hash_bits = ~std::uint64_t{0};

Geometry geometry_with(std::uint32_t fingerprint_bits, std::uint32_t size_class_bits) {
  return {.fingerprint_bits = fingerprint_bits, .size_class_bits = size_class_bits};
}

TEST(References, HaveTheFingerprintAboveTheSizeClassAboveTheOffset) {
  const Geometry geometry = geometry_with(8, 3);
  const std::uint64_t offset = geometry.region_offset(1);
  const std::uint64_t hash = 0xa500'0000'0000'0000;
  const std::uint32_t reference = References(geometry).to(offset, hash, 200);
  EXPECT_EQ(reference, 0xa500'0000U | 2U << 21 | static_cast<std::uint32_t>(offset / 8));
  EXPECT_EQ(geometry.to_offset(reference), offset);
}

TEST(References, OfStoresWithoutSpareBitsAreOffsets) {
  const Geometry geometry = geometry_with(0, 0);
  const std::uint64_t offset = geometry.region_offset(0);
  const std::uint32_t reference = References(geometry).to(offset, all_hash_bits, 10'000);
  EXPECT_EQ(reference, geometry.to_units(offset));
  const Entry entry = Entry().pointing_to(reference);
  EXPECT_TRUE(References(geometry).may_have_key(entry, 0));
  EXPECT_FALSE(References(geometry).most_bytes(entry));
}

RC_GTEST_PROP(References, TellFingerprintAndLengthWhateverTheFlagsAndTheTag,
              (std::uint64_t word, std::uint64_t hash, std::uint64_t other_hash)) {
  const auto fingerprint_bits = *rc::gen::inRange(0U, most_fingerprint_bits + 1);
  const auto size_class_bits = *rc::gen::inRange(0U, most_size_class_bits + 1);
  const Geometry geometry = geometry_with(fingerprint_bits, size_class_bits);
  const References references(geometry);
  const std::uint64_t units = *rc::gen::inRange<std::uint64_t>(1, geometry.chunk_bytes() / 8);
  const auto length_bytes = *rc::gen::inRange<std::uint64_t>(25, 10'000);
  const Entry entry = Entry(word).moved_to(references.to(units * 8, hash, length_bytes));
  RC_ASSERT(geometry.to_offset(entry.reference()) == units * 8);
  RC_ASSERT(references.may_have_key(entry, hash));
  const bool same = fingerprint_bits == 0 || (hash ^ other_hash) >> (64 - fingerprint_bits) == 0;
  RC_ASSERT(references.may_have_key(entry, other_hash) == same);
  const auto most = references.most_bytes(entry);
  const std::uint64_t longest = std::uint64_t{64} << ((1U << size_class_bits) - 1);
  RC_ASSERT(most.has_value() == (size_class_bits > 0 && length_bytes * 2 <= longest));
  if (most) RC_ASSERT(*most >= length_bytes && (*most == 64 || *most < 2 * length_bytes));
}

TEST(References, ChangeTheClassBehindPowersOfTwo) {
  const Geometry geometry = geometry_with(0, 3);
  const References references(geometry);
  const auto most_bytes = [&](std::uint64_t length_bytes) {
    return references.most_bytes(Entry().pointing_to(references.to(1'024, 0, length_bytes)));
  };
  EXPECT_EQ(most_bytes(25), 64);
  EXPECT_EQ(most_bytes(64), 64);
  EXPECT_EQ(most_bytes(65), 128);
  EXPECT_EQ(most_bytes(4'096), 4'096);
  EXPECT_EQ(most_bytes(4'097), std::nullopt);
}

TEST(SpareBits, AreThoseThatOffsetsDoNotNeed) {
  struct Example {
    std::uint64_t chunk_bytes;
    std::uint32_t unit_bytes;
    std::uint32_t size_class_bits;
    std::uint32_t fingerprint_bits;
  };
  for (const Example& example :
       {Example{16ULL << 20, 8, 3, 8}, Example{2ULL << 20, 8, 3, 8}, Example{512ULL << 20, 8, 3, 3},
        Example{4ULL << 30, 8, 3, 0}, Example{4ULL << 30, 64, 3, 3}, Example{16ULL << 30, 8, 1, 0},
        Example{32ULL << 30, 8, 0, 0}, Example{256ULL << 30, 64, 0, 0}}) {
    Geometry geometry{.unit_bytes = example.unit_bytes};
    const std::uint64_t before = geometry.mature_offset(0);
    geometry.mature_bytes = (example.chunk_bytes - before) / 2 / 64 * 64;
    ASSERT_LE(geometry.chunk_bytes(), example.chunk_bytes);
    const Geometry spare = with_spare_bits(geometry);
    EXPECT_EQ(spare.size_class_bits, example.size_class_bits) << example.chunk_bytes;
    EXPECT_EQ(spare.fingerprint_bits, example.fingerprint_bits) << example.chunk_bytes;
    EXPECT_EQ(find_invalid_geometry(spare).value_or(""), "");
  }
}

TEST(SpareBits, LeaveToTheFingerprintWhatTheSizeClassIsNotGiven) {
  Geometry geometry;
  geometry.mature_bytes = 200 << 20;
  EXPECT_EQ(with_spare_bits(geometry).fingerprint_bits, 3U);
  EXPECT_EQ(with_spare_bits(geometry, {.size_class = 1}).fingerprint_bits, 5U);
  EXPECT_EQ(with_spare_bits(geometry, {.size_class = 1, .fingerprint = 2}).fingerprint_bits, 2U);
  const auto problem = find_invalid_geometry(with_spare_bits(geometry, {.fingerprint = 8}));
  ASSERT_TRUE(problem);
  EXPECT_TRUE(problem->starts_with("the chunk has")) << *problem;
}

}  // namespace
}  // namespace falafel::engine
