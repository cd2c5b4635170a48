// The ages of evicted values: they count from the collection of the client's region, whatever
// moves the value or its entry afterwards.
#include "engine/server/value_ages.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/probes.h"
#include "engine/server/age_histogram.h"
#include "tests/engine/small_cache.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::AgeHistogram;

// The number of ages in the bucket that ends there.
std::uint64_t until(const AgeHistogram& ages, std::uint64_t end_s) {
  std::size_t bucket = 0;
  while (AgeHistogram::ends_s.at(bucket) != end_s) ++bucket;
  return ages.counts.at(bucket);
}

std::uint64_t count(const AgeHistogram& ages) {
  return std::accumulate(ages.counts.begin(), ages.counts.end(), std::uint64_t{0});
}

void store_keys(Client& client, int begin, int end) {
  for (int number = begin; number < end; ++number) {
    const Bytes key = bytes_of(fmt::format("key {}", number));
    EXPECT_EQ(client.set(key, Bytes(100)).answer, Answer::stored) << number;
  }
}

TEST(AgeHistogram, CountsAnAgeInTheFirstBucketThatEndsNotBeforeIt) {
  AgeHistogram ages;
  for (const std::uint64_t age_s :
       std::vector<std::uint64_t>{0, 1, 2, 4, 5, 1'048'576, 1'048'577}) {
    ages.record(age_s);
  }
  EXPECT_EQ(until(ages, 1), 2U);
  EXPECT_EQ(until(ages, 4), 2U);
  EXPECT_EQ(until(ages, 16), 1U);
  EXPECT_EQ(until(ages, 1'048'576), 1U);
  EXPECT_EQ(ages.counts.back(), 1U);
  EXPECT_EQ(ages.sum_s, 2'097'165U);
}

// Values of three times: at once, after 20 seconds, after 23 seconds. The cache is full each time,
// and evicts what the time before has left.
void evict_in_three_times(const StoreOptions& options) {
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  const auto ages = [&] { return store.server()->inspect().statistics.evicted_ages; };
  store.add_client([&](fabric::Host& host, Client& client) {
    store_keys(client, 0, 200);
    EXPECT_EQ(until(ages(), 1), count(ages()));
    host.sleep_until(host.now_ns() + 20 * second_ns);
    store_keys(client, 200, 400);
    const AgeHistogram of_first = ages();
    EXPECT_GT(until(of_first, 64), 5U);
    EXPECT_EQ(until(of_first, 1) + until(of_first, 64), count(of_first));
    host.sleep_until(host.now_ns() + 3 * second_ns);
    store_keys(client, 400, 600);
    EXPECT_EQ(until(ages(), 64), until(of_first, 64));
    EXPECT_GT(until(ages(), 4), 5U);
    EXPECT_EQ(until(ages(), 1) + until(ages(), 4) + until(ages(), 64), count(ages()));
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
  EXPECT_EQ(count(run.inspection.statistics.evicted_ages),
            run.inspection.statistics.values_evicted);
}

TEST(ValueAges, CountFromTheCollectionOfTheRegion) { evict_in_three_times(small_cache(true)); }

// Deleted keys make way for others that are 20 seconds younger.
TEST(ValueAges, StayWithEntriesThatACleanupMoves) {
  StoreOptions options = small_cache(true);
  options.server.geometry.table_entries = 16;
  options.server.cleanup_percent = 1;
  const StoreRun run = run_on_cache(options, [](fabric::Host& host, Client& client) {
    store_keys(client, 0, 8);
    host.sleep_until(host.now_ns() + 20 * second_ns);
    store_keys(client, 8, 16);
    for (int number = 0; number < 8; ++number) {
      client.remove(bytes_of(fmt::format("key {}", number)));
    }
    host.sleep_until(host.now_ns() + 3 * second_ns);
    store_keys(client, 16, 100);
  });
  EXPECT_GT(run.probe(engine::probes::cleanup_moved_entry), 0U);
  const AgeHistogram& ages = run.inspection.statistics.evicted_ages;
  EXPECT_GT(until(ages, 4), 0U);
  EXPECT_EQ(until(ages, 1) + until(ages, 4), count(ages));
}

TEST(ValueAges, AreZeroOfValuesThatTheServerHasNotCollected) {
  StoreOptions options = small_cache(true);
  options.server.geometry.table_entries = 8;
  options.server.geometry.region_bytes = 65'536;
  options.server.geometry.mature_bytes = 262'144;
  const StoreRun run = run_on_cache(options, [](fabric::Host& host, Client& client) {
    host.sleep_until(host.now_ns() + 20 * second_ns);
    store_keys(client, 0, 30);
  });
  const AgeHistogram& ages = run.inspection.statistics.evicted_ages;
  EXPECT_GT(count(ages), 20U);
  EXPECT_EQ(until(ages, 1), count(ages));
}

TEST(ValueAges, StayWithValuesInBlocks) {
  StoreOptions options = small_cache(true);
  options.server.geometry.mature_bytes = 1'024;
  options.server.geometry.mature_space_count = 8;
  evict_in_three_times(options);
}

TEST(ValueAges, StayWithEntriesThatMoveToAnotherTable) {
  StoreOptions options = small_cache(true);
  options.server.geometry.table_entries = 8;
  options.server.geometry.most_tables = 4;
  const StoreRun run = run_on_cache(options, [](fabric::Host& host, Client& client) {
    host.sleep_until(host.now_ns() + 20 * second_ns);
    store_keys(client, 0, 8);
    host.sleep_until(host.now_ns() + 3 * second_ns);
    store_keys(client, 8, 200);
  });
  EXPECT_GT(run.inspection.statistics.entries_moved, 4U);
  const AgeHistogram& ages = run.inspection.statistics.evicted_ages;
  EXPECT_GT(until(ages, 4), 0U);
  EXPECT_EQ(until(ages, 1) + until(ages, 4), count(ages));
}

// The cleanup of the thesis does not say where it moves entries.
TEST(ValueAges, AreNotCountedWithTheCleanupOfTheThesis) {
  StoreOptions options = small_cache(true);
  engine::Safeguards safeguards;
  safeguards.bounded_walks = false;
  options.set_safeguards(safeguards);
  const StoreRun run =
      run_on_cache(options, [](fabric::Host&, Client& client) { store_keys(client, 0, 200); });
  EXPECT_GT(run.inspection.statistics.values_evicted, 100U);
  EXPECT_EQ(count(run.inspection.statistics.evicted_ages), 0U);
}

}  // namespace
}  // namespace falafel::engine_test
