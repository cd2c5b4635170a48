// Tests of the client library between threads of one process.
#include "falafel/store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/client/client.h"
#include "engine/layout/control_message.h"
#include "fabric/fabric.h"
#include "tests/hang_limit.h"
#include "tests/store/server_thread.h"
#include "tools/benchmarks/store/parties.h"

namespace falafel::server_program {
namespace {

using engine::Answer;
using std::chrono::milliseconds;
using std::chrono::seconds;

class StoreTest : public testing::Test {
 protected:
  std::filesystem::path directory() const { return directory_.path(); }

  StoreOptions options() const {
    StoreOptions options;
    options.fabric.directory = directory();
    options.reconnect_interval_ns = 1'000'000;
    return options;
  }

  std::unique_ptr<Store> open() const {
    auto store = Store::open(options());
    EXPECT_TRUE(store.has_value()) << store.error().detail;
    return std::move(*store);
  }

 private:
  store_benchmark::TemporaryDirectory directory_;
};

template <typename Condition>
bool eventually(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + hang_limit;
  while (std::chrono::steady_clock::now() < deadline) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

// The value that a GET has put into the buffer; empty if it has not.
std::string text_in(const engine::ValueBuffer& buffer, const engine::GetResult& result) {
  if (!result.place) return {};
  const auto value = buffer.value_at(*result.place);
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

TEST_F(StoreTest, AValueOfACacheExpires) {
  const ServerThread server(directory(), cache_options());
  const auto store = open();
  EXPECT_TRUE(store->is_cache());
  constexpr std::uint64_t hour_ns = 3'600'000'000'000;
  EXPECT_EQ(store->set("short", "1", 50'000'000).answer, Answer::stored);
  EXPECT_EQ(store->set("long", "2", hour_ns).answer, Answer::stored);
  EXPECT_EQ(store->set("kept", "3").answer, Answer::stored);
  EXPECT_TRUE(eventually([&] { return store->get("short").answer == Answer::not_found; }));
  EXPECT_EQ(text_of(store->get("long").value), "2");
  EXPECT_EQ(text_of(store->get("kept").value), "3");
}

TEST_F(StoreTest, ManyValuesOfACacheExpireTogether) {
  const ServerThread server(directory(), cache_options());
  const auto store = open();
  const std::vector<Store::KeyAndValue> expiring{{"short 1", "1"}, {"short 2", "2"}};
  const std::vector<Store::KeyAndValue> kept{{"kept 1", "3"}, {"kept 2", "4"}};
  for (const auto& result : store->set_many(expiring, 50'000'000)) {
    EXPECT_EQ(result.answer, Answer::stored);
  }
  for (const auto& result : store->set_many(kept)) EXPECT_EQ(result.answer, Answer::stored);
  for (const auto& [key, value] : expiring) {
    EXPECT_TRUE(eventually([&] { return store->get(key).answer == Answer::not_found; }));
  }
  for (const auto& [key, value] : kept) EXPECT_EQ(text_of(store->get(key).value), value);
}

TEST_F(StoreTest, OnlyACacheHasTimesToLive) {
  const ServerThread server(directory());
  const auto store = open();
  EXPECT_FALSE(store->is_cache());
  EXPECT_EQ(store->set("key", "value", 1).answer, Answer::not_a_cache);
  const std::vector<Store::KeyAndValue> pairs{{"key", "value"}};
  EXPECT_EQ(store->set_many(pairs, 1).front().answer, Answer::not_a_cache);
  EXPECT_EQ(store->get("key").answer, Answer::not_found);
}

// Two threads store twice what the cache holds, and read some of it.
TEST_F(StoreTest, AFullCacheRefusesNothing) {
  const ServerThread server(directory(), cache_options());
  constexpr int keys = 300;
  const std::string value(4'000, 'v');
  std::atomic<int> refused = 0;
  std::atomic<int> evicted = 0;
  std::atomic<int> wrong = 0;
  StoreOptions patient = options();
  patient.server_timeout_ns = hang_limit_ns;  // a busy machine evicts slowly
  const auto work = [&](int number) {
    const auto opened = Store::open(patient);
    ASSERT_TRUE(opened.has_value()) << opened.error().detail;
    const auto& store = *opened;
    for (int index = 0; index < keys; ++index) {
      const std::string key = fmt::format("{} {}", number, index);
      if (store->set(key, key + value).answer != Answer::stored) ++refused;
      const auto found = store->get(fmt::format("{} {}", number, index / 2));
      if (found.answer == Answer::not_found) ++evicted;
      const bool is_right = found.answer == Answer::not_found ||
                            text_of(found.value) == fmt::format("{} {}", number, index / 2) + value;
      if (!is_right) ++wrong;
    }
  };
  {
    const std::jthread first([&] { work(1); });
    const std::jthread second([&] { work(2); });
  }
  EXPECT_GT(evicted, 0);
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(wrong, 0);
}

TEST_F(StoreTest, StoresFindsAndDeletes) {
  const ServerThread server(directory());
  const auto store = open();
  EXPECT_EQ(store->get("key").answer, Answer::not_found);
  EXPECT_EQ(store->set("key", "value").answer, Answer::stored);
  const engine::GetResult result = store->get("key");
  EXPECT_EQ(result.answer, Answer::found);
  EXPECT_EQ(text_of(result.value), "value");
  EXPECT_EQ(store->remove("key").answer, Answer::deleted);
  EXPECT_EQ(store->remove("key").answer, Answer::not_found);
  EXPECT_EQ(store->set("", "value").answer, Answer::invalid_key);
  EXPECT_EQ(store->set("key", std::string(100'000, 'x')).answer, Answer::value_too_large);
}

TEST_F(StoreTest, AnswersManyKeysInTheirOrder) {
  const ServerThread server(directory());
  const auto store = open();
  std::vector<std::string> texts;
  for (int number = 0; number < 100; ++number) texts.push_back(fmt::format("text {}", number));
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  std::vector<Store::KeyAndValue> pairs;
  for (const std::string_view key : keys) pairs.emplace_back(key, key);
  std::uint64_t doorbells = 0;
  for (const engine::SetResult& result : store->set_many(pairs)) {
    EXPECT_EQ(result.answer, Answer::stored);
    doorbells += result.statistics.doorbells;
  }
  EXPECT_LT(doorbells, keys.size());
  EXPECT_EQ(store->remove("text 50").answer, Answer::deleted);
  const auto found = store->get_many(keys);
  ASSERT_EQ(found.size(), keys.size());
  for (std::size_t key = 0; key < keys.size(); ++key) {
    EXPECT_EQ(found[key].answer, key == 50 ? Answer::not_found : Answer::found);
    EXPECT_EQ(text_of(found[key].value), key == 50 ? "" : keys[key]);
  }
  std::vector<std::string> used(keys.size());
  store->get_many(keys, [&](std::size_t key, std::span<const std::byte> value) {
    used[key].assign(reinterpret_cast<const char*>(value.data()), value.size());
  });
  texts[50].clear();
  EXPECT_EQ(used, texts);
  EXPECT_EQ(store->remove_many(keys)[50].answer, Answer::not_found);
  EXPECT_EQ(store->get("text 1").answer, Answer::not_found);
  EXPECT_TRUE(store->get_many({}).empty());
}

TEST_F(StoreTest, VisitsAllKeys) {
  const ServerThread server(directory(), cache_options());
  const auto store = open();
  constexpr std::uint64_t hour_ns = 3'600'000'000'000;
  std::map<std::string, std::string, std::less<>> expected;
  for (int number = 0; number < 1'000; ++number) {
    const std::string key = fmt::format("key {}", number);
    expected[key] = std::string(static_cast<std::size_t>(number), 'v');
    EXPECT_EQ(store->set(key, expected[key], number == 0 ? hour_ns : 0).answer, Answer::stored);
  }
  const auto result = store->for_each_key(
      [&](std::string_view key, std::span<const std::byte> value, std::uint64_t time_to_live_ns) {
        const auto place = expected.find(key);
        ASSERT_NE(place, expected.end()) << key;
        EXPECT_EQ(text_of({value.begin(), value.end()}), place->second);
        EXPECT_EQ(time_to_live_ns > 0, key == "key 0");
        EXPECT_LT(time_to_live_ns, hour_ns);
        expected.erase(place);
      });
  EXPECT_TRUE(result);
  EXPECT_TRUE(expected.empty());
}

TEST_F(StoreTest, ReportsThatAValueIsPinned) {
  const ServerThread server(directory(), cache_options());
  const auto store = open();
  EXPECT_EQ(store->set("key", "1", pinned_time_to_live_ns).answer, Answer::stored);
  EXPECT_TRUE(store->for_each_key(
      [&](std::string_view, std::span<const std::byte>, std::uint64_t time_to_live_ns) {
        EXPECT_EQ(time_to_live_ns, pinned_time_to_live_ns);
      }));
}

TEST_F(StoreTest, HandsOutTheBytesThatArrived) {
  const ServerThread server(directory());
  const auto store = open();
  store->set("key", "value");
  std::string used;
  const auto use = [&](std::span<const std::byte> value) {
    used.assign(reinterpret_cast<const char*>(value.data()), value.size());
  };
  const engine::GetResult result = store->get("key", use);
  EXPECT_EQ(result.answer, Answer::found);
  EXPECT_TRUE(result.value.empty());
  EXPECT_EQ(used, "value");
  used.clear();
  EXPECT_EQ(store->get("other", use).answer, Answer::not_found);
  EXPECT_TRUE(used.empty());
}

TEST_F(StoreTest, ReadsIntoABufferOfTheCaller) {
  const ServerThread server(directory());
  const auto store = open();
  const std::string value(5'000, 'v');
  store->set("key", value);
  const auto buffer = store->allocate_buffer(engine::ValueBuffer::bytes_for(3, value.size()));
  ASSERT_TRUE(buffer.has_value()) << buffer.error().detail;
  const engine::GetResult result = store->get("key", *buffer);
  ASSERT_TRUE(result.place.has_value());
  EXPECT_EQ(text_in(*buffer, result), value);
  EXPECT_TRUE(result.value.empty());
  EXPECT_EQ(store->get("other", *buffer).answer, Answer::not_found);
  const engine::GetResult too_long = store->get("key", buffer->part(0, 1'000));
  EXPECT_EQ(too_long.answer, Answer::found);
  EXPECT_EQ(text_of(too_long.value), value);
  EXPECT_EQ(store->allocate_buffer(0).error().code, fabric::ErrorCode::invalid_argument);
}

TEST_F(StoreTest, ReadsManyValuesIntoPartsOfABuffer) {
  const ServerThread server(directory());
  const auto store = open();
  constexpr std::uint64_t part_bytes = 100;
  std::vector<std::string> texts;
  for (int number = 0; number < 50; ++number) texts.push_back(fmt::format("text {}", number));
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  const auto buffer = store->allocate_buffer(part_bytes * keys.size()).value();
  std::vector<engine::ValueBuffer> parts;
  for (std::size_t index = 0; index < keys.size(); ++index) {
    store->set(keys[index], keys[index]);
    parts.push_back(buffer.part(index * part_bytes, part_bytes));
  }
  const std::vector<engine::GetResult> results = store->get_many(keys, parts);
  for (std::size_t index = 0; index < keys.size(); ++index) {
    ASSERT_TRUE(results[index].place.has_value()) << keys[index];
    EXPECT_EQ(text_in(parts[index], results[index]), keys[index]);
  }
}

TEST_F(StoreTest, ABufferServesTheNextConnection) {
  std::optional<ServerThread> server(std::in_place, directory());
  const auto store = open();
  const auto buffer = store->allocate_buffer(1'000).value();
  for (const std::string_view value : {"first", "second"}) {
    EXPECT_TRUE(eventually([&] { return store->set("key", value).answer == Answer::stored; }));
    const engine::GetResult result = store->get("key", buffer);
    ASSERT_TRUE(result.place.has_value());
    EXPECT_EQ(text_in(buffer, result), value);
    server.reset();
    EXPECT_TRUE(
        eventually([&] { return store->get("key", buffer).answer == Answer::disconnected; }));
    server.emplace(directory());
  }
}

// A limit that has room for a few of them.
TEST_F(StoreTest, MemoryOfBuffersIsFreeAfterTheLastHandle) {
  constexpr std::uint64_t size_bytes = std::uint64_t{64} << 20U;
  const ServerThread server(directory());
  StoreOptions limited = options();
  limited.fabric.memory_limit_bytes = 4 * size_bytes;
  const auto store = Store::open(limited).value();
  store->set("key", "value");
  for (int number = 0; number < 20; ++number) {
    const auto buffer = store->allocate_buffer(size_bytes);
    ASSERT_TRUE(buffer.has_value()) << number << ": " << buffer.error().detail;
    const auto part = buffer->part(size_bytes / 2, 1'000);
    EXPECT_EQ(text_in(part, store->get("key", part)), "value");
  }
  std::vector<engine::ValueBuffer> buffers;
  for (auto buffer = store->allocate_buffer(size_bytes); buffer;
       buffer = store->allocate_buffer(size_bytes)) {
    buffers.push_back(*buffer);
    ASSERT_LT(buffers.size(), 5U);
  }
  EXPECT_FALSE(buffers.empty());
}

// Each thread destroys buffers while others use theirs.
TEST_F(StoreTest, ManyThreadsUseBuffersOfOneStore) {
  const ServerThread server(directory());
  const auto store = open();
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        const std::string key = fmt::format("key {}", thread);
        store->set(key, key);
        for (int round = 0; round < 50; ++round) {
          const auto buffer = store->allocate_buffer(1'000).value();
          wrong += text_in(buffer, store->get(key, buffer)) == key ? 0 : 1;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(StoreTest, ABatchReconnectsToARestartedServer) {
  std::optional<ServerThread> server(std::in_place, directory());
  const auto store = open();
  server.reset();
  server.emplace(directory());
  const std::vector<Store::KeyAndValue> pairs(50, {"key", "value"});
  for (const engine::SetResult& result : store->set_many(pairs)) {
    EXPECT_EQ(result.answer, Answer::stored);
  }
  server.reset();
  for (const engine::SetResult& result : store->set_many(pairs)) {
    EXPECT_NE(result.answer, Answer::stored);
  }
}

TEST_F(StoreTest, AScanReconnectsToARestartedServer) {
  std::optional<ServerThread> server(std::in_place, directory());
  const auto store = open();
  store->set("key", "value");
  server.reset();
  server.emplace(directory());
  const auto expect_nothing = [](std::string_view key, std::span<const std::byte>, std::uint64_t) {
    ADD_FAILURE() << key;
  };
  EXPECT_TRUE(store->for_each_key(expect_nothing));
  server.reset();
  EXPECT_EQ(store->for_each_key(expect_nothing), tl::make_unexpected(Answer::disconnected));
}

TEST_F(StoreTest, ManyThreadsUseOneStore) {
  const ServerThread server(directory());
  const auto store = open();
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (int round = 0; round < 200; ++round) {
          const std::string key = fmt::format("{} {}", thread, round % 10);
          const std::string value = fmt::format("value {}", round);
          wrong += store->set(key, value).answer == Answer::stored ? 0 : 1;
          wrong += text_of(store->get(key).value) == value ? 0 : 1;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(StoreTest, FibersHaveManyOperationsUnderWay) {
  const ServerThread server(directory());
  const auto store = open();
  int stored = 0;
  const bool was_run = store->run([&](fabric::Host& host, engine::Client& client) {
    std::vector<fabric::FiberId> fibers;
    for (int fiber = 0; fiber < 8; ++fiber) {
      fibers.push_back(host.spawn({.name = "setter"}, [&, fiber] {
        const std::string key = fmt::format("key {}", fiber);
        const auto bytes = std::as_bytes(std::span(key));
        stored += client.set(bytes, bytes).answer == Answer::stored ? 1 : 0;
      }));
    }
    for (const fabric::FiberId fiber : fibers) host.join(fiber);
  });
  EXPECT_TRUE(was_run);
  EXPECT_EQ(stored, 8);
  EXPECT_EQ(text_of(store->get("key 5").value), "key 5");
}

// Without heartbeats, the server would give up on the client.
TEST_F(StoreTest, StaysConnectedWhileTheApplicationDoesNothing) {
  engine::ServerOptions server_options;
  server_options.heartbeat_timeout_ns = 5'000'000'000;  // longer than a busy machine delays it
  const ServerThread server(directory(), server_options);
  const auto store = open();
  ASSERT_EQ(store->set("key", "value").answer, Answer::stored);
  std::this_thread::sleep_for(seconds(12));
  EXPECT_TRUE(store->is_connected());
  EXPECT_EQ(server.clients_connected(), 1U);
}

TEST_F(StoreTest, SaysGoodbye) {
  const ServerThread server(directory());
  open();
  EXPECT_TRUE(eventually([&] { return server.clients_connected() == 0; }));
}

TEST_F(StoreTest, ConnectsAnewWhenTheServerIsBack) {
  std::optional<ServerThread> server(std::in_place, directory());
  const auto store = open();
  ASSERT_EQ(store->set("key", "value").answer, Answer::stored);
  const std::uint64_t first_life = store->server_incarnation();
  server.reset();
  EXPECT_TRUE(eventually([&] { return store->get("key").answer == Answer::disconnected; }));
  EXPECT_FALSE(store->is_connected());
  EXPECT_FALSE(store->run([](fabric::Host&, engine::Client&) {}));
  server.emplace(directory());
  EXPECT_TRUE(eventually([&] { return store->set("key", "again").answer == Answer::stored; }));
  EXPECT_NE(store->server_incarnation(), first_life);
  EXPECT_EQ(text_of(store->get("key").value), "again");
}

// Metrics

TEST_F(StoreTest, CountsAndTimesOperations) {
  const ServerThread server(directory());
  const auto store = open();
  store->set("key", "value");
  store->get("key");
  store->get("nothing");
  store->remove("key");
  store->set("", "value");
  store->run([](fabric::Host&, engine::Client& client) {
    client.get(bytes_of("key"), [](std::span<const std::byte>) {});
  });
  const StoreMetrics metrics = store->metrics();
  EXPECT_EQ(metrics.server, "falafel");
  EXPECT_EQ(metrics.connected_stores, 1U);
  EXPECT_EQ(metrics.connections, 1U);
  const OperationMetrics& gets = metrics.of(engine::Operation::get);
  const OperationMetrics& sets = metrics.of(engine::Operation::set);
  EXPECT_EQ(gets.count_of(Answer::found), 1U);
  EXPECT_EQ(gets.count_of(Answer::not_found), 2U);
  EXPECT_EQ(sets.count_of(Answer::stored), 1U);
  EXPECT_EQ(sets.count_of(Answer::invalid_key), 1U);
  EXPECT_EQ(metrics.of(engine::Operation::remove).count_of(Answer::deleted), 1U);
  EXPECT_EQ(gets.latencies_ns.count(), 3U);
  EXPECT_GE(gets.latencies_sum_ns, gets.latencies_ns.greatest() / 2);
  EXPECT_GT(metrics.costs.round_trips, 0U);
}

TEST_F(StoreTest, CountsWhatFindsTheServerAwayAndNoticesThatItIsAway) {
  std::optional<ServerThread> server(std::in_place, directory());
  const auto store = open();
  server.reset();
  EXPECT_TRUE(eventually([&] { return store->metrics().connected_stores == 0; }));  // when idle
  EXPECT_EQ(store->get("key").answer, Answer::disconnected);
  EXPECT_GE(store->metrics().of(engine::Operation::get).count_of(Answer::disconnected), 1U);
  server.emplace(directory());
  EXPECT_TRUE(eventually([&] { return store->set("key", "value").answer == Answer::stored; }));
  EXPECT_EQ(store->metrics().connections, 2U);
  EXPECT_EQ(store->metrics().connected_stores, 1U);
}

TEST_F(StoreTest, CountsNoOperationsWithoutMetrics) {
  const ServerThread server(directory());
  StoreOptions without = options();
  without.metrics = false;
  const auto store = Store::open(without);
  ASSERT_TRUE(store.has_value());
  EXPECT_EQ((*store)->set("key", "value").answer, Answer::stored);
  EXPECT_EQ((*store)->metrics().of(engine::Operation::set).count_of(Answer::stored), 0U);
}

TEST_F(StoreTest, MetricsCanBeReadDuringOperations) {
  const ServerThread server(directory());
  const auto store = open();
  std::uint64_t seen = 0;
  store->run([&](fabric::Host&, engine::Client& client) {
    std::jthread reader([&] {
      while (seen < 100) seen = store->metrics().of(engine::Operation::get).latencies_ns.count();
    });
    for (int operation = 0; operation < 1'000; ++operation) client.get(bytes_of("key"));
  });
  EXPECT_GE(seen, 100U);
  EXPECT_EQ(store->metrics().of(engine::Operation::get).count_of(Answer::not_found), 1'000U);
}

// Opening

OpenProblem problem_of(const StoreOptions& options, const char* expected_detail) {
  const auto store = Store::open(options);
  EXPECT_FALSE(store.has_value());
  if (store) return OpenProblem::unreachable;
  EXPECT_NE(store.error().detail.find(expected_detail), std::string::npos) << store.error().detail;
  return store.error().problem;
}

TEST_F(StoreTest, OpeningNamesAnotherVersionOfTheLayout) {
  const ServerThread server(
      directory(), [](fabric::Host& host, const std::function<void()>& on_ready) {
        const auto store = engine::Server::start(host, {}).value();
        constexpr std::uint64_t version_offset = 8;
        fabric::MemoryBlock& memory = store->memory();
        memory.store(version_offset, (memory.load(version_offset) >> 32U << 32U) + 99);
        on_ready();
        host.sleep_until(fabric::never_ns);
      });
  EXPECT_EQ(problem_of(options(), "version 99, but this client supports versions"),
            OpenProblem::other_version);
}

TEST_F(StoreTest, OpeningSaysWhatIsWrong) {
  EXPECT_EQ(problem_of(options(), "no server named 'falafel'"), OpenProblem::no_server);
  StoreOptions wrong = options();
  wrong.fabric.fabric = "carrier pigeons";
  EXPECT_EQ(problem_of(wrong, "carrier pigeons"), OpenProblem::invalid_options);
  const ServerThread server(directory());
  wrong = options();
  wrong.max_operations_in_flight = 0;
  EXPECT_EQ(problem_of(wrong, "max_operations_in_flight is 0"), OpenProblem::invalid_options);
}

TEST_F(StoreTest, AServerWithAllItsClientsRefuses) {
  engine::ServerOptions server_options;
  server_options.max_clients = 1;
  const ServerThread server(directory(), server_options);
  const auto store = open();
  EXPECT_EQ(problem_of(options(), "maximum of 1 clients"), OpenProblem::refused);
}

TEST_F(StoreTest, AServerOfAnotherVersionIsRecognizedWhenItRejects) {
  const ServerThread server(directory(),
                            [](fabric::Host& host, const std::function<void()>& on_ready) {
                              const auto listener = host.device(0).listen(7);
                              on_ready();
                              for (;;) {
                                const auto request = (*listener)->accept(fabric::never_ns);
                                const std::string reason = "the server speaks version 99";
                                const auto bytes = std::as_bytes(std::span(reason));
                                request->reject({bytes.begin(), bytes.end()});
                              }
                            });
  EXPECT_EQ(problem_of(options(), "version 99"), OpenProblem::other_version);
}

TEST_F(StoreTest, AServerOfAnotherVersionIsRecognizedWhenItAccepts) {
  const ServerThread server(
      directory(), [](fabric::Host& host, const std::function<void()>& on_ready) {
        fabric::Device& device = host.device(0);
        const auto domain = device.create_protection_domain();
        const auto completions = device.create_completion_queue(256);
        const auto listener = device.listen(7);
        on_ready();
        std::vector<std::unique_ptr<fabric::QueuePair>> queue_pairs;
        for (;;) {
          const auto request = (*listener)->accept(fabric::never_ns);
          engine::ServerHello hello;
          hello.version = 99;
          auto accepted = request->accept({.protection_domain = domain.get(),
                                           .send_completions = completions->get(),
                                           .receive_completions = completions->get()},
                                          engine::to_bytes(hello));
          if (accepted) queue_pairs.push_back(std::move(*accepted));
        }
      });
  EXPECT_EQ(problem_of(options(), "version 99"), OpenProblem::other_version);
}

}  // namespace
}  // namespace falafel::server_program
