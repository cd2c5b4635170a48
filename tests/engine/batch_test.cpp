// Batches: many operations at once share doorbells, and each remains an operation of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/probes.h"
#include "tests/engine/planted.h"
#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::Batch;
using engine::KeyAndValue;
using engine::OperationStatistics;

using Keys = std::vector<std::span<const std::byte>>;

constexpr std::size_t batch_size = 32;

std::vector<Bytes> numbered(std::string_view name, std::size_t count) {
  std::vector<Bytes> all;
  for (std::size_t number = 0; number < count; ++number) {
    all.push_back(bytes_of(fmt::format("{} {:04}", name, number)));
  }
  return all;
}

Keys spans_of(const std::vector<Bytes>& keys) { return {keys.begin(), keys.end()}; }

std::vector<KeyAndValue> pairs_of(const std::vector<Bytes>& keys,
                                  const std::vector<Bytes>& values) {
  std::vector<KeyAndValue> pairs;
  for (std::size_t index = 0; index < keys.size(); ++index) {
    pairs.push_back({.key = keys[index], .value = values[index]});
  }
  return pairs;
}

// A large table and large regions, so that neither chains nor the server disturb a batch.
StoreOptions roomy_options() {
  StoreOptions options;
  options.server.geometry.table_entries = 1 << 12;
  options.server.geometry.region_bytes = 1 << 18;
  options.server.geometry.region_count = 4;
  options.server.geometry.mature_bytes = 1 << 20;
  options.client.max_operations_in_flight = batch_size;
  return options;
}

struct Cost {
  std::uint64_t doorbells = 0;
  std::uint64_t most_round_trips = 0;  // of one operation
  std::uint64_t restarts = 0;
};

template <typename Result>
Cost cost_of(const std::vector<Result>& results, Answer answer) {
  Cost cost;
  for (const Result& result : results) {
    EXPECT_EQ(result.answer, answer);
    cost.doorbells += result.statistics.doorbells;
    cost.most_round_trips = std::max(cost.most_round_trips, result.statistics.round_trips);
    cost.restarts += result.statistics.restarts;
  }
  return cost;
}

// Keys whose slots are far apart, so that each operation takes as many round trips as the others.
std::vector<Bytes> keys_apart(std::size_t count, std::uint64_t table_entries) {
  std::vector<Bytes> keys;
  for (std::size_t number = 0; number < count; ++number) {
    keys.push_back(key_at(number * table_entries / count, 0, table_entries));
  }
  return keys;
}

TEST(Batch, TakesTheRoundTripsAndDoorbellsOfOneOperation) {
  fabric::FiberStackPool stacks;
  const StoreOptions options = roomy_options();
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    ASSERT_EQ(client.set(bytes_of("first"), {}).answer, Answer::stored);  // has a region now
    const std::vector<Bytes> keys = keys_apart(batch_size, options.server.geometry.table_entries);
    const std::vector<Bytes> values = numbered("value", batch_size);
    const Cost absent = cost_of(client.get_many(spans_of(keys)), Answer::not_found);
    EXPECT_EQ(absent.doorbells, 1U);
    EXPECT_EQ(absent.most_round_trips, 1U);
    const Cost set = cost_of(client.set_many(pairs_of(keys, values)), Answer::stored);
    EXPECT_EQ(set.doorbells, 2U);
    EXPECT_EQ(set.most_round_trips, 2U);
    const std::vector<engine::GetResult> found = client.get_many(spans_of(keys));
    const Cost get = cost_of(found, Answer::found);
    EXPECT_EQ(get.doorbells, 2U);
    EXPECT_EQ(get.most_round_trips, 2U);
    for (std::size_t index = 0; index < batch_size; ++index)
      EXPECT_EQ(found[index].value, values[index]);
    const Cost overwrite = cost_of(client.set_many(pairs_of(keys, values)), Answer::stored);
    EXPECT_EQ(overwrite.doorbells, 3U);
    EXPECT_EQ(overwrite.most_round_trips, 3U);
    const Cost removal = cost_of(client.remove_many(spans_of(keys)), Answer::deleted);
    EXPECT_EQ(removal.doorbells, 3U);
    EXPECT_EQ(removal.most_round_trips, 3U);
  });
  run_without_problems(store);
}

// More keys than may be in flight: as fibers end an operation, they begin the next one.
TEST(Batch, OfMoreKeysThanMayBeInFlightTakesProportionallyManyDoorbells) {
  fabric::FiberStackPool stacks;
  StoreOptions options = roomy_options();
  options.client.max_operations_in_flight = 8;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    const std::vector<Bytes> keys = keys_apart(batch_size, options.server.geometry.table_entries);
    const Cost set =
        cost_of(client.set_many(pairs_of(keys, numbered("value", batch_size))), Answer::stored);
    const Cost get = cost_of(client.get_many(spans_of(keys)), Answer::found);
    EXPECT_EQ(get.doorbells, 2U * batch_size / 8);
    EXPECT_GE(set.doorbells, 2U * batch_size / 8);
    EXPECT_LE(set.doorbells, 2U * batch_size / 8 + 2);  // the first waits for a region
  });
  run_without_problems(store);
}

// The chain of all operations is longer than the device's queue, so several doorbells post it.
TEST(Batch, FitsAShortQueue) {
  for_each_seed(20, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options = roomy_options();
    options.seed = seed;
    options.client_max_queue_requests = 12;
    TestStore store(options, stacks);
    store.add_client([&](fabric::Host&, Client& client) {
      const std::vector<Bytes> keys = numbered("key", batch_size);
      const std::vector<Bytes> values = numbered("value", batch_size);
      cost_of(client.set_many(pairs_of(keys, values)), Answer::stored);
      const std::vector<engine::GetResult> found = client.get_many(spans_of(keys));
      const Cost cost = cost_of(found, Answer::found);
      EXPECT_GE(cost.doorbells, 2U * batch_size / 12);
      EXPECT_LT(cost.doorbells, 2U * batch_size);
      for (std::size_t index = 0; index < batch_size; ++index)
        EXPECT_EQ(found[index].value, values[index]);
    });
    run_without_problems(store);
  });
}

// Errors are per key.
TEST(Batch, AnswersEachKeyByItself) {
  fabric::FiberStackPool stacks;
  const StoreOptions options = roomy_options();
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    const Bytes other = bytes_of("other");
    const Bytes value = bytes_of("value");
    const Bytes too_long(1 << 18);
    const std::vector<KeyAndValue> pairs{{key, value}, {{}, {}}, {other, too_long}};
    const auto stored = client.set_many(pairs);
    EXPECT_EQ(stored[0].answer, Answer::stored);
    EXPECT_EQ(stored[1].answer, Answer::invalid_key);
    EXPECT_EQ(stored[2].answer, Answer::value_too_large);
    std::vector<std::optional<Bytes>> used(3);
    const auto found = client.get_many(Keys{key, other, {}},
                                       [&](std::size_t index, std::span<const std::byte> bytes) {
                                         used[index].emplace(bytes.begin(), bytes.end());
                                       });
    EXPECT_EQ(found[0].answer, Answer::found);
    EXPECT_EQ(found[1].answer, Answer::not_found);
    EXPECT_EQ(found[2].answer, Answer::invalid_key);
    EXPECT_EQ(used[0], value);
    EXPECT_FALSE(used[1] || used[2]);
    EXPECT_TRUE(found[0].value.empty());
    EXPECT_TRUE(client.get_many({}).empty());
  });
  run_without_problems(store);
}

// One operation waits for the server, which is stopped; the others must not wait with it.
TEST(Batch, DoesNotWaitForAnOperationThatWaitsForTheServer) {
  fabric::FiberStackPool stacks;
  StoreOptions options = roomy_options();
  options.server.geometry.region_bytes = 1 << 12;
  options.client.server_timeout_ns = 50 * millisecond_ns;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    ASSERT_EQ(client.set(bytes_of("first"), {}).answer, Answer::stored);
    const std::vector<Bytes> keys = numbered("key", batch_size);
    ASSERT_EQ(client.set(keys[1], bytes_of("value")).answer, Answer::stored);
    store.simulation().pause("server", 200 * millisecond_ns);
    const Bytes big(3'500);  // more than the rest of the region
    std::vector<Answer> answers(batch_size);
    std::uint64_t others_done_ns = 0;
    std::uint64_t big_done_ns = 0;
    client.run_batch(batch_size, [&](Batch& batch, std::size_t index) {
      if (index == 0) {
        for (std::size_t number = 0; number < 3; ++number) {
          answers[0] = batch.set(bytes_of(fmt::format("big {}", number)), big).answer;
        }
        big_done_ns = host.now_ns();
      } else {
        answers[index] = batch.get(keys[index]).answer;
        others_done_ns = host.now_ns();
      }
    });
    EXPECT_EQ(answers[0], Answer::timed_out);
    EXPECT_EQ(answers[1], Answer::found);
    EXPECT_EQ(answers[2], Answer::not_found);
    EXPECT_LT(others_done_ns + 40 * millisecond_ns, big_done_ns);
  });
  run_without_problems(store);
}

// Operations on the same key lose swaps and restart. They then continue apart from their batch.
TEST(Batch, MayUseAKeyTwice) {
  for_each_seed(50, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options = roomy_options();
    options.seed = seed;
    TestStore store(options, stacks);
    store.add_client([&](fabric::Host&, Client& client) {
      const Bytes key = bytes_of("key");
      const std::vector<Bytes> values = numbered("value", 4);
      const std::vector<Bytes> keys(4, key);
      cost_of(client.set_many(pairs_of(keys, values)), Answer::stored);
      const engine::GetResult found = client.get(key);
      EXPECT_NE(std::ranges::find(values, found.value), values.end());
      int deleted = 0;
      for (const auto& result : client.remove_many(spans_of(keys))) {
        deleted += result.answer == Answer::deleted ? 1 : 0;
      }
      EXPECT_EQ(deleted, 1);
    });
    const StoreRun run = run_without_problems(store);
    EXPECT_GT(run.probe(engine::probes::compare_and_swap_lost), 0U);
  });
}

// All fibers of a batch end with the one that called it. Others of the client are not affected.
TEST(Batch, EndsWithTheFiberThatCalledIt) {
  for (const std::uint64_t steps : {0U, 3U, 6U, 10U, 15U, 20U, 30U, 50U, 80U}) {
    for_each_seed(20, [&](std::uint64_t seed, fabric::FiberStackPool& stacks) {
      SCOPED_TRACE(steps);
      StoreOptions options = roomy_options();
      options.seed = seed;
      options.simulation.step_limit = 200'000;
      options.client.max_operations_in_flight = 8;
      TestStore store(options, stacks);
      store.add_client([&](fabric::Host& host, Client& client) {
        const std::vector<Bytes> keys = numbered("key", 6);
        const std::vector<Bytes> values = numbered("value", 6);
        cost_of(client.set_many(pairs_of(keys, values)), Answer::stored);
        const fabric::FiberId cancelled = host.spawn({.name = "cancelled"}, [&] {
          const std::vector<Bytes> own_keys = numbered("key", 6);  // ends with this fiber
          const std::vector<Bytes> own_values = numbered("other", 6);
          client.set_many(pairs_of(own_keys, own_values));
        });
        Answer answer = Answer::disconnected;
        const fabric::FiberId other =
            host.spawn({.name = "other"}, [&] { answer = client.get(keys[0]).answer; });
        host.sleep_until(host.now_ns() + steps * options.simulation.step_duration_ns);
        host.cancel(cancelled);
        host.join(cancelled);
        host.join(other);
        EXPECT_EQ(answer, Answer::found);
        // two operations are left even if all six were in flight
        cost_of(client.get_many(spans_of(keys)), Answer::found);
      });
      run_without_problems(store);
    });
  }
}

// A broken connection answers all operations of a batch.
TEST(Batch, IsAnsweredWhenTheConnectionBreaks) {
  for_each_seed(30, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options = roomy_options();
    options.seed = seed;
    TestStore store(options, stacks);
    store.add_client([&](fabric::Host& host, Client& client) {
      const std::vector<Bytes> keys = numbered("key", batch_size);
      const std::vector<Bytes> values = numbered("value", batch_size);
      cost_of(client.set_many(pairs_of(keys, values)), Answer::stored);
      const fabric::FiberId end = host.spawn({.name = "end"}, [&, after_ns = 100 * (seed % 30)] {
        host.sleep_until(host.now_ns() + after_ns);
        client.disconnect();
      });
      for (const auto& result : client.set_many(pairs_of(keys, values))) {
        EXPECT_TRUE(result.answer == Answer::stored || result.answer == Answer::disconnected ||
                    result.answer == Answer::unknown_outcome)
            << to_string(result.answer);
      }
      host.join(end);
      cost_of(client.get_many(spans_of(keys)), Answer::disconnected);
    });
    run_without_problems(store);
  });
}

// Batches of random operations, in small stores, against a map. Keys occur once in each batch, so
// the map knows every answer.
enum class DrawnKind : std::uint8_t { get, set, remove };
struct Drawn {
  DrawnKind kind = DrawnKind::get;
  int key = 0;
};

StoreOptions draw_store() {
  StoreOptions options;
  options.seed = *rc::gen::arbitrary<std::uint64_t>();
  options.server.geometry.table_entries = *rc::gen::element<std::uint64_t>(16, 64);
  options.server.geometry.region_bytes = *rc::gen::element<std::uint64_t>(64, 256);
  options.server.geometry.region_count = 24;
  options.server.geometry.mature_bytes = 64 * options.server.geometry.region_bytes;
  options.server.cleanup_percent = *rc::gen::inRange(0U, 51U);
  options.server.cleanup_interval_ns = 200 * microsecond_ns;
  // The run ends when the server has noticed that the client is gone. Until then, it audits.
  options.server.heartbeat_timeout_ns = 100 * millisecond_ns;
  options.client.max_operations_in_flight = *rc::gen::element(1U, 2U, 5U, 16U);
  options.client.location_cache.entries = *rc::gen::element(0U, 4U, 64U);
  options.client.readahead.chunk_entries = *rc::gen::element(1U, 3U, 32U);
  options.client_max_queue_requests = *rc::gen::element<std::uint32_t>(12, 1'024);
  options.simulation.step_limit = 3'000'000;
  return options;
}

class MapUnderTest {
 public:
  explicit MapUnderTest(Client& client) : client_(client) {}

  void run(const std::vector<Drawn>& operations) {
    std::vector<Answer> answers(operations.size());
    std::vector<Bytes> found(operations.size());
    const std::vector<Bytes> values = numbered(fmt::format("{}", ++batches_), 16);
    client_.run_batch(operations.size(), [&](Batch& batch, std::size_t index) {
      const Bytes key = bytes_of(fmt::format("key {}", operations[index].key));
      switch (operations[index].kind) {
        case DrawnKind::get: {
          engine::GetResult result = batch.get(key);
          answers[index] = result.answer;
          found[index] = std::move(result.value);
          break;
        }
        case DrawnKind::set: answers[index] = batch.set(key, values[index]).answer; break;
        case DrawnKind::remove: answers[index] = batch.remove(key).answer; break;
      }
    });
    for (std::size_t index = 0; index < operations.size(); ++index) {
      const auto known = map_.find(operations[index].key);
      const bool is_known = known != map_.end();
      switch (operations[index].kind) {
        case DrawnKind::get:
          EXPECT_EQ(answers[index], is_known ? Answer::found : Answer::not_found);
          EXPECT_EQ(found[index], is_known ? known->second : Bytes{});
          break;
        case DrawnKind::set:
          EXPECT_EQ(answers[index], Answer::stored);
          map_[operations[index].key] = values[index];
          break;
        case DrawnKind::remove:
          EXPECT_EQ(answers[index], is_known ? Answer::deleted : Answer::not_found);
          map_.erase(operations[index].key);
          break;
      }
    }
  }

 private:
  Client& client_;
  std::map<int, Bytes> map_;
  int batches_ = 0;
};

// Each number stands for what a batch does with one of the keys, if anything.
std::vector<std::vector<Drawn>> draw_batches() {
  constexpr std::size_t keys = 12;
  const auto numbers =
      *rc::gen::container<std::vector<std::uint8_t>>(4 * keys, rc::gen::arbitrary<std::uint8_t>());
  std::vector<std::vector<Drawn>> batches(numbers.size() / keys);
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    std::vector<Drawn>& batch = batches[index / keys];
    const auto key = static_cast<int>(index % keys);
    switch (numbers[index] % 5) {
      case 0: break;
      case 1: batch.push_back({DrawnKind::get, key}); break;
      case 2: batch.push_back({DrawnKind::remove, key}); break;
      default: batch.push_back({DrawnKind::set, key}); break;
    }
  }
  return batches;
}

TEST(Batch, IsAMap) {
  fabric::FiberStackPool stacks;
  const bool holds = rc::check("batches see a map", [&] {
    const StoreOptions options = draw_store();
    const std::vector<std::vector<Drawn>> batches = draw_batches();
    TestStore store(options, stacks);
    store.add_client([&](fabric::Host&, Client& client) {
      MapUnderTest map(client);
      for (const std::vector<Drawn>& batch : batches) map.run(batch);
    });
    const StoreRun run = store.run();
    if (!run.problems.empty()) RC_LOG() << describe(run) << "\n";
    RC_ASSERT(run.problems.empty());
    RC_ASSERT(!testing::Test::HasFailure());
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace falafel::engine_test
