// The C interface while servers go away and come back, and while threads share a store.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "falafel/falafel.h"
#include "tests/hang_limit.h"
#include "tests/store/server_thread.h"
#include "tools/benchmarks/store/parties.h"

namespace falafel::server_program {
namespace {

class CStoreTest : public testing::Test {
 protected:
  ~CStoreTest() override { falafel_close(store_); }

  void start_server(const engine::ServerOptions& options = {}) {
    server_.emplace(directory_.path(), options);
  }
  void stop_server() { server_.reset(); }

  void open() {
    falafel_options* const options = falafel_options_create();
    falafel_options_set(options, "directory", directory_.path().c_str());
    falafel_options_set(options, "reconnect_interval_ns", "0");
    std::array<char, 256> message{};
    EXPECT_EQ(falafel_open("falafel", options, &store_, message.data(), message.size()), FALAFEL_OK)
        << message.data();
    falafel_options_destroy(options);
  }

  static falafel_operation set_operation(std::string& key) {
    return {.kind = FALAFEL_SET,
            .status = FALAFEL_OK,
            .key = key.data(),
            .key_bytes = key.size(),
            .value = key.data(),
            .value_bytes = key.size(),
            .buffer_bytes = 0,
            .user_data = nullptr};
  }

  std::vector<falafel_operation> set_operations() {
    std::vector<falafel_operation> operations;
    operations.reserve(keys_.size());
    for (std::string& key : keys_) operations.push_back(set_operation(key));
    return operations;
  }

  // Every second operation has a time to live of 50 ms.
  std::vector<falafel_operation> expiring_operations() {
    for (std::size_t index = 0; index < keys_.size(); ++index) {
      keys_[index] = fmt::format("key {}", index);
    }
    std::vector<falafel_operation> operations = set_operations();
    for (std::size_t index = 0; index < operations.size(); index += 2) {
      operations[index].kind = FALAFEL_SET_EXPIRING;
      operations[index].time_to_live_ns = 50'000'000;
    }
    return operations;
  }

  // Expects that the store has only those values of expiring_operations() that do not expire.
  void expect_only_the_others_stay() {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    for (std::size_t index = 0; index < keys_.size(); ++index) {
      void* value = nullptr;
      std::size_t value_bytes = 0;
      EXPECT_EQ(falafel_get(store_, keys_[index].data(), keys_[index].size(), &value, &value_bytes),
                index % 2 == 0 ? FALAFEL_NOT_FOUND : FALAFEL_OK)
          << keys_[index];
      std::free(value);
    }
  }

  // Waits for all submitted operations and returns their number.
  std::size_t poll_all() {
    std::array<falafel_operation*, 16> ended{};
    std::size_t sum = 0;
    while (const std::size_t count =
               falafel_poll(store_, ended.data(), ended.size(), hang_limit_ns)) {
      sum += count;
    }
    return sum;
  }

  falafel_store* store_ = nullptr;
  std::vector<std::string> keys_ = std::vector<std::string>(100, "key");

 private:
  store_benchmark::TemporaryDirectory directory_;
  std::optional<ServerThread> server_;
};

TEST_F(CStoreTest, ABatchReconnectsToARestartedServer) {
  start_server();
  open();
  stop_server();
  start_server();
  std::vector<falafel_operation> operations = set_operations();
  EXPECT_EQ(falafel_execute(store_, operations.data(), operations.size()), FALAFEL_OK);
  for (const falafel_operation& operation : operations) EXPECT_EQ(operation.status, FALAFEL_OK);
}

TEST_F(CStoreTest, WithoutAServerEveryOperationAnswersDisconnected) {
  start_server();
  open();
  stop_server();
  std::vector<falafel_operation> operations = set_operations();
  EXPECT_EQ(falafel_execute(store_, operations.data(), operations.size()), FALAFEL_OK);
  for (const auto& operation : operations) EXPECT_EQ(operation.status, FALAFEL_DISCONNECTED);
  EXPECT_EQ(falafel_submit(store_, operations.data(), operations.size()), FALAFEL_OK);
  EXPECT_EQ(poll_all(), operations.size());
  for (const auto& operation : operations) EXPECT_EQ(operation.status, FALAFEL_DISCONNECTED);
}

TEST_F(CStoreTest, SubmittedOperationsReconnectToARestartedServer) {
  start_server();
  open();
  stop_server();
  start_server();
  std::vector<falafel_operation> operations = set_operations();
  EXPECT_EQ(falafel_submit(store_, operations.data(), operations.size()), FALAFEL_OK);
  EXPECT_EQ(poll_all(), operations.size());
  for (const auto& operation : operations) EXPECT_EQ(operation.status, FALAFEL_OK);
}

TEST_F(CStoreTest, OperationsOfABatchHaveTimesToLiveOfTheirOwn) {
  start_server(cache_options());
  open();
  std::vector<falafel_operation> operations = expiring_operations();
  EXPECT_EQ(falafel_execute(store_, operations.data(), operations.size()), FALAFEL_OK);
  for (const falafel_operation& operation : operations) EXPECT_EQ(operation.status, FALAFEL_OK);
  expect_only_the_others_stay();
}

TEST_F(CStoreTest, SubmittedOperationsHaveTimesToLiveOfTheirOwn) {
  start_server(cache_options());
  open();
  std::vector<falafel_operation> operations = expiring_operations();
  EXPECT_EQ(falafel_submit(store_, operations.data(), operations.size()), FALAFEL_OK);
  EXPECT_EQ(poll_all(), operations.size());
  for (const falafel_operation& operation : operations) EXPECT_EQ(operation.status, FALAFEL_OK);
  expect_only_the_others_stay();
}

// The time to live of the only key.
std::uint64_t left_to_live_ns(falafel_store* store) {
  std::uint64_t left_ns = 0;
  const falafel_visit visit = [](const void*, std::size_t, std::uint64_t time_to_live_ns,
                                 void* user_data) {
    *static_cast<std::uint64_t*>(user_data) = time_to_live_ns;
  };
  EXPECT_EQ(falafel_for_each_key(store, visit, &left_ns), FALAFEL_OK);
  return left_ns;
}

TEST_F(CStoreTest, AValueStaysPinnedUntilASetSaysOtherwise) {
  start_server(cache_options());
  open();
  EXPECT_EQ(falafel_set_expiring(store_, "key", 3, "1", 1, FALAFEL_PINNED), FALAFEL_OK);
  EXPECT_EQ(left_to_live_ns(store_), FALAFEL_PINNED);
  EXPECT_EQ(falafel_compare_and_set(store_, "key", 3, "1", 1, "2", 1, FALAFEL_KEEP_EXPIRY),
            FALAFEL_OK);
  EXPECT_EQ(left_to_live_ns(store_), FALAFEL_PINNED);
  EXPECT_EQ(falafel_compare_and_set(store_, "key", 3, "2", 1, "3", 1, 0), FALAFEL_OK);
  EXPECT_EQ(left_to_live_ns(store_), 0U);
  EXPECT_EQ(falafel_compare_and_set(store_, "key", 3, "3", 1, "4", 1, FALAFEL_PINNED), FALAFEL_OK);
  EXPECT_EQ(left_to_live_ns(store_), FALAFEL_PINNED);
}

TEST_F(CStoreTest, EachKeyIsVisitedOnceByAFunctionThatMayUseTheStore) {
  start_server();
  open();
  for (std::size_t index = 0; index < keys_.size(); ++index) keys_[index] += std::to_string(index);
  std::vector<falafel_operation> operations = set_operations();
  ASSERT_EQ(falafel_execute(store_, operations.data(), operations.size()), FALAFEL_OK);
  struct Visits {
    falafel_store* store;
    std::vector<std::string> keys;
  } visits{.store = store_, .keys = {}};
  const falafel_visit visit = [](const void* key, std::size_t key_bytes,
                                 std::uint64_t time_to_live_ns, void* user_data) {
    Visits& seen = *static_cast<Visits*>(user_data);
    seen.keys.emplace_back(static_cast<const char*>(key), key_bytes);
    EXPECT_EQ(time_to_live_ns, 0U);
    EXPECT_EQ(falafel_delete(seen.store, key, key_bytes), FALAFEL_OK);
  };
  EXPECT_EQ(falafel_for_each_key(store_, visit, &visits), FALAFEL_OK);
  std::ranges::sort(visits.keys);
  std::vector<std::string> expected = keys_;
  std::ranges::sort(expected);
  EXPECT_EQ(visits.keys, expected);
  visits.keys.clear();
  EXPECT_EQ(falafel_for_each_key(store_, visit, &visits), FALAFEL_OK);
  EXPECT_TRUE(visits.keys.empty()) << "they have been deleted";
  EXPECT_EQ(falafel_for_each_key(store_, nullptr, &visits), FALAFEL_INVALID);
  EXPECT_EQ(falafel_for_each_key(nullptr, visit, &visits), FALAFEL_INVALID);
  stop_server();
  EXPECT_EQ(falafel_for_each_key(store_, visit, &visits), FALAFEL_DISCONNECTED);
}

TEST_F(CStoreTest, ThreadsShareAStoreInEveryWay) {
  start_server();
  open();
  std::vector<falafel_operation> submitted = set_operations();
  const auto execute = [this] {
    std::string key = "another";
    std::vector<falafel_operation> operations(20, set_operation(key));
    for (int round = 0; round < 20; ++round) {
      EXPECT_EQ(falafel_execute(store_, operations.data(), operations.size()), FALAFEL_OK);
      for (const auto& operation : operations) EXPECT_EQ(operation.status, FALAFEL_OK);
    }
  };
  const auto set = [this] {
    for (int round = 0; round < 100; ++round) {
      EXPECT_EQ(falafel_set(store_, "one", 3, "value", 5), FALAFEL_OK);
    }
  };
  {
    const std::jthread executes(execute);
    const std::jthread sets(set);
    for (falafel_operation& operation : submitted) {
      EXPECT_EQ(falafel_submit(store_, &operation, 1), FALAFEL_OK);
    }
    EXPECT_EQ(poll_all(), submitted.size());
  }
  for (const auto& operation : submitted) EXPECT_EQ(operation.status, FALAFEL_OK);
}

}  // namespace
}  // namespace falafel::server_program
