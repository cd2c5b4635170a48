// COMPARE-AND-SET: stores a value only if the key has the expected one or is absent as expected.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/client/client.h"
#include "tests/engine/planted.h"
#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::Condition;

constexpr std::uint64_t comparing_ns = millisecond_ns;

StoreOptions options_of_expiring_store() {
  StoreOptions options;
  options.server.geometry.values_expire = true;
  return options;
}

void run_comparing_client(const StoreOptions& options, const ClientBody& body) {
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  store.add_client(body);
  run_without_problems(store);
}

Answer replace_value(Client& client, const Bytes& key, const Bytes& expected, const Bytes& value) {
  return client.compare_and_set(key, Condition::equals(expected), value, std::nullopt).answer;
}

Answer add_key(Client& client, const Bytes& key, const Bytes& value) {
  return client.compare_and_set(key, Condition::absent(), value, std::nullopt).answer;
}

TEST(CompareAndSet, StoresIfTheKeyHasTheExpectedValue) {
  run_comparing_client({}, [](fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    EXPECT_EQ(replace_value(client, key, bytes_of("1"), bytes_of("2")), Answer::differs);
    EXPECT_EQ(client.get(key).answer, Answer::not_found);
    client.set(key, bytes_of("1"));
    EXPECT_EQ(replace_value(client, key, bytes_of("2"), bytes_of("3")), Answer::differs);
    EXPECT_EQ(replace_value(client, key, bytes_of("12"), bytes_of("3")), Answer::differs);
    EXPECT_EQ(replace_value(client, key, {}, bytes_of("3")), Answer::differs);
    EXPECT_EQ(client.get(key).value, bytes_of("1"));
    EXPECT_EQ(replace_value(client, key, bytes_of("1"), Bytes(300)), Answer::stored);
    EXPECT_EQ(client.get(key).value, Bytes(300));
    EXPECT_EQ(replace_value(client, key, Bytes(300), {}), Answer::stored);
    EXPECT_EQ(replace_value(client, key, {}, bytes_of("4")), Answer::stored);
    EXPECT_EQ(client.get(key).value, bytes_of("4"));
    client.remove(key);
    EXPECT_EQ(replace_value(client, key, bytes_of("4"), bytes_of("5")), Answer::differs);
  });
}

TEST(CompareAndSet, StoresIfTheKeyIsAbsent) {
  run_comparing_client({}, [](fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    EXPECT_EQ(add_key(client, key, bytes_of("1")), Answer::stored);
    EXPECT_EQ(add_key(client, key, bytes_of("2")), Answer::differs);
    EXPECT_EQ(client.get(key).value, bytes_of("1"));
    client.remove(key);
    EXPECT_EQ(add_key(client, key, bytes_of("3")), Answer::stored);
    EXPECT_EQ(client.get(key).value, bytes_of("3"));
  });
}

TEST(CompareAndSet, ComparesAValueThatFindHasNotRead) {
  StoreOptions options;
  options.client.readahead.container_bytes = 64;
  run_comparing_client(options, [](fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    Bytes value(900, std::byte{7});
    client.set(key, value);
    Bytes other = value;
    other.back() = std::byte{8};
    EXPECT_EQ(replace_value(client, key, other, bytes_of("1")), Answer::differs);
    EXPECT_EQ(replace_value(client, key, value, bytes_of("1")), Answer::stored);
  });
}

TEST(CompareAndSet, RefusesAsSetDoes) {
  run_comparing_client({}, [](fabric::Host&, Client& client) {
    EXPECT_EQ(add_key(client, {}, bytes_of("1")), Answer::invalid_key);
    EXPECT_EQ(add_key(client, bytes_of("key"), Bytes(std::size_t{1} << 24)),
              Answer::value_too_large);
    EXPECT_EQ(client.compare_and_set(bytes_of("key"), Condition::absent(), {}, comparing_ns).answer,
              Answer::not_a_cache);
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
  });
}

// SET repairs a damaged container. An operation that depends on the value cannot.
TEST(CompareAndSet, DoesNotReplaceAValueThatItCannotRead) {
  fabric::FiberStackPool stacks;
  TestStore store({}, stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    client.set(key, bytes_of("1"));
    const auto place = find_planted(*store.server(), key);
    ASSERT_TRUE(place);
    Bytes container = container_of(key, bytes_of("1"));
    container.back() ^= std::byte{1};
    store.server()->memory().write(place->container_offset, container);
    EXPECT_EQ(replace_value(client, key, bytes_of("1"), bytes_of("2")), Answer::corrupted);
    EXPECT_EQ(add_key(client, key, bytes_of("2")), Answer::corrupted);
    EXPECT_EQ(client.set(key, bytes_of("3")).answer, Answer::stored);
    EXPECT_EQ(replace_value(client, key, bytes_of("3"), bytes_of("4")), Answer::stored);
  });
  run_without_problems(store);
}

TEST(CompareAndSet, KeepsTheExpiryOrSetsIt) {
  run_comparing_client(options_of_expiring_store(), [](fabric::Host& host, Client& client) {
    const Bytes kept = bytes_of("kept");
    const Bytes prolonged = bytes_of("prolonged");
    const Bytes endless = bytes_of("endless");
    for (const Bytes& key : {kept, prolonged, endless})
      client.set(key, bytes_of("1"), comparing_ns);
    const std::uint64_t expires_ns = client.get(kept).expires_ns;
    EXPECT_GT(expires_ns, host.wall_clock_ns());
    EXPECT_EQ(replace_value(client, kept, bytes_of("1"), bytes_of("2")), Answer::stored);
    EXPECT_EQ(client.get(kept).expires_ns, expires_ns);
    EXPECT_EQ(client
                  .compare_and_set(prolonged, Condition::equals(bytes_of("1")), bytes_of("1"),
                                   4 * comparing_ns)
                  .answer,
              Answer::stored);
    EXPECT_EQ(
        client.compare_and_set(endless, Condition::equals(bytes_of("1")), bytes_of("1"), 0).answer,
        Answer::stored);
    EXPECT_EQ(client.get(endless).expires_ns, 0U);
    host.sleep_until(host.now_ns() + 2 * comparing_ns);
    EXPECT_EQ(client.get(kept).answer, Answer::not_found);
    EXPECT_EQ(client.get(prolonged).value, bytes_of("1"));
    host.sleep_until(host.now_ns() + 4 * comparing_ns);
    EXPECT_EQ(client.get(prolonged).answer, Answer::not_found);
    EXPECT_EQ(client.get(endless).value, bytes_of("1"));
  });
}

TEST(CompareAndSet, FindsAnExpiredValueAbsent) {
  run_comparing_client(options_of_expiring_store(), [](fabric::Host& host, Client& client) {
    const Bytes key = bytes_of("key");
    client.set(key, bytes_of("1"), comparing_ns);
    host.sleep_until(host.now_ns() + 2 * comparing_ns);
    EXPECT_EQ(replace_value(client, key, bytes_of("1"), bytes_of("2")), Answer::differs);
    client.set(key, bytes_of("3"), comparing_ns);
    host.sleep_until(host.now_ns() + 2 * comparing_ns);
    EXPECT_EQ(add_key(client, key, bytes_of("4")), Answer::stored);
    EXPECT_EQ(client.get(key).value, bytes_of("4"));
    EXPECT_EQ(client.get(key).expires_ns, 0U);
  });
}

std::uint64_t counter_in(const Bytes& value) {
  std::uint64_t number = 0;
  const auto* const text = reinterpret_cast<const char*>(value.data());
  std::from_chars(text, text + value.size(), number);
  return number;
}

// Adds one and returns what was there before.
std::uint64_t increment(Client& client, const Bytes& key) {
  for (;;) {
    const engine::GetResult found = client.get(key);
    const std::uint64_t number = counter_in(found.value);
    const Bytes next = bytes_of(fmt::format("{}", number + 1));
    const Answer answer = found.answer == Answer::found
                              ? replace_value(client, key, found.value, next)
                              : add_key(client, key, next);
    if (answer == Answer::stored) return number;
    EXPECT_EQ(answer, Answer::differs);
  }
}

// The memory is small, so that the server collects it and moves the value, and cleanups move the
// entries.
TEST(CompareAndSet, LosesNoIncrement) {
  constexpr std::uint32_t clients = 3;
  constexpr std::uint32_t increments = 8;
  std::uint64_t collected = 0;
  for_each_seed(15, [&](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options;
    options.seed = seed;
    options.server.geometry.table_entries = 4;
    options.server.geometry.region_bytes = 128;
    options.server.geometry.region_count = 4;
    options.server.geometry.mature_bytes = 512;
    options.server.cleanup_interval_ns = 100 * microsecond_ns;
    TestStore store(options, stacks);
    const Bytes key = bytes_of("counter");
    for (std::uint32_t number = 0; number < clients; ++number) {
      store.add_client([&, number](fabric::Host&, Client& client) {
        const Bytes own = bytes_of(fmt::format("own {}", number));
        for (std::uint32_t step = 0; step < increments; ++step) {
          increment(client, key);
          client.set(own, Bytes(20));
          client.remove(own);
        }
        EXPECT_EQ(client.get(key).answer, Answer::found);
      });
    }
    const StoreRun run = run_without_problems(store);
    collected += run.inspection.statistics.regions_collected;
    const auto counter = run.state.contents.find(key);
    ASSERT_NE(counter, run.state.contents.end());
    EXPECT_EQ(counter_in(counter->second), clients * increments);
  });
  EXPECT_GT(collected, 0U);
}

// Each client adds keys that others add too. One of them succeeds.
TEST(CompareAndSet, AddsAKeyOnce) {
  for_each_seed(100, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options;
    options.seed = seed;
    options.server.geometry.table_entries = 8;
    TestStore store(options, stacks);
    std::uint32_t added = 0;
    for (std::uint32_t number = 0; number < 3; ++number) {
      store.add_client([&, number](fabric::Host&, Client& client) {
        for (std::uint32_t key = 0; key < 4; ++key) {
          const Answer answer = add_key(client, bytes_of(fmt::format("key {}", key)),
                                        bytes_of(fmt::format("of client {}", number)));
          if (answer == Answer::stored) ++added;
        }
      });
    }
    run_without_problems(store);
    EXPECT_EQ(added, 4U);
  });
}

// It costs no more than a SET, which replaces in three round trips.
TEST(CompareAndSet, ReadsAShortValueWithItsContainer) {
  run_comparing_client({}, [](fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    client.set(key, bytes_of("1"));
    const engine::SetResult set = client.set(key, bytes_of("2"));
    const engine::SetResult compared =
        client.compare_and_set(key, Condition::equals(bytes_of("2")), bytes_of("3"), std::nullopt);
    EXPECT_EQ(compared.answer, Answer::stored);
    EXPECT_EQ(compared.statistics.round_trips, set.statistics.round_trips);
  });
}

}  // namespace
}  // namespace falafel::engine_test
