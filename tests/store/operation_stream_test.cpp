#include "tools/benchmarks/store/operation_stream.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace falafel::store_benchmark {
namespace {

std::map<OperationKind, double> shares(const char* workload) {
  OperationStream stream(*find_workload(workload), {.keys = 1'000'000});
  constexpr int draws = 100'000;
  std::map<OperationKind, double> kinds;
  for (int draw = 0; draw < draws; ++draw) kinds[stream.next()->kind] += 1.0 / draws;
  return kinds;
}

TEST(OperationStream, MixesAsTheWorkloadsSay) {
  EXPECT_NEAR(shares("ycsb-a")[OperationKind::update], 0.50, 0.01);
  EXPECT_NEAR(shares("ycsb-b")[OperationKind::update], 0.05, 0.005);
  EXPECT_EQ(shares("ycsb-c").size(), 1U);
  EXPECT_NEAR(shares("ycsb-d")[OperationKind::insert], 0.05, 0.005);
  EXPECT_NEAR(shares("ycsb-f")[OperationKind::read_modify_write], 0.50, 0.01);
}

TEST(OperationStream, NamesWhatThereIsIfAWorkloadIsUnknown) {
  EXPECT_NE(find_workload("ycsb-z").error().find("ycsb-a"), std::string::npos);
  EXPECT_NE(find_workload("ycsb-e").error().find("scans"), std::string::npos);
}

TEST(OperationStream, TheSameSeedGivesTheSameOperations) {
  const StreamPlace place{.keys = 1'000, .streams = 4, .index = 2, .seed = 9};
  OperationStream first(*find_workload("ycsb-a"), place);
  OperationStream second(*find_workload("ycsb-a"), place);
  for (int draw = 0; draw < 1'000; ++draw) {
    const auto operation = first.next();
    const auto same = second.next();
    ASSERT_EQ(operation->kind, same->kind);
    ASSERT_EQ(operation->key, same->key);
  }
}

TEST(OperationStream, WorkingSetsAreDisjointAndCoverAllKeys) {
  constexpr std::uint64_t streams = 4;
  std::set<std::uint64_t> all;
  for (std::uint64_t index = 0; index < streams; ++index) {
    OperationStream stream(*find_workload("thesis"),
                           {.keys = 40, .streams = streams, .index = index});
    std::set<std::uint64_t> keys;
    for (int draw = 0; draw < 1'000; ++draw) keys.insert(stream.next()->key);
    EXPECT_EQ(keys.size(), 10U);
    all.merge(keys);
    EXPECT_TRUE(keys.empty()) << "stream " << index << " shares keys with others";
  }
  EXPECT_EQ(all.size(), 40U);
}

// As the clients of the thesis (Behringer 5.4.1).
TEST(OperationStream, ALoopVisitsItsOwnKeysInTurn) {
  OperationStream stream(*find_workload("thesis"), {.keys = 12, .streams = 4, .index = 3});
  for (const std::uint64_t expected : {3U, 7U, 11U, 3U, 7U, 11U}) {
    EXPECT_EQ(stream.next()->key, expected);
  }
}

TEST(OperationStream, RemovalsReplaceUpdates) {
  Workload workload = *find_workload("ycsb-a");
  EXPECT_FALSE(workload.removes());
  EXPECT_FALSE(replace_updates_by_removals(workload, 20).has_value());
  EXPECT_TRUE(workload.removes());
  EXPECT_EQ(workload.percent_of(OperationKind::read), 50U);
  EXPECT_EQ(workload.percent_of(OperationKind::update), 30U);
  OperationStream stream(workload, {.keys = 1'000'000});
  constexpr int draws = 100'000;
  int removals = 0;
  for (int draw = 0; draw < draws; ++draw) {
    removals += stream.next()->kind == OperationKind::remove ? 1 : 0;
  }
  EXPECT_NEAR(removals, 0.2 * draws, 0.01 * draws);
  EXPECT_NE(replace_updates_by_removals(workload, 31)->find("--deletes is 31"), std::string::npos);
}

// A stream may read a new key only after it has inserted the key itself, because it does not know
// when others have.
TEST(OperationStream, ReadsOnlyKeysThatAreStored) {
  constexpr std::uint64_t keys = 1'000;
  OperationStream stream(*find_workload("ycsb-d"), {.keys = keys, .streams = 2, .index = 1});
  std::set<std::uint64_t> inserted;
  while (const auto operation = stream.next()) {
    if (operation->kind == OperationKind::insert) {
      EXPECT_GE(operation->key, keys);
      EXPECT_TRUE(inserted.insert(operation->key).second);
    } else {
      ASSERT_TRUE(operation->key < keys || inserted.contains(operation->key)) << operation->key;
    }
  }
  EXPECT_EQ(inserted.size(), keys / 2);
}

TEST(OperationStream, TheYoungestKeysAreReadMostOften) {
  OperationStream stream(*find_workload("ycsb-d"), {.keys = 100'000});
  std::uint64_t newest = 99'999;
  int reads = 0;
  int of_newest = 0;
  for (int draw = 0; draw < 50'000; ++draw) {
    const auto operation = stream.next();
    if (operation->kind == OperationKind::insert) {
      newest = operation->key;
    } else {
      ++reads;
      of_newest += operation->key == newest ? 1 : 0;
    }
  }
  EXPECT_NEAR(static_cast<double>(of_newest) / reads, 1 / zeta(0, 100'000), 0.01);
}

}  // namespace
}  // namespace falafel::store_benchmark
