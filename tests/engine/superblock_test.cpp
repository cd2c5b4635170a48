// A client accepts a superblock only if all fields are consistent with each other and with the
// server's connection reply. The tests alter fields and fix the checksum, as a faulty server would.
#include "engine/layout/superblock.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/layout/control_message.h"
#include "engine/layout/crc32c.h"

namespace falafel::engine {
namespace {

Superblock valid_superblock(const Geometry& geometry = {}) {
  HashKey hash_key;
  hash_key.fill(std::byte{0xa5});
  return make_superblock(geometry, hash_key, 42);
}

void mend_checksum(Superblock& superblock) {
  superblock.crc =
      crc32c(std::as_bytes(std::span(&superblock, 1)).first(offsetof(Superblock, crc)));
}

fabric::Result<Superblock> parse(const Superblock& superblock) {
  return parse_superblock(to_bytes(superblock), Geometry{}.chunk_bytes());
}

TEST(Superblock, StartsWithTheNameOfTheStore) {
  const std::vector<std::byte> bytes = to_bytes(valid_superblock());
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(bytes.data()), 8),
            std::string_view("FALAFEL\0", 8));
}

TEST(Superblock, TellsTheGeometryTheHashKeyAndTheIncarnation) {
  const Geometry geometry{.unit_bytes = 64,
                          .table_entries = 77,
                          .region_bytes = 4'096,
                          .region_count = 3,
                          .mature_bytes = 8'192,
                          .mature_space_count = 9,
                          .tag_bits = 5,
                          .fingerprint_bits = 7,
                          .size_class_bits = 2};
  const Superblock made = valid_superblock(geometry);
  const auto parsed = parse_superblock(to_bytes(made), geometry.chunk_bytes());
  ASSERT_TRUE(parsed) << parsed.error().detail;
  EXPECT_EQ(geometry_of(*parsed), geometry);
  EXPECT_EQ(parsed->hash_key, made.hash_key);
  EXPECT_EQ(parsed->incarnation, 42U);
}

TEST(Superblock, HasItsOwnVersionIfTheTableCanGrow) {
  Geometry geometry{.table_entries = 5, .mature_space_count = 9, .most_tables = 4};
  for (const bool values_expire : {false, true}) {
    geometry.values_expire = values_expire;
    const Superblock made = valid_superblock(geometry);
    EXPECT_EQ(made.version, values_expire ? 6U : 5U);
    const auto parsed = parse_superblock(to_bytes(made), geometry.chunk_bytes());
    ASSERT_TRUE(parsed) << parsed.error().detail;
    EXPECT_EQ(geometry_of(*parsed), geometry);
  }
}

struct Alteration {
  std::string_view field;
  std::string_view named;  // part of the error message
  std::function<void(Superblock&)> alter;
};

constexpr std::uint64_t absurd = std::numeric_limits<std::uint64_t>::max();

TEST(Superblock, AbsurdFieldsAreNamed) {
  const std::vector<Alteration> alterations{
      {"magic", "magic", [](Superblock& block) { block.magic ^= 1; }},
      {"version", "version", [](Superblock& block) { block.version += 1; }},
      {"unknown version", "version 7", [](Superblock& block) { block.version = 7; }},
      {"version of growth", "imply 2", [](Superblock& block) { block.version = 5; }},
      {"growth in another version", "imply 5", [](Superblock& block) { block.later_tables = 1; }},
      {"too many tables", "most_tables", [](Superblock& block) { block.later_tables = 32; }},
      {"version without bits", "version is 2",
       [](Superblock& block) { block.fingerprint_bits = 1; }},
      {"unit_bytes", "unit_bytes", [](Superblock& block) { block.unit_bytes = 9; }},
      {"table_entries", "table_entries", [](Superblock& block) { block.table_entries = absurd; }},
      {"no entries", "table_entries", [](Superblock& block) { block.table_entries = 0; }},
      {"region_bytes", "region_bytes", [](Superblock& block) { block.region_bytes = absurd; }},
      {"no region_bytes", "region_bytes", [](Superblock& block) { block.region_bytes = 0; }},
      {"region_count", "region_count", [](Superblock& block) { block.region_count = absurd; }},
      {"mature_bytes", "mature_bytes", [](Superblock& block) { block.mature_bytes = absurd; }},
      {"tag_bits", "tag_bits", [](Superblock& block) { block.tag_bits = 31; }},
      {"no tag_bits", "tag_bits", [](Superblock& block) { block.tag_bits = 0; }},
      {"chunk_bytes", "chunk_bytes", [](Superblock& block) { block.chunk_bytes += 64; }},
      {"fingerprint_bits", "fingerprint_bits",
       [](Superblock& block) { block.fingerprint_bits = 9; }},
      {"size_class_bits", "size_class_bits", [](Superblock& block) { block.size_class_bits = 4; }},
      {"one entry more", "chunk_bytes", [](Superblock& block) { block.table_entries += 8; }},
      {"one region less", "chunk_bytes", [](Superblock& block) { block.region_count -= 1; }},
      {"table_offset", "table_offset", [](Superblock& block) { block.table_offset += 64; }},
      {"regions_offset", "regions_offset",
       [](Superblock& block) { block.regions_offset = absurd; }},
      {"mature_0_offset", "mature_0_offset", [](Superblock& block) { block.mature_0_offset = 0; }},
      {"one mature space less", "chunk_bytes", [](Superblock& block) { block.chunk_bytes -= 1; }},
      {"mature_1_offset", "mature_1_offset",
       [](Superblock& block) { block.mature_1_offset -= 64; }}};
  for (const Alteration& alteration : alterations) {
    Superblock superblock = valid_superblock();
    alteration.alter(superblock);
    mend_checksum(superblock);
    const auto parsed = parse(superblock);
    ASSERT_FALSE(parsed) << alteration.field;
    EXPECT_EQ(parsed.error().code, fabric::ErrorCode::invalid_argument) << alteration.field;
    EXPECT_TRUE(parsed.error().detail.starts_with("superblock: ")) << parsed.error().detail;
    EXPECT_NE(parsed.error().detail.find(alteration.named), std::string::npos)
        << alteration.field << ": " << parsed.error().detail;
  }
}

TEST(Superblock, TheSecretAndTheIncarnationMayBeAnything) {
  Superblock superblock = valid_superblock();
  superblock.hash_key.fill(std::byte{0});
  superblock.incarnation = absurd;
  mend_checksum(superblock);
  EXPECT_TRUE(parse(superblock));
}

TEST(Superblock, EveryFlippedBitIsNoticed) {
  std::vector<std::byte> bytes = to_bytes(valid_superblock());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const std::byte mask = std::byte{1} << (bit % 8);
    bytes[bit / 8] ^= mask;
    ASSERT_FALSE(parse_superblock(bytes, Geometry{}.chunk_bytes())) << "bit " << bit;
    bytes[bit / 8] ^= mask;
  }
  EXPECT_TRUE(parse_superblock(bytes, Geometry{}.chunk_bytes()));
}

TEST(Superblock, ZeroedMemoryIsNone) {
  EXPECT_FALSE(parse_superblock(std::vector<std::byte>(superblock_bytes), 0));
}

TEST(Superblock, IsTooShortWhereverItEnds) {
  const std::vector<std::byte> bytes = to_bytes(valid_superblock());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto parsed = parse_superblock(std::span(bytes).first(length), Geometry{}.chunk_bytes());
    ASSERT_FALSE(parsed) << length;
    EXPECT_NE(parsed.error().detail.find("too short"), std::string::npos) << parsed.error().detail;
  }
}

TEST(Superblock, OfAnotherChunkIsRefused) {
  const auto parsed = parse_superblock(to_bytes(valid_superblock()), Geometry{}.chunk_bytes() - 64);
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().detail.find("the server announced"), std::string::npos)
      << parsed.error().detail;
}

TEST(ControlMessages, AreReadFromBytesThatAreLongEnough) {
  const ControlMessage message{.kind = MessageKind::grant_region,
                               .region = 1,
                               .incarnation = 2,
                               .epoch = 3,
                               .remote_key = 4};
  std::vector<std::byte> bytes = to_bytes(message);
  ASSERT_EQ(bytes.size(), control_message_bytes);
  bytes.push_back(std::byte{0});  // transports may pad
  const auto read = from_bytes<ControlMessage>(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_bytes(*read), to_bytes(message));
  EXPECT_FALSE(from_bytes<ControlMessage>(std::span(bytes).first(control_message_bytes - 1)));
}

}  // namespace
}  // namespace falafel::engine
