// Guaranteed numbers of round trips on a table that nobody changes. The hardened client needs no
// more than the published one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/layout/container.h"
#include "tests/engine/planted.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::Safeguards;

constexpr std::uint64_t table_entries = 1'024;

Bytes key_at(std::uint64_t slot, int number) {
  return engine_test::key_at(slot, number, table_entries);
}

// Runs `body` in a store whose client already has a region.
void run_quiet(const Safeguards& safeguards, const ClientBody& body) {
  fabric::FiberStackPool stacks;
  StoreOptions options;
  options.set_safeguards(safeguards);
  options.server.geometry.table_entries = table_entries;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    ASSERT_EQ(client.set(bytes_of("first"), {}).answer, Answer::stored);
    body(host, client);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

class RoundTripsTest : public testing::TestWithParam<Safeguards> {};

INSTANTIATE_TEST_SUITE_P(Engine, RoundTripsTest,
                         testing::Values(Safeguards::published(), Safeguards::hardened()),
                         [](const auto& parameter) {
                           return parameter.param == Safeguards::hardened() ? "hardened"
                                                                            : "published";
                         });

TEST_P(RoundTripsTest, OfEachOperationAtItsHomeSlot) {
  run_quiet(GetParam(), [](fabric::Host&, Client& client) {
    const Bytes key = key_at(100, 0);
    EXPECT_EQ(client.get(key).statistics.round_trips, 1U) << "GET of an absent key";
    EXPECT_EQ(client.remove(key).statistics.round_trips, 1U) << "DELETE of an absent key";
    EXPECT_EQ(client.set(key, bytes_of("1")).statistics.round_trips, 2U) << "SET of a new key";
    EXPECT_EQ(client.get(key).statistics.round_trips, 2U) << "GET";
    EXPECT_EQ(client.set(key, bytes_of("2")).statistics.round_trips, 3U) << "SET of a known key";
    EXPECT_EQ(client.remove(key).statistics.round_trips, 3U) << "DELETE";
    EXPECT_EQ(client.get(key).statistics.round_trips, 2U) << "GET of a deleted key";
    EXPECT_EQ(client.set(key, bytes_of("3")).statistics.round_trips, 3U) << "SET of a deleted key";
  });
}

TEST_P(RoundTripsTest, OfBigValues) {
  run_quiet(GetParam(), [](fabric::Host&, Client& client) {
    const Bytes key = key_at(100, 0);
    const engine::ClientOptions defaults;
    const std::uint64_t room =
        defaults.readahead.container_bytes - engine::container_bytes(key.size(), 0);
    const Bytes value(room + 1, std::byte{7});
    EXPECT_EQ(client.set(key, value).statistics.round_trips, 2U) << "SET of a new key";
    const engine::GetResult result = client.get(key);
    EXPECT_EQ(result.value, value);
    EXPECT_EQ(result.statistics.round_trips, 3U) << "GET";
    EXPECT_EQ(client.set(key, Bytes(room)).statistics.round_trips, 3U) << "SET of a known key";
    EXPECT_EQ(client.get(key).statistics.round_trips, 2U) << "GET of what is read ahead";
  });
}

TEST_P(RoundTripsTest, NoOperationOnAQuietTableRestarts) {
  run_quiet(GetParam(), [](fabric::Host&, Client& client) {
    for (int number = 0; number < 4; ++number) {
      const Bytes key = key_at(100, number);
      client.set(key, bytes_of("1"));
      client.get(key);
      client.remove(key);
    }
    EXPECT_EQ(client.statistics().restarts, 0U);
    EXPECT_EQ(client.statistics().lost_compare_and_swaps, 0U);
  });
}

// Measures every operation with a chain of `chain` keys at its home slot.
std::vector<std::uint64_t> round_trips_behind_a_chain(const Safeguards& safeguards, int chain) {
  std::vector<std::uint64_t> round_trips;
  run_quiet(safeguards, [&](fabric::Host&, Client& client) {
    for (int number = 0; number < chain; ++number) client.set(key_at(100, number), bytes_of("1"));
    const Bytes key = key_at(100, chain);
    const auto note = [&](const auto& result) {
      round_trips.push_back(result.statistics.round_trips);
    };
    note(client.get(key));
    note(client.remove(key));
    note(client.set(key, bytes_of("2")));
    note(client.get(key));
    note(client.set(key, bytes_of("3")));
    note(client.remove(key));
    note(client.get(key));
    note(client.set(key, bytes_of("4")));
  });
  return round_trips;
}

TEST(RoundTrips, SafeguardsCostNoneBehindShortChains) {
  for (int chain = 0; chain <= 3; ++chain) {
    const auto published = round_trips_behind_a_chain(Safeguards::published(), chain);
    const auto hardened = round_trips_behind_a_chain(Safeguards::hardened(), chain);
    ASSERT_EQ(published.size(), 8U);
    for (std::size_t operation = 0; operation < published.size(); ++operation) {
      EXPECT_LE(hardened[operation], published[operation])
          << "operation " << operation << " behind " << chain;
    }
  }
}

// A chain that fits the readahead costs one round trip more than no chain.
TEST(RoundTrips, AbsentKeyBehindAChainTakesTwo) {
  fabric::FiberStackPool stacks;
  StoreOptions options;
  options.server.geometry.table_entries = table_entries;
  options.client.readahead.adaptive = false;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    for (int number = 0; number < 3; ++number) client.set(key_at(100, number), {});
    const engine::GetResult result = client.get(key_at(100, 3));
    EXPECT_EQ(result.answer, Answer::not_found);
    EXPECT_EQ(result.statistics.round_trips, 2U);
    EXPECT_EQ(result.statistics.lookups, 3U);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

}  // namespace
}  // namespace falafel::engine_test
