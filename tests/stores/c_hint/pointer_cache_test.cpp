// The pointers that a client keeps, and what it reports.
#include "stores/c_hint/pointer_cache.h"

#include <gtest/gtest.h>

namespace falafel::c_hint {
namespace {

Options options_for(std::uint64_t pointers, std::uint32_t picks_per_list) {
  Options options;
  options.pointers = pointers;
  options.picks_per_list = picks_per_list;
  return options;
}

std::vector<std::uint64_t> hashes_of(const std::vector<ReportEntry>& entries) {
  std::vector<std::uint64_t> hashes;
  for (const ReportEntry& entry : entries) hashes.push_back(entry.hash);
  return hashes;
}

using Hashes = std::vector<std::uint64_t>;

TEST(PointerCache, KeepsAsManyPointersAsItMay) {
  const Options options = options_for(2, 1);
  PointerCache cache(options);
  for (std::uint64_t hash = 1; hash <= 3; ++hash) cache.put(hash, {.version = hash});
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(cache.find(1), nullptr);
  EXPECT_EQ(cache.find(3)->version, 3U);
}

TEST(PointerCache, PicksTheMostRecentOfBothLists) {
  const Options options = options_for(8, 2);
  PointerCache cache(options);
  for (std::uint64_t hash = 1; hash <= 6; ++hash) cache.put(hash, {.version = 10 * hash});
  for (const std::uint64_t hash : {4U, 5U, 6U}) cache.used(hash);
  const auto picked = cache.pick();
  EXPECT_EQ(hashes_of(picked), (Hashes{3, 2, 6, 5}));
  EXPECT_EQ(picked.front().version, 30U);
}

TEST(PointerCache, DoesNotPickWhatLeadsNowhere) {
  const Options options = options_for(8, 2);
  PointerCache cache(options);
  cache.put(1, {});
  cache.put(2, {});
  cache.drop(2);
  EXPECT_EQ(hashes_of(cache.pick()), Hashes{1});
}

TEST(PointerCache, PausesAfterEightReportsInARow) {
  const Options options = options_for(8, 1);
  PointerCache cache(options);
  cache.put(1, {});
  for (int report = 0; report < 8; ++report) EXPECT_EQ(hashes_of(cache.pick()), Hashes{1});
  EXPECT_EQ(hashes_of(cache.pick()), Hashes{});
  EXPECT_EQ(hashes_of(cache.pick()), Hashes{1});
}

TEST(PointerCache, RenewsTheVersionThatItHas) {
  const Options options = options_for(8, 1);
  PointerCache cache(options);
  cache.put(1, {.version = 2, .lease_end_ns = 100});
  cache.renew(1, 4, 200);
  EXPECT_EQ(cache.find(1)->lease_end_ns, 100U);
  cache.renew(1, 2, 200);
  EXPECT_EQ(cache.find(1)->lease_end_ns, 200U);
  cache.renew(7, 2, 200);
  EXPECT_EQ(cache.find(7), nullptr);
  cache.clear();
  EXPECT_EQ(cache.find(1), nullptr);
  EXPECT_TRUE(cache.pick().empty());
}

// Clients of one host handle replies in any order.
TEST(PointerCache, KeepsTheNewestVersion) {
  const Options options = options_for(8, 1);
  PointerCache cache(options);
  cache.put(1, {.version = 4});
  cache.put(1, {.version = 2});
  EXPECT_EQ(cache.find(1)->version, 4U);
  cache.drop(1, 2);
  EXPECT_EQ(cache.find(1)->version, 4U);
  cache.drop(1, 4);
  EXPECT_EQ(cache.find(1), nullptr);
}

// It was replaced or evicted while a client READ by it.
TEST(PointerCache, DoesNotCountTheUseOfAPointerThatIsGone) {
  const Options options = options_for(1, 1);
  PointerCache cache(options);
  cache.put(1, {});
  cache.put(2, {});
  cache.used(1);
  EXPECT_EQ(hashes_of(cache.pick()), Hashes{2});
}

TEST(PointerCache, CountsReadsSinceTheLastReport) {
  for (const bool counts : {true, false}) {
    Options options = options_for(8, 2);
    options.report_counts = counts;
    PointerCache cache(options);
    cache.put(1, {});
    for (int read = 0; read < 3; ++read) cache.used(1);
    EXPECT_EQ(cache.pick().front().accesses, counts ? 3U : 1U);
    EXPECT_EQ(cache.pick().front().accesses, counts ? 0U : 1U);
  }
}

}  // namespace
}  // namespace falafel::c_hint
