// Searches in a store whose entries have fingerprints and size classes: which containers they read,
// and how much of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "engine/layout/container.h"
#include "engine/layout/geometry.h"
#include "engine/layout/key_hash.h"
#include "engine/layout/references.h"
#include "tests/engine/planted.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

constexpr std::uint64_t fingerprinted_entries = 1'024;
constexpr std::uint64_t chunk_bytes_read = 32 * engine::entry_bytes;  // of the table

std::uint64_t fingerprint_of(const Bytes& key) {
  return engine::hash_of(key, engine::HashKey{}) >> (64 - engine::most_fingerprint_bits);
}

// Keys with the home slot 100, in the order of their numbers. Their fingerprints are different.
std::vector<Bytes> different_keys(std::size_t count) {
  std::vector<Bytes> keys;
  for (int number = 0; keys.size() < count; ++number) {
    const Bytes key = key_at(100, number, fingerprinted_entries);
    const bool is_known = std::ranges::any_of(
        keys, [&](const Bytes& other) { return fingerprint_of(other) == fingerprint_of(key); });
    if (!is_known) keys.push_back(key);
  }
  return keys;
}

// Two keys with the home slot 100 and the same fingerprint.
std::pair<Bytes, Bytes> keys_with_equal_fingerprints() {
  for (int second = 1;; ++second) {
    for (int first = 0; first < second; ++first) {
      std::pair keys(key_at(100, first, fingerprinted_entries),
                     key_at(100, second, fingerprinted_entries));
      if (fingerprint_of(keys.first) == fingerprint_of(keys.second)) return keys;
    }
  }
}

void run_with_fingerprints(const std::function<void(TestStore&, Client&)>& body,
                           engine::ReadaheadOptions readahead = {.adaptive = false}) {
  fabric::FiberStackPool stacks;
  StoreOptions options;
  options.server.geometry.table_entries = fingerprinted_entries;
  options.server.geometry.fingerprint_bits = engine::most_fingerprint_bits;
  options.server.geometry.size_class_bits = engine::most_size_class_bits;
  options.client.readahead = readahead;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    ASSERT_EQ(client.set(bytes_of("first"), {}).answer, Answer::stored);
    body(store, client);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

TEST(Fingerprints, LetASearchReadOnlyTheContainerOfItsKey) {
  run_with_fingerprints([](TestStore&, Client& client) {
    const std::vector<Bytes> keys = different_keys(20);
    for (const Bytes& key : keys) client.set(key, bytes_of("1"));
    const engine::GetResult result = client.get(keys.back());
    EXPECT_EQ(result.value, bytes_of("1"));
    EXPECT_EQ(result.statistics.round_trips, 2U);
    EXPECT_EQ(result.statistics.verbs, 2U);
    EXPECT_EQ(result.statistics.lookups, 1U);
    EXPECT_EQ(result.statistics.bytes, chunk_bytes_read + 64);
  });
}

TEST(Fingerprints, LetASearchForAnAbsentKeyReadNoContainer) {
  run_with_fingerprints([](TestStore&, Client& client) {
    std::vector<Bytes> keys = different_keys(21);
    const Bytes absent = keys.back();
    keys.pop_back();
    for (const Bytes& key : keys) client.set(key, bytes_of("1"));
    const engine::GetResult result = client.get(absent);
    EXPECT_EQ(result.answer, Answer::not_found);
    EXPECT_EQ(result.statistics.round_trips, 2U);
    EXPECT_EQ(result.statistics.verbs, 2U);
    EXPECT_EQ(result.statistics.lookups, 0U);
    const engine::SetResult stored = client.set(absent, bytes_of("2"));
    EXPECT_EQ(stored.statistics.round_trips, 3U);
    EXPECT_EQ(client.get(absent).value, bytes_of("2"));
  });
}

TEST(Fingerprints, ThatAreEqualAreToldApartByTheKeys) {
  run_with_fingerprints([](TestStore&, Client& client) {
    const auto [first, second] = keys_with_equal_fingerprints();
    client.set(first, bytes_of("1"));
    EXPECT_EQ(client.get(second).answer, Answer::not_found);
    client.set(second, bytes_of("2"));
    EXPECT_EQ(client.get(first).value, bytes_of("1"));
    const engine::GetResult result = client.get(second);
    EXPECT_EQ(result.value, bytes_of("2"));
    EXPECT_EQ(result.statistics.lookups, 2U);
    EXPECT_EQ(client.remove(first).answer, Answer::deleted);
    EXPECT_EQ(client.get(first).answer, Answer::not_found);
    EXPECT_EQ(client.get(second).value, bytes_of("2"));
  });
}

// The container of another key fails to verify. Its entry says that it has not the key.
TEST(Fingerprints, PassDamagedContainersOfOtherKeys) {
  run_with_fingerprints([](TestStore& store, Client& client) {
    const std::vector<Bytes> keys = different_keys(3);
    client.set(keys[0], bytes_of("1"));
    client.set(keys[1], bytes_of("2"));
    const auto damaged = find_planted(*store.server(), keys[0]);
    ASSERT_TRUE(damaged);
    store.server()->memory().write(damaged->container_offset, Bytes(24));
    EXPECT_EQ(client.get(keys[1]).value, bytes_of("2"));
    EXPECT_EQ(client.get(keys[2]).answer, Answer::not_found);
    EXPECT_EQ(client.get(keys[0]).answer, Answer::corrupted);
    EXPECT_EQ(client.statistics().restarts, 1U);
    EXPECT_EQ(client.set(keys[0], bytes_of("3")).answer, Answer::stored);
    EXPECT_EQ(client.get(keys[0]).value, bytes_of("3"));
  });
}

TEST(SizeClasses, LetASearchReadContainersOfEveryLengthAtOnce) {
  run_with_fingerprints([](TestStore&, Client& client) {
    const Bytes key = key_at(100, 0, fingerprinted_entries);
    const std::uint64_t others = engine::container_bytes(key.size(), 0);
    for (const std::uint64_t length : {others, std::uint64_t{64}, std::uint64_t{65},
                                       std::uint64_t{1'000}, std::uint64_t{4'096}}) {
      const Bytes value(length - others, std::byte{7});
      client.set(key, value);
      const engine::GetResult result = client.get(key);
      EXPECT_EQ(result.value, value);
      EXPECT_EQ(result.statistics.round_trips, 2U) << length;
      EXPECT_LT(result.statistics.bytes,
                chunk_bytes_read + std::max<std::uint64_t>(65, 2 * length));
    }
    const Bytes value(5'000, std::byte{7});
    client.set(key, value);
    const engine::GetResult result = client.get(key);
    EXPECT_EQ(result.value, value);
    EXPECT_EQ(result.statistics.round_trips, 3U);
  });
}

// The first candidate fills the buffer, so the second one is read after it; and no READ is shorter
// than a header because the first one has left too little room.
TEST(SizeClasses, LeaveCandidatesThatDoNotFitTheBufferToTheNextRoundTrip) {
  for (const std::uint32_t buffer_bytes : {24U, 72U, 96U, 200U}) {
    const engine::ReadaheadOptions readahead{
        .container_bytes = buffer_bytes / 2, .containers = 2, .adaptive = false};
    const engine::ReadaheadOptions smallest{
        .container_bytes = 24, .containers = 1, .adaptive = false};
    run_with_fingerprints(
        [](TestStore&, Client& client) {
          const auto [first, second] = keys_with_equal_fingerprints();
          client.set(first, bytes_of("1"));
          client.set(second, Bytes(150, std::byte{2}));
          EXPECT_EQ(client.get(first).value, bytes_of("1"));
          EXPECT_EQ(client.get(second).value, Bytes(150, std::byte{2}));
          EXPECT_EQ(client.statistics().restarts, 0U);
        },
        buffer_bytes < 48 ? smallest : readahead);
  }
}

// A hostile client can give an entry any size class. The length in the container counts.
TEST(SizeClasses, ThatAreWrongCostAReadAndNoAnswer) {
  run_with_fingerprints([](TestStore& store, Client& client) {
    const Bytes key = key_at(100, 0, fingerprinted_entries);
    const Bytes value(1'000, std::byte{7});
    client.set(key, value);
    const auto planted = find_planted(*store.server(), key);
    ASSERT_TRUE(planted);
    const engine::Geometry& geometry = store.server()->geometry();
    const std::uint64_t hash = engine::hash_of(key, engine::HashKey{});
    for (const std::uint64_t claimed : {64U, 512U, 4'096U, 100'000U}) {
      store_entry(*store.server(), planted->slot,
                  planted->entry.moved_to(
                      engine::References(geometry).to(planted->container_offset, hash, claimed)));
      EXPECT_EQ(client.get(key).value, value) << claimed;
    }
    store_entry(*store.server(), planted->slot, planted->entry);
  });
}

// The chain is longer than a READ of the table, but its second reading takes one.
TEST(Fingerprints, LetASearchForAnAbsentKeyBehindALongChainTakeThreeRoundTrips) {
  run_with_fingerprints([](TestStore&, Client& client) {
    std::vector<Bytes> keys = different_keys(51);
    const Bytes absent = keys.back();
    keys.pop_back();
    for (const Bytes& key : keys) client.set(key, bytes_of("1"));
    const engine::GetResult result = client.get(absent);
    EXPECT_EQ(result.answer, Answer::not_found);
    EXPECT_EQ(result.statistics.round_trips, 3U);
    EXPECT_EQ(result.statistics.verbs, 3U);
    EXPECT_EQ(result.statistics.lookups, 0U);
  });
}

}  // namespace
}  // namespace falafel::engine_test
