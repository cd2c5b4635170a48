// Tests of the order of tags, on changes of one entry.
#include "checkers/tag_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/checkers/memory.h"

namespace falafel::checkers {
namespace {

constexpr std::uint64_t deleted = 1;
constexpr std::uint64_t locked = 2;

constexpr Entry entry(std::uint64_t reference, std::uint64_t tag, std::uint64_t flags = 0) {
  return Entry(reference << 32 | tag << 2 | flags);
}

Judgement judge(Entry previous, Entry next, std::uint32_t tag_bits = engine::most_tag_bits) {
  Geometry geometry = Memory().geometry_;
  geometry.tag_bits = tag_bits;
  TagOrder order(geometry);
  order.on_changed(3, previous, next, 17);
  return order.judgement();
}

void expect_holds(Entry previous, Entry next, std::uint32_t tag_bits = engine::most_tag_bits) {
  const Judgement judgement = judge(previous, next, tag_bits);
  EXPECT_EQ(judgement.verdict, Verdict::holds) << judgement.explanation;
}

void expect_violated(Entry previous, Entry next, std::uint32_t tag_bits = engine::most_tag_bits) {
  const Judgement judgement = judge(previous, next, tag_bits);
  expect_violation(judgement, "table.tag-order");
  EXPECT_THAT(judgement.slots, testing::ElementsAre(3));
  EXPECT_EQ(judgement.step, 17U);
}

TEST(TagOrder, AdvancesByOneWhenTheReferenceChanges) {
  for (const std::uint64_t reference : {std::uint64_t{0}, std::uint64_t{9}}) {
    expect_holds(entry(8, 5), entry(reference, 6));
    expect_holds(entry(8, 5, locked), entry(reference, 6));
    expect_violated(entry(8, 5), entry(reference, 5));
    expect_violated(entry(8, 5), entry(reference, 7));
    expect_violated(entry(8, 5), entry(reference, 4));
    expect_violated(entry(8, 5, locked), entry(reference, 105));
  }
}

TEST(TagOrder, AdvancesByOneWhenAFlagGoes) {
  for (const std::uint64_t flags : {deleted, locked, deleted | locked}) {
    expect_holds(entry(8, 5, flags), entry(8, 6));
    expect_violated(entry(8, 5, flags), entry(8, 5));
    expect_violated(entry(8, 5, flags), entry(8, 7));
  }
  expect_violated(entry(0, 5, locked), entry(0, 5));
}

// The collector of the thesis may copy a container to its own place.
TEST(TagOrder, MayAdvanceByOneAlone) {
  expect_holds(entry(8, 5), entry(8, 6));
  expect_violated(entry(8, 5), entry(8, 7));
}

TEST(TagOrder, StaysWhenAFlagComes) {
  for (const std::uint64_t flags : {deleted, locked, deleted | locked}) {
    expect_holds(entry(8, 5), entry(8, 5, flags));
    expect_violated(entry(8, 5), entry(8, 6, flags));
    expect_violated(entry(8, 5), entry(8, 4, flags));
  }
  expect_holds(entry(0, 5), entry(0, 5, locked));
}

TEST(TagOrder, AdvancesByOneWhenAnEmptyEntryIsFrozen) {
  expect_holds(entry(0, 5), entry(0, 6, deleted));
  expect_violated(entry(0, 5), entry(0, 5, deleted));
}

TEST(TagOrder, WrapsAroundAfterItsBits) {
  constexpr std::uint64_t last = (1U << engine::most_tag_bits) - 1;
  expect_holds(entry(8, last), entry(9, 0));
  expect_holds(entry(8, 7), entry(9, 0), 3);
  expect_violated(entry(8, 7), entry(9, 8), 3);
  expect_holds(entry(8, 16 + 7), entry(9, 16), 3);
  expect_violated(entry(8, 16 + 7), entry(9, 0), 3);
}

TEST(TagOrder, KeepsTheFirstViolation) {
  const Memory memory;
  TagOrder order(memory.geometry_);
  order.on_changed(1, entry(8, 5), entry(9, 5), 10);
  order.on_changed(2, entry(8, 5), entry(9, 5), 11);
  EXPECT_THAT(order.judgement().slots, testing::ElementsAre(1));
  EXPECT_THAT(order.judgement().explanation,
              testing::HasSubstr("a change that does more than set a flag must leave the tag 6"));
}

}  // namespace
}  // namespace falafel::checkers
