// Values with a time to live: they are found until they expire, absent afterwards for everybody
// whatever their clocks say, and leave the memory with the next collection.
#include "engine/layout/expiry.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/client/condition.h"
#include "engine/layout/container.h"
#include "engine/layout/pinned.h"
#include "engine/layout/superblock.h"
#include "engine/probes.h"
#include "tests/engine/planted.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

namespace probes = engine::probes;

constexpr std::uint64_t time_to_live_ns = millisecond_ns;

StoreOptions cache_options() {
  StoreOptions options;
  options.server.geometry.values_expire = true;
  return options;
}

// Runs two clients of the store on hosts of their own in turn: step i on client i % 2.
using Step = std::function<void(TestStore&, fabric::Host&, Client&)>;
StoreRun run_without_expectation(const StoreOptions& options, const std::vector<Step>& steps) {
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  std::size_t next = 0;
  for (std::size_t client = 0; client < 2; ++client) {
    store.add_client([&, client](fabric::Host& host, Client& connection) {
      while (next < steps.size()) {
        if (next % 2 == client) {
          steps[next](store, host, connection);
          ++next;
        } else {
          host.sleep_until(host.now_ns() + 10 * microsecond_ns);
        }
      }
    });
  }
  return store.run();
}

StoreRun run_in_turn(const StoreOptions& options, const std::vector<Step>& steps) {
  StoreRun run = run_without_expectation(options, steps);
  EXPECT_TRUE(run.problems.empty()) << describe(run);
  return run;
}

StoreRun run_alone(const StoreOptions& options, const Step& body) {
  return run_in_turn(options, {body});
}

TEST(Expiry, PrecedesTheCallersBytes) {
  engine::Geometry geometry;
  EXPECT_TRUE(engine::expiry_prefix(geometry, 5).empty());
  EXPECT_EQ(geometry.value_prefix_bytes(), 0U);
  geometry.values_expire = true;
  const std::uint64_t expiry_ns = 0x0102'0304'0506'0708;
  const auto prefix = engine::expiry_prefix(geometry, expiry_ns);
  ASSERT_EQ(prefix.size(), geometry.value_prefix_bytes());
  EXPECT_EQ(prefix.front(), std::byte{8});
  EXPECT_EQ(prefix.back(), std::byte{1});

  const Bytes key = bytes_of("key");
  const Bytes value = bytes_of("value");
  Bytes whole(prefix.begin(), prefix.end());
  whole.insert(whole.end(), value.begin(), value.end());
  Bytes container(engine::container_bytes(key.size(), whole.size()));
  engine::write_container(key, value, container, prefix);
  EXPECT_EQ(container, container_of(key, whole));
  const auto rest = engine::without_expiry(geometry, whole);
  EXPECT_EQ(Bytes(rest.begin(), rest.end()), value);
}

TEST(Expiry, IsAtTheEndOfTheTimeToLive) {
  constexpr std::uint64_t longest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(engine::expiry_of(100, 0), engine::never_expires);
  EXPECT_EQ(engine::expiry_of(100, 20), 120U);
  EXPECT_EQ(engine::expiry_of(100, longest - 2), longest - 1);
  EXPECT_EQ(engine::expiry_of(longest, 1), longest - 1);
  const auto bytes = [](std::uint64_t expiry_ns) {
    Bytes value(sizeof expiry_ns);
    std::memcpy(value.data(), &expiry_ns, sizeof expiry_ns);
    return value;
  };
  EXPECT_FALSE(engine::is_expired(bytes(120), 119));
  EXPECT_TRUE(engine::is_expired(bytes(120), 120));
  EXPECT_FALSE(engine::is_expired(bytes(engine::never_expires), longest));
  EXPECT_TRUE(engine::is_expired(Bytes(7), 0));  // no correct client writes it
}

TEST(Expiry, IsAllOnesForPinnedValues) {
  constexpr std::uint64_t all_ones = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(engine::expiry_of(100, engine::pinned_time_to_live_ns), all_ones);
  EXPECT_EQ(engine::expiry_of(100, all_ones), all_ones);
  const Bytes pinned(engine::expiry_bytes + 1, std::byte{0xff});
  EXPECT_TRUE(engine::is_pinned(pinned));
  EXPECT_FALSE(engine::is_expired(pinned, all_ones));
  EXPECT_EQ(engine::time_to_live_left(pinned, 100), engine::pinned_time_to_live_ns);
  EXPECT_FALSE(engine::is_pinned(Bytes(engine::expiry_bytes - 1, std::byte{0xff})));
  EXPECT_FALSE(engine::is_pinned(Bytes(engine::expiry_bytes)));
}

TEST(Expiry, IsPartOfTheLayoutOfACacheOnly) {
  engine::Geometry geometry;
  EXPECT_EQ(engine::make_superblock(geometry, {}, 1).version, engine::layout_version);
  geometry.values_expire = true;
  geometry.fingerprint_bits = 3;
  const engine::Superblock superblock = engine::make_superblock(geometry, {}, 1);
  EXPECT_EQ(superblock.version, engine::cache_layout_version);
  EXPECT_EQ(engine::geometry_of(superblock), geometry);
}

TEST(TimeToLive, EndsForAClientThatReadsLater) {
  const StoreRun run = run_in_turn(
      cache_options(), {[](TestStore&, fabric::Host&, Client& client) {
                          EXPECT_TRUE(client.is_cache());
                          client.set(bytes_of("key"), bytes_of("1"), time_to_live_ns);
                          client.set(bytes_of("kept"), bytes_of("2"));
                          EXPECT_EQ(client.get(bytes_of("key")).value, bytes_of("1"));
                        },
                        [](TestStore&, fabric::Host& host, Client& client) {
                          EXPECT_EQ(client.get(bytes_of("key")).value, bytes_of("1"));
                          host.sleep_until(host.now_ns() + time_to_live_ns);
                          EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
                          EXPECT_EQ(client.get(bytes_of("kept")).value, bytes_of("2"));
                        }});
  EXPECT_EQ(run.probe(probes::value_expired), 1U);
  EXPECT_EQ(run.state.contents.size(), 1U);
}

TEST(TimeToLive, IsThatOfTheLastSet) {
  run_alone(cache_options(), [](TestStore&, fabric::Host& host, Client& client) {
    const Bytes key = bytes_of("key");
    client.set(key, bytes_of("1"), time_to_live_ns);
    client.set(key, bytes_of("2"), 4 * time_to_live_ns);
    host.sleep_until(host.now_ns() + 2 * time_to_live_ns);
    EXPECT_EQ(client.get(key).value, bytes_of("2"));
    client.set(key, bytes_of("3"));
    host.sleep_until(host.now_ns() + 4 * time_to_live_ns);
    EXPECT_EQ(client.get(key).value, bytes_of("3"));
    client.set(key, bytes_of("4"), time_to_live_ns);
    host.sleep_until(host.now_ns() + 2 * time_to_live_ns);
    EXPECT_EQ(client.set(key, bytes_of("5")).answer, Answer::stored);
    EXPECT_EQ(client.get(key).value, bytes_of("5"));
  });
}

TEST(TimeToLive, EndsForALocationCacheToo) {
  StoreOptions options = cache_options();
  options.client.location_cache.entries = 64;
  run_alone(options, [](TestStore&, fabric::Host& host, Client& client) {
    const Bytes key = bytes_of("key");
    client.set(key, bytes_of("1"), time_to_live_ns);
    const engine::GetResult found = client.get(key);
    EXPECT_EQ(found.value, bytes_of("1"));
    EXPECT_EQ(found.statistics.round_trips, 1U);
    host.sleep_until(host.now_ns() + time_to_live_ns);
    const engine::GetResult expired = client.get(key);
    EXPECT_EQ(expired.answer, Answer::not_found);
    EXPECT_EQ(expired.statistics.round_trips, 2U);  // the second one deletes it
    EXPECT_EQ(client.get(key).answer, Answer::not_found);
  });
}

// A value that one client found expired does not come back for one whose clock is behind.
TEST(TimeToLive, EndsForAllClientsAtOnce) {
  run_in_turn(cache_options(),
              {[](TestStore&, fabric::Host&, Client& client) {
                 client.set(bytes_of("key"), bytes_of("1"), time_to_live_ns);
               },
               [](TestStore& store, fabric::Host&, Client& client) {
                 store.simulation().set_wall_clock("client 1", 2 * time_to_live_ns);
                 EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
               },
               [](TestStore&, fabric::Host&, Client& client) {
                 EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
                 EXPECT_EQ(client.remove(bytes_of("key")).answer, Answer::not_found);
               }});
}

TEST(TimeToLive, IsRefusedByAStoreThatIsNoCache) {
  run_alone({}, [](TestStore&, fabric::Host&, Client& client) {
    EXPECT_FALSE(client.is_cache());
    EXPECT_EQ(client.set(bytes_of("key"), bytes_of("1"), 1).answer, Answer::not_a_cache);
    EXPECT_EQ(client.set(bytes_of("key"), bytes_of("1"), engine::pinned_time_to_live_ns).answer,
              Answer::not_a_cache);
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
  });
}

TEST(TimeToLive, OfAPinnedValueIsThatOfTheLastSet) {
  run_alone(cache_options(), [](TestStore&, fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    const auto is_pinned = [&] {
      std::optional<std::uint64_t> left_ns;
      EXPECT_TRUE(client.for_each_key(
          [&](const engine::KeyAndValue& pair) { left_ns = pair.time_to_live_ns; }));
      const bool is_reported = left_ns == engine::pinned_time_to_live_ns;
      EXPECT_EQ(client.get(key).expires_ns == engine::pinned_expiry_ns, is_reported);
      return is_reported;
    };
    const auto compare_and_set = [&](const char* before, std::optional<std::uint64_t> lives_ns) {
      const Bytes present = bytes_of(before);
      const auto condition = engine::Condition::equals(present);
      EXPECT_EQ(client.compare_and_set(key, condition, bytes_of("2"), lives_ns).answer,
                Answer::stored);
    };
    client.set(key, bytes_of("1"), engine::pinned_time_to_live_ns);
    EXPECT_TRUE(is_pinned());
    compare_and_set("1", std::nullopt);
    EXPECT_TRUE(is_pinned());
    compare_and_set("2", 0);
    EXPECT_FALSE(is_pinned());
    compare_and_set("2", engine::pinned_time_to_live_ns);
    EXPECT_TRUE(is_pinned());
    client.set(key, bytes_of("1"));
    EXPECT_FALSE(is_pinned());
  });
}

TEST(TimeToLive, IsOneOfEachPairOfABatch) {
  run_alone(cache_options(), [](TestStore&, fabric::Host& host, Client& client) {
    const Bytes short_lived = bytes_of("short");
    const Bytes long_lived = bytes_of("long");
    const Bytes value = bytes_of("value");
    const std::vector<engine::KeyAndValue> pairs{{short_lived, value, time_to_live_ns},
                                                 {long_lived, value, 10 * time_to_live_ns}};
    client.set_many(pairs);
    host.sleep_until(host.now_ns() + 2 * time_to_live_ns);
    EXPECT_EQ(client.get(short_lived).answer, Answer::not_found);
    EXPECT_EQ(client.get(long_lived).value, value);
  });
}

// The value and its time must fit into a region together.
TEST(TimeToLive, TakesEightBytesOfTheRegion) {
  run_alone(cache_options(), [](TestStore& store, fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    const std::size_t largest = store.server()->geometry().region_bytes -
                                engine::container_bytes(key.size(), engine::expiry_bytes);
    EXPECT_EQ(client.set(key, Bytes(largest + 1)).answer, Answer::value_too_large);
    EXPECT_EQ(client.set(key, Bytes(largest)).answer, Answer::stored);
    EXPECT_EQ(client.get(key).value.size(), largest);
  });
}

// Nobody reads these values again, and their memory is needed.
TEST(ExpiredValues, LeaveTheMemoryWithACollection) {
  StoreOptions options = cache_options();
  options.server.geometry.table_entries = 1'024;
  options.server.geometry.region_bytes = 1'024;
  options.server.geometry.region_count = 4;
  options.server.geometry.mature_bytes = 8'192;
  options.server.measurement_interval_ns = 100 * microsecond_ns;
  const StoreRun run = run_alone(options, [](TestStore&, fabric::Host& host, Client& client) {
    for (int round = 0; round < 10; ++round) {
      for (int key = 0; key < 8; ++key) {
        const Bytes name = bytes_of(std::to_string(10 * round + key));
        EXPECT_EQ(client.set(name, Bytes(400), time_to_live_ns).answer, Answer::stored);
      }
      host.sleep_until(host.now_ns() + 2 * time_to_live_ns);
    }
  });
  EXPECT_GT(run.inspection.statistics.values_expired, 20U);
  EXPECT_GT(run.probe(probes::collector_met_expired), 20U);
  EXPECT_LT(run.state.contents.size(), 40U);  // of 80
}

// The model is a map whose values expire. Operations take time, so that an expiry during one
// permits both answers.
struct TimedOperation {
  enum class Kind : std::uint8_t { get, set, remove, sleep } kind = Kind::get;
  int key = 0;
  std::uint64_t duration_ns = 0;  // time to live, or how long to sleep; 0: forever, or not
};

struct Expiring {
  Bytes value;
  std::uint64_t earliest_ns = 0;
  std::uint64_t latest_ns = 0;  // never_ns: it does not expire
};

bool is_right(const engine::GetResult& result, const std::optional<Expiring>& expected,
              std::uint64_t before_ns, std::uint64_t after_ns) {
  if (result.answer == Answer::found) {
    return expected && before_ns < expected->latest_ns && result.value == expected->value;
  }
  return result.answer == Answer::not_found && (!expected || after_ns >= expected->earliest_ns);
}

std::vector<TimedOperation> draw_operations() {
  using Kind = TimedOperation::Kind;
  return *rc::gen::container<std::vector<TimedOperation>>(rc::gen::exec([] {
    return TimedOperation{
        .kind = *rc::gen::weightedElement<Kind>(
            {{4, Kind::get}, {3, Kind::set}, {1, Kind::remove}, {3, Kind::sleep}}),
        .key = *rc::gen::inRange(0, 4),
        .duration_ns = *rc::gen::element<std::uint64_t>(0, 10 * microsecond_ns, 50 * microsecond_ns,
                                                        200 * microsecond_ns, millisecond_ns)};
  }));
}

RC_GTEST_PROP(TimeToLive, IsThatOfAMapWhoseValuesExpire, ()) {
  const std::vector<TimedOperation> operations = draw_operations();
  StoreOptions options = cache_options();
  options.seed = *rc::gen::arbitrary<std::uint64_t>();
  // A few containers, so that the collector meets values that have expired.
  options.server.geometry.table_entries = 8;
  options.server.geometry.region_bytes = 128;
  options.server.geometry.region_count = 4;
  options.server.geometry.mature_bytes = 1'024;
  options.client.location_cache.entries = *rc::gen::element(0U, 8U);
  std::map<int, Expiring> model;
  int number = 0;
  const auto body = [&](TestStore& store, fabric::Host& host, Client& client) {
    for (const TimedOperation& operation : operations) {
      const Bytes key = bytes_of(std::to_string(operation.key));
      const std::uint64_t before_ns = host.now_ns();
      switch (operation.kind) {
        case TimedOperation::Kind::sleep:
          host.sleep_until(before_ns + operation.duration_ns);
          break;
        case TimedOperation::Kind::remove:
          client.remove(key);
          model.erase(operation.key);
          break;
        case TimedOperation::Kind::set: {
          const Bytes value = bytes_of(std::to_string(++number));
          store.require(client.set(key, value, operation.duration_ns).answer == Answer::stored,
                        "a SET was refused");
          const bool expires = operation.duration_ns > 0;
          model[operation.key] = {
              .value = value,
              .earliest_ns = expires ? before_ns + operation.duration_ns : fabric::never_ns,
              .latest_ns = expires ? host.now_ns() + operation.duration_ns : fabric::never_ns};
          break;
        }
        case TimedOperation::Kind::get: {
          const engine::GetResult result = client.get(key);
          const auto found = model.find(operation.key);
          const auto expected = found == model.end() ? std::nullopt : std::optional(found->second);
          store.require(is_right(result, expected, before_ns, host.now_ns()),
                        "a GET had a wrong answer");
          // A value that was once found expired does not come back.
          if (result.answer == Answer::not_found) model.erase(operation.key);
          break;
        }
      }
    }
  };
  RC_ASSERT(run_without_expectation(options, {body}).problems.empty());
}

}  // namespace
}  // namespace falafel::engine_test
