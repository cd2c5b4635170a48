// Operations of a client with a location cache: one round trip while the cache is right, and the
// same answers as without a cache when it is wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/layout/container.h"
#include "tests/engine/planted.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

constexpr std::uint64_t cached_table_entries = 1'024;

Bytes cached_key(std::uint64_t slot, int number) {
  return key_at(slot, number, cached_table_entries);
}

StoreOptions options_with_cache() {
  StoreOptions options;
  options.server.geometry.table_entries = cached_table_entries;
  options.client.location_cache.entries = 64;
  return options;
}

// Runs a store with two clients on one host. `other` has a cache of its own.
StoreRun run_two_clients(
    const StoreOptions& options,
    const std::function<void(TestStore&, fabric::Host&, Client&, Client&)>& body) {
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    const auto other = store.connect(host);
    ASSERT_TRUE(other.has_value());
    // Their first regions.
    ASSERT_EQ(client.set(bytes_of("first"), {}).answer, Answer::stored);
    ASSERT_EQ((*other)->set(bytes_of("first"), {}).answer, Answer::stored);
    body(store, host, client, **other);
    (*other)->disconnect();
  });
  StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
  return run;
}

template <typename Result>
void expect_answer(const Result& result, Answer answer, std::uint64_t round_trips) {
  EXPECT_EQ(result.answer, answer) << to_string(result.answer);
  EXPECT_EQ(result.statistics.round_trips, round_trips);
}

TEST(CachedOperations, TakeOneRoundTrip) {
  run_two_clients(options_with_cache(),
                  [](TestStore&, fabric::Host&, Client& client, Client& other) {
                    const Bytes key = cached_key(100, 0);
                    expect_answer(client.set(key, bytes_of("1")), Answer::stored, 2);
                    const engine::GetResult first = client.get(key);
                    expect_answer(first, Answer::found, 1);
                    EXPECT_EQ(first.value, bytes_of("1"));
                    EXPECT_EQ(first.statistics.verbs, 2U);
                    EXPECT_EQ(first.statistics.cached_locations, 1U);
                    const engine::SetResult set = client.set(key, bytes_of("2"));
                    expect_answer(set, Answer::stored, 1);
                    EXPECT_EQ(set.statistics.verbs, 2U);
                    EXPECT_EQ(set.statistics.cached_locations, 1U);
                    EXPECT_EQ(client.get(key).value, bytes_of("2"));
                    expect_answer(other.get(key), Answer::found, 2);
                    expect_answer(other.get(key), Answer::found, 1);
                    const engine::DeleteResult deletion = other.remove(key);
                    expect_answer(deletion, Answer::deleted, 1);
                    EXPECT_EQ(deletion.statistics.verbs, 1U);
                    EXPECT_EQ(deletion.statistics.cached_locations, 1U);
                    expect_answer(other.get(key), Answer::not_found, 2);
                    EXPECT_EQ(other.statistics().stale_locations, 0U);
                  });
}

TEST(CachedOperations, TakeOneRoundTripBehindAChain) {
  run_two_clients(options_with_cache(), [](TestStore&, fabric::Host&, Client& client, Client&) {
    for (int number = 0; number < 40; ++number) client.set(cached_key(100, number), bytes_of("1"));
    expect_answer(client.get(cached_key(100, 39)), Answer::found, 1);
    expect_answer(client.set(cached_key(100, 39), bytes_of("2")), Answer::stored, 1);
    expect_answer(client.remove(cached_key(100, 39)), Answer::deleted, 1);
  });
}

TEST(CachedOperations, OfLongValuesTakeOneRoundTrip) {
  run_two_clients(options_with_cache(),
                  [](TestStore&, fabric::Host&, Client& client, Client& other) {
                    const Bytes key = cached_key(100, 0);
                    const Bytes value(5'000, std::byte{7});
                    client.set(key, value);
                    expect_answer(client.get(key), Answer::found, 1);
                    EXPECT_EQ(client.get(key).value, value);
                    expect_answer(other.get(key), Answer::found, 3);
                    expect_answer(other.get(key), Answer::found, 1);
                    EXPECT_EQ(other.get(key).value, value);
                  });
}

TEST(CachedOperations, OfValuesLongerThanARequestReadTheRest) {
  StoreOptions options = options_with_cache();
  options.simulation.max_message_bytes = 4'096;
  run_two_clients(options, [](TestStore& store, fabric::Host&, Client& client, Client&) {
    const Bytes key = cached_key(100, 0);
    const Bytes value(10'000, std::byte{7});
    ASSERT_EQ(client.set(key, {}).answer, Answer::stored);
    const auto place = find_planted(*store.server(), key);
    ASSERT_TRUE(place);
    store.server()->memory().write(place->container_offset, container_of(key, value));
    EXPECT_EQ(client.get(key).value, value);
    const engine::GetResult result = client.get(key);
    EXPECT_EQ(result.value, value);
    EXPECT_EQ(result.statistics.round_trips, 3U) << "of 4,096 bytes each";
    EXPECT_EQ(result.statistics.cached_locations, 1U);
  });
}

TEST(CachedOperations, FindTheNewValueWhenTheEntryHasChanged) {
  run_two_clients(options_with_cache(),
                  [](TestStore&, fabric::Host&, Client& client, Client& other) {
                    const Bytes key = cached_key(100, 0);
                    client.set(key, bytes_of("1"));
                    other.set(key, bytes_of("2"));
                    const engine::GetResult stale = client.get(key);
                    expect_answer(stale, Answer::found, 2);
                    EXPECT_EQ(stale.value, bytes_of("2"));
                    EXPECT_EQ(stale.statistics.stale_locations, 1U);
                    EXPECT_EQ(stale.statistics.cached_locations, 0U);
                    expect_answer(client.get(key), Answer::found, 1);

                    other.set(key, bytes_of("3"));
                    const engine::SetResult set = client.set(key, bytes_of("4"));
                    expect_answer(set, Answer::stored, 3);
                    EXPECT_EQ(set.statistics.stale_locations, 1U);
                    expect_answer(client.get(key), Answer::found, 1);
                    EXPECT_EQ(client.get(key).value, bytes_of("4"));

                    other.set(key, bytes_of("5"));
                    expect_answer(client.remove(key), Answer::deleted, 3);
                    EXPECT_EQ(other.get(key).answer, Answer::not_found);
                  });
}

TEST(CachedOperations, SeeThatTheKeyWasDeleted) {
  run_two_clients(
      options_with_cache(), [](TestStore&, fabric::Host&, Client& client, Client& other) {
        std::vector<Bytes> keys;
        for (int number = 0; number < 3; ++number)
          keys.push_back(cached_key(100U + 10U * static_cast<std::uint64_t>(number), 0));
        for (const Bytes& key : keys) {
          client.set(key, bytes_of("1"));
          other.remove(key);
        }
        expect_answer(client.get(keys[0]), Answer::not_found, 2);
        expect_answer(client.remove(keys[1]), Answer::not_found, 2);
        expect_answer(client.set(keys[2], bytes_of("2")), Answer::stored, 3);
        EXPECT_EQ(other.get(keys[2]).value, bytes_of("2"));
      });
}

// The slot of the key is empty, or belongs to another key.
TEST(CachedOperations, FindAKeyThatACleanupHasMoved) {
  run_two_clients(options_with_cache(), [](TestStore& store, fabric::Host&, Client& client,
                                           Client& other) {
    const auto keys = [](int number) { return cached_key(100, number); };
    for (int number = 0; number < 4; ++number) client.set(keys(number), bytes_of("1"));
    other.remove(keys(0));
    store.server()->clean_up();
    const engine::GetResult moved = client.get(keys(3));
    EXPECT_EQ(moved.answer, Answer::found) << "its slot is empty";
    EXPECT_EQ(moved.statistics.stale_locations, 1U);
    expect_answer(client.get(keys(3)), Answer::found, 1);
    EXPECT_EQ(client.set(keys(1), bytes_of("2")).answer, Answer::stored) << "key 2 is there now";
    EXPECT_EQ(client.remove(keys(2)).answer, Answer::deleted) << "key 3 is there now";
    EXPECT_EQ(client.get(keys(0)).answer, Answer::not_found);
    EXPECT_EQ(other.get(keys(1)).value, bytes_of("2"));
    EXPECT_EQ(other.get(keys(2)).answer, Answer::not_found);
    EXPECT_EQ(other.get(keys(3)).value, bytes_of("1"));
  });
}

// The server is about to move the key. The audit removes this lock, which nobody holds.
TEST(CachedOperations, WaitForALock) {
  StoreOptions options = options_with_cache();
  options.server.cleanup_interval_ns = millisecond_ns;
  run_two_clients(options, [](TestStore& store, fabric::Host&, Client& client, Client& other) {
    const Bytes key = cached_key(100, 0);
    client.set(key, bytes_of("1"));
    const auto place = find_planted(*store.server(), key);
    ASSERT_TRUE(place);
    store_entry(*store.server(), place->slot, place->entry.with_locked());
    const engine::SetResult result = client.set(key, bytes_of("2"));
    EXPECT_EQ(result.answer, Answer::stored);
    EXPECT_GT(result.statistics.restarts, 0U);
    EXPECT_EQ(other.get(key).value, bytes_of("2"));
  });
}

TEST(CachedOperations, FindAContainerThatWasCollected) {
  StoreOptions options = options_with_cache();
  options.server.geometry.region_bytes = 128;
  run_two_clients(options, [](TestStore&, fabric::Host& host, Client& client, Client& other) {
    const Bytes key = cached_key(100, 0);
    ASSERT_EQ(client.set(key, bytes_of("1")).answer, Answer::stored);
    for (int number = 0; number < 8; ++number) client.set(cached_key(200, number), bytes_of("2"));
    host.sleep_until(host.now_ns() + 10 * millisecond_ns);
    const engine::GetResult moved = client.get(key);
    expect_answer(moved, Answer::found, 2);
    EXPECT_EQ(moved.statistics.stale_locations, 1U);
    EXPECT_EQ(moved.value, bytes_of("1"));
    expect_answer(client.get(key), Answer::found, 1);
    EXPECT_EQ(other.get(key).value, bytes_of("1"));
  });
}

TEST(CachedOperations, DoNotTrustALocationForLongerThanItsTime) {
  StoreOptions options = options_with_cache();
  options.client.location_cache.trust_ns = 10 * millisecond_ns;
  run_two_clients(options, [](TestStore&, fabric::Host& host, Client& client, Client&) {
    const Bytes key = cached_key(100, 0);
    client.set(key, bytes_of("1"));
    for (int repetition = 0; repetition < 4; ++repetition) {
      host.sleep_until(host.now_ns() + 8 * millisecond_ns);
      expect_answer(client.get(key), Answer::found, 1);
    }
    host.sleep_until(host.now_ns() + 11 * millisecond_ns);
    const engine::GetResult expired = client.get(key);
    expect_answer(expired, Answer::found, 2);
    EXPECT_EQ(expired.statistics.stale_locations, 0U);
    expect_answer(client.get(key), Answer::found, 1);
    host.sleep_until(host.now_ns() + 11 * millisecond_ns);
    expect_answer(client.set(key, bytes_of("2")), Answer::stored, 3);
    host.sleep_until(host.now_ns() + 11 * millisecond_ns);
    expect_answer(client.remove(key), Answer::deleted, 3);
  });
}

TEST(CachedOperations, TrustLocationsForEverWithoutTheSafeguard) {
  StoreOptions options = options_with_cache();
  engine::Safeguards safeguards;
  safeguards.location_expiry = false;
  options.set_safeguards(safeguards);
  options.client.location_cache.trust_ns = millisecond_ns;
  run_two_clients(options, [](TestStore&, fabric::Host& host, Client& client, Client&) {
    client.set(cached_key(100, 0), bytes_of("1"));
    host.sleep_until(host.now_ns() + 10 * millisecond_ns);
    expect_answer(client.get(cached_key(100, 0)), Answer::found, 1);
  });
}

// The location is as old as its use, which comes after the wait.
TEST(CachedOperations, DoNotUseALocationThatExpiresWhileASetWaitsForMemory) {
  StoreOptions options = options_with_cache();
  options.server.geometry.region_bytes = 64;
  options.client.location_cache.trust_ns = 10 * millisecond_ns;
  run_two_clients(options, [](TestStore& store, fabric::Host& host, Client& client, Client&) {
    const Bytes key = cached_key(100, 0);
    ASSERT_EQ(client.set(key, bytes_of("1")).answer, Answer::stored);
    host.sleep_until(host.now_ns() + millisecond_ns);
    client.get(key);
    store.simulation().pause("server", 20 * millisecond_ns);
    bool has_waited = false;
    for (int number = 2; number < 6 && !has_waited; ++number) {
      const std::uint64_t begin_ns = host.now_ns();
      const engine::SetResult result = client.set(key, bytes_of(fmt::format("{}", number)));
      EXPECT_EQ(result.answer, Answer::stored);
      has_waited = host.now_ns() - begin_ns > 15 * millisecond_ns;
      EXPECT_EQ(result.statistics.cached_locations, has_waited ? 0U : 1U);
    }
    EXPECT_TRUE(has_waited);
  });
}

// The entry may have changed since the network read it.
TEST(CachedOperations, TrustALocationFromTheBeginningOfTheOperationThatSawIt) {
  StoreOptions options = options_with_cache();
  options.client.location_cache.trust_ns = 10 * millisecond_ns;
  run_two_clients(options, [](TestStore& store, fabric::Host& host, Client& client, Client&) {
    const Bytes key = cached_key(100, 0);
    client.set(key, bytes_of("1"));
    const std::uint64_t begin_ns = host.now_ns();
    store.simulation().pause("client 0", 20 * millisecond_ns);
    expect_answer(client.get(key), Answer::found, 1);
    ASSERT_GT(host.now_ns() - begin_ns, 10 * millisecond_ns);
    expect_answer(client.get(key), Answer::found, 2);
  });
}

TEST(CachedOperations, ReportAndRepairADamagedContainer) {
  run_two_clients(
      options_with_cache(), [](TestStore& store, fabric::Host&, Client& client, Client& other) {
        const Bytes key = cached_key(100, 0);
        client.set(key, bytes_of("1"));
        const auto place = find_planted(*store.server(), key);
        ASSERT_TRUE(place);
        store.server()->memory().write(place->container_offset, Bytes(16, std::byte{0xff}));
        EXPECT_EQ(client.get(key).answer, Answer::corrupted);
        EXPECT_EQ(client.set(key, bytes_of("2")).answer, Answer::stored);
        EXPECT_EQ(client.get(key).value, bytes_of("2"));
        EXPECT_EQ(other.get(key).value, bytes_of("2"));
      });
}

// Only the value is damaged, so the examination of the key does not notice.
TEST(CachedOperations, ReportADamagedValue) {
  run_two_clients(options_with_cache(),
                  [](TestStore& store, fabric::Host&, Client& client, Client&) {
                    const Bytes key = cached_key(100, 0);
                    client.set(key, bytes_of("value"));
                    const auto place = find_planted(*store.server(), key);
                    ASSERT_TRUE(place);
                    Bytes container = container_of(key, bytes_of("value"));
                    container.back() = std::byte{0xff};
                    store.server()->memory().write(place->container_offset, container);
                    EXPECT_EQ(client.get(key).answer, Answer::corrupted);
                  });
}

TEST(CachedOperations, OfManyFibersShareTheCache) {
  run_two_clients(options_with_cache(),
                  [](TestStore&, fabric::Host& host, Client& client, Client& other) {
                    const Bytes key = cached_key(100, 0);
                    client.set(key, bytes_of("0"));
                    std::vector<fabric::FiberId> fibers;
                    for (int fiber = 0; fiber < 4; ++fiber) {
                      fibers.push_back(host.spawn({.name = "fiber"}, [&client, &key] {
                        for (int round = 0; round < 20; ++round) {
                          EXPECT_EQ(client.set(key, bytes_of("1")).answer, Answer::stored);
                          EXPECT_EQ(client.get(key).answer, Answer::found);
                        }
                      }));
                    }
                    for (const fabric::FiberId fiber : fibers) host.join(fiber);
                    EXPECT_EQ(other.get(key).value, bytes_of("1"));
                    EXPECT_GT(client.statistics().cached_locations, 0U);
                  });
}

TEST(CachedOperations, OfAClientThatLosesItsServerAnswer) {
  run_two_clients(
      options_with_cache(), [](TestStore&, fabric::Host& host, Client& client, Client&) {
        const Bytes key = cached_key(100, 0);
        client.set(key, bytes_of("1"));
        const auto wait = host.spawn({.name = "goodbye"}, [&client] { client.disconnect(); });
        host.join(wait);
        EXPECT_EQ(client.get(key).answer, Answer::disconnected);
        EXPECT_EQ(client.set(key, bytes_of("2")).answer, Answer::disconnected);
        EXPECT_EQ(client.remove(key).answer, Answer::disconnected);
      });
}

TEST(CachedOperations, NeedValidOptions) {
  fabric::FiberStackPool stacks;
  TestStore store(StoreOptions{}, stacks);
  store.add_host("client", [&](fabric::Host& host) {
    engine::ClientOptions options;
    options.location_cache.trust_ns = 0;
    const auto refused = Client::connect(host, store.address(), options);
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().detail.find("location_cache.trust_ns"), std::string::npos);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

}  // namespace
}  // namespace falafel::engine_test
