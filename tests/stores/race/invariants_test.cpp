// The invariants find what is wrong with a node's memory.
#include "stores/race/invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/stores/bytes.h"
#include "tests/stores/race/store.h"

namespace falafel::race_test {
namespace {

using race::empty_slot;
using race::Geometry;
using race::NodeInspection;
using race::SubtableLayout;
using stores_test::bytes_of;
using testing::AnyOf;
using testing::HasSubstr;

NodeInspection node_with_two_keys() {
  StoreOptions store;
  store.options.safeguards = race::Safeguards::hardened();
  store.options.block_reuse = race::BlockReuse::at_once;
  store.options.initial_depth = 0;
  const StoreRun run = run_client(store, [](fabric::Host&, race::Client& client) {
    client.set(bytes_of("a"), bytes_of("1"));
    client.set(bytes_of("b"), bytes_of("2"));
  });
  EXPECT_EQ(describe(run), "");
  return run.server;
}

std::uint64_t word(const NodeInspection& node, std::uint64_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, node.memory.data() + offset, sizeof value);
  return value;
}

void put(NodeInspection& node, std::uint64_t offset, std::uint64_t value) {
  std::memcpy(node.memory.data() + offset, &value, sizeof value);
}

std::uint64_t subtable_of(const NodeInspection& node) {
  return race::decode_entry(word(node, Geometry::entry_offset(0))).subtable;
}

std::vector<std::uint64_t> used_slots(const NodeInspection& node) {
  const SubtableLayout& layout = node.geometry.subtable;
  std::vector<std::uint64_t> slots;
  for (std::uint64_t bucket = 0; bucket < layout.buckets(); ++bucket) {
    for (std::uint64_t slot = 0; slot < layout.slots_per_bucket(); ++slot) {
      const std::uint64_t offset =
          subtable_of(node) + layout.bucket_offset(bucket) + SubtableLayout::slot_offset(slot);
      if (word(node, offset) != empty_slot) slots.push_back(offset);
    }
  }
  return slots;
}

std::string problem_of(const NodeInspection& node) {
  const auto problems = race::find_problems(node);
  return problems.empty() ? "" : problems.front();
}

TEST(Invariants, HoldForWhatAClientHasStored) {
  const NodeInspection node = node_with_two_keys();
  EXPECT_EQ(used_slots(node).size(), 2U);
  EXPECT_EQ(problem_of(node), "");
}

TEST(Invariants, FindABlockThatDoesNotVerify) {
  NodeInspection node = node_with_two_keys();
  const auto slot = race::decode(word(node, used_slots(node)[0]));
  node.memory[slot.offset() + 30] ^= std::byte{1};
  EXPECT_THAT(problem_of(node), HasSubstr("does not verify"));
}

TEST(Invariants, FindATagThatIsNotTheBlocks) {
  NodeInspection node = node_with_two_keys();
  const std::uint64_t at = used_slots(node)[0];
  auto slot = race::decode(word(node, at));
  ++slot.tag;
  put(node, at, encode(slot));
  EXPECT_THAT(problem_of(node), HasSubstr("does not verify"));
}

TEST(Invariants, FindASlotThatLeadsToNoBlock) {
  NodeInspection node = node_with_two_keys();
  const std::uint64_t at = used_slots(node)[0];
  auto slot = race::decode(word(node, at));
  slot.unit = node.memory.size() / race::unit_bytes;
  put(node, at, encode(slot));
  EXPECT_THAT(problem_of(node), HasSubstr("which is no block"));
}

TEST(Invariants, FindAWrongFingerprint) {
  NodeInspection node = node_with_two_keys();
  const std::uint64_t at = used_slots(node)[0];
  auto slot = race::decode(word(node, at));
  slot.fingerprint ^= 1;
  put(node, at, encode(slot));
  EXPECT_THAT(problem_of(node), HasSubstr("another fingerprint"));
}

TEST(Invariants, FindABlockWithTwoSlots) {
  NodeInspection node = node_with_two_keys();
  const std::uint64_t at = used_slots(node)[0];
  put(node, at + fabric::word_bytes, word(node, at));
  EXPECT_THAT(problem_of(node), HasSubstr("which another slot has"));
}

// The last slot of a bucket is empty.
TEST(Invariants, FindAKeyThatBelongsElsewhere) {
  const NodeInspection node = node_with_two_keys();
  const std::uint64_t at = used_slots(node)[0];
  const SubtableLayout& layout = node.geometry.subtable;
  std::uint64_t places = 0;
  for (std::uint64_t bucket = 0; bucket < layout.buckets(); ++bucket) {
    NodeInspection moved = node;
    put(moved, at, empty_slot);
    put(moved, subtable_of(node) + layout.bucket_offset(bucket + 1) - fabric::word_bytes,
        word(node, at));
    const std::string problem = problem_of(moved);
    places += problem.empty() ? 1 : 0;
    EXPECT_THAT(problem, AnyOf("", HasSubstr("belongs elsewhere")));
  }
  EXPECT_GE(places, 2U);
  EXPECT_LE(places, 4U);
}

TEST(Invariants, FindAHeaderThatDisagreesWithTheDirectory) {
  NodeInspection node = node_with_two_keys();
  put(node, subtable_of(node), 1);
  EXPECT_THAT(problem_of(node), HasSubstr("has depth 1 and suffix 0, not 0 and 0"));
}

TEST(Invariants, FindAnEntryThatLeadsToNoSubtable) {
  NodeInspection node = node_with_two_keys();
  put(node, Geometry::entry_offset(0), encode(race::DirectoryEntry{.subtable = 8}));
  EXPECT_THAT(problem_of(node), HasSubstr("is no subtable"));
}

TEST(Invariants, FindAKeyThatIsStoredTwice) {
  NodeInspection node = node_with_two_keys();
  const std::uint64_t at = used_slots(node)[0];
  auto slot = race::decode(word(node, at));
  // A copy of the block in memory that the client has not used.
  const std::uint64_t copy = slot.offset() + 20 * race::unit_bytes;
  std::memcpy(node.memory.data() + copy, node.memory.data() + slot.offset(), race::unit_bytes);
  slot.unit = copy / race::unit_bytes;
  put(node, at + fabric::word_bytes, encode(slot));
  EXPECT_THAT(problem_of(node), HasSubstr("has a key that another slot has"));
  slot.is_tentative = true;
  put(node, at + fabric::word_bytes, encode(slot));
  EXPECT_EQ(problem_of(node), "");
}

}  // namespace
}  // namespace falafel::race_test
