// The C interface to several servers, which are threads of this process.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "falafel/falafel.h"
#include "tests/hang_limit.h"
#include "tests/store/cluster_keys.h"
#include "tests/store/server_thread.h"
#include "tools/benchmarks/store/parties.h"

namespace falafel::server_program {
namespace {

constexpr std::array server_names{"one", "two", "three"};

class CClusterTest : public testing::Test {
 protected:
  CClusterTest() {
    falafel_options_set(options_, "directory", directory_.path().c_str());
    falafel_options_set(options_, "reconnect_interval_ns", "1000000");
    for (const char* const server : server_names) start(server);
  }
  ~CClusterTest() override {
    close();
    falafel_options_destroy(options_);
  }

  void start(const std::string& server) {
    running_[server] =
        std::make_unique<ServerThread>(directory_.path(), engine::ServerOptions{}, server);
  }
  void close() {
    falafel_cluster_close(cluster_);
    cluster_ = nullptr;
  }
  void kill(const std::string& server) { running_.erase(server); }

  falafel_status open(const char* const* names, std::size_t count) {
    return falafel_cluster_open(names, count, options_, &cluster_, message_.data(),
                                message_.size());
  }
  void open() {
    ASSERT_EQ(open(server_names.data(), server_names.size()), FALAFEL_OK) << message_.data();
  }

  falafel_options* options() { return options_; }
  falafel_cluster* cluster() { return cluster_; }
  std::string message() const { return message_.data(); }

  falafel_status set(const std::string& key, const std::string& value) {
    return falafel_cluster_set(cluster_, key.data(), key.size(), value.data(), value.size(), 0);
  }
  // The value, or the status.
  std::string get(const std::string& key) {
    void* value = nullptr;
    std::size_t length = 0;
    const falafel_status status =
        falafel_cluster_get(cluster_, key.data(), key.size(), &value, &length);
    if (status != FALAFEL_OK) return falafel_status_text(status);
    std::string text(static_cast<const char*>(value), length);
    std::free(value);
    return text;
  }

 private:
  store_benchmark::TemporaryDirectory directory_;
  falafel_options* options_ = falafel_options_create();
  falafel_cluster* cluster_ = nullptr;
  std::array<char, 256> message_{};
  std::map<std::string, std::unique_ptr<ServerThread>> running_;
};

falafel_operation operation_on(int kind, std::string& key) {
  falafel_operation operation{};
  operation.kind = kind;
  operation.key = key.data();
  operation.key_bytes = key.size();
  if (kind == FALAFEL_SET) {
    operation.value = key.data();
    operation.value_bytes = key.size();
  }
  return operation;
}

std::vector<falafel_operation> operations_on(int kind, std::vector<std::string>& keys) {
  std::vector<falafel_operation> operations;
  for (std::string& key : keys) operations.push_back(operation_on(kind, key));
  return operations;
}

TEST_F(CClusterTest, StoresFindsAndDeletes) {
  open();
  EXPECT_EQ(get("greeting"), "not found");
  EXPECT_EQ(set("greeting", "hello"), FALAFEL_OK);
  EXPECT_EQ(get("greeting"), "hello");
  EXPECT_EQ(set("greeting", ""), FALAFEL_OK);
  EXPECT_EQ(get("greeting"), "");
  EXPECT_EQ(falafel_cluster_delete(cluster(), "greeting", 8), FALAFEL_OK);
  EXPECT_EQ(falafel_cluster_delete(cluster(), "greeting", 8), FALAFEL_NOT_FOUND);
  EXPECT_EQ(falafel_cluster_set(cluster(), "greeting", 8, "hello", 5, 1), FALAFEL_NOT_A_CACHE);
}

TEST_F(CClusterTest, ComparesAndSets) {
  open();
  const auto compare_and_set = [&](const std::string& key, const char* expected,
                                   const char* value) {
    return falafel_cluster_compare_and_set(cluster(), key.data(), key.size(), expected,
                                           expected == nullptr ? 0 : std::strlen(expected), value,
                                           std::strlen(value), FALAFEL_KEEP_EXPIRY);
  };
  for (const std::string& key : keys(30)) {
    EXPECT_EQ(compare_and_set(key, "1", "2"), FALAFEL_DIFFERS);
    EXPECT_EQ(compare_and_set(key, nullptr, "1"), FALAFEL_OK);
    EXPECT_EQ(compare_and_set(key, nullptr, "2"), FALAFEL_DIFFERS);
    EXPECT_EQ(compare_and_set(key, "1", "2"), FALAFEL_OK);
    EXPECT_EQ(get(key), "2");
  }
  kill("two");
  std::map<int, int> statuses;
  for (const std::string& key : keys(30)) ++statuses[compare_and_set(key, "2", "3")];
  EXPECT_GT(statuses[FALAFEL_OK], 0);
  EXPECT_GT(statuses[FALAFEL_DISCONNECTED], 0);
  EXPECT_EQ(statuses[FALAFEL_OK] + statuses[FALAFEL_DISCONNECTED], 30);
}

TEST_F(CClusterTest, ExecutesOperationsOfAllKinds) {
  open();
  auto all = keys(100);
  auto sets = operations_on(FALAFEL_SET, all);
  ASSERT_EQ(falafel_cluster_execute(cluster(), sets.data(), sets.size()), FALAFEL_OK);
  for (const falafel_operation& set : sets) EXPECT_EQ(set.status, FALAFEL_OK);
  auto mixed = operations_on(FALAFEL_GET, all);
  mixed[1].kind = FALAFEL_DELETE;
  mixed[2].kind = 99;
  mixed[3].key = nullptr;
  std::array<char, 3> buffer{};
  mixed[4].value = buffer.data();
  mixed[4].buffer_bytes = buffer.size();
  ASSERT_EQ(falafel_cluster_execute(cluster(), mixed.data(), mixed.size()), FALAFEL_OK);
  EXPECT_EQ(mixed[1].status, FALAFEL_OK);
  EXPECT_EQ(mixed[2].status, FALAFEL_INVALID);
  EXPECT_EQ(mixed[3].status, FALAFEL_INVALID);
  EXPECT_EQ(mixed[4].status, FALAFEL_BUFFER_TOO_SMALL);
  EXPECT_EQ(mixed[4].value_bytes, all[4].size());
  for (std::size_t key = 0; key < all.size(); ++key) {
    if (key >= 1 && key <= 4) continue;
    ASSERT_EQ(mixed[key].status, FALAFEL_OK);
    EXPECT_EQ(std::string(static_cast<const char*>(mixed[key].value), mixed[key].value_bytes),
              all[key]);
    std::free(mixed[key].value);
  }
  EXPECT_EQ(get("key 1"), "not found");
  EXPECT_EQ(falafel_cluster_execute(cluster(), nullptr, 0), FALAFEL_OK);
}

TEST_F(CClusterTest, TakesNoBufferOfAStore) {
  open();
  std::string key = "key";
  ASSERT_EQ(set(key, "value"), FALAFEL_OK);
  falafel_store* store = nullptr;
  ASSERT_EQ(falafel_open("one", options(), &store, nullptr, 0), FALAFEL_OK);
  falafel_part part{.buffer = nullptr, .offset = 0, .bytes = 100, .value = nullptr};
  ASSERT_EQ(falafel_buffer_create(store, part.bytes, &part.buffer), FALAFEL_OK);
  falafel_operation get_into = operation_on(FALAFEL_GET_INTO, key);
  get_into.value = &part;
  EXPECT_EQ(falafel_cluster_execute(cluster(), &get_into, 1), FALAFEL_OK);
  EXPECT_EQ(get_into.status, FALAFEL_INVALID);
  falafel_buffer_destroy(part.buffer);
  falafel_close(store);
}

TEST_F(CClusterTest, LosesOnlyTheKeysOfAServerThatDies) {
  open();
  auto all = keys(60);
  auto sets = operations_on(FALAFEL_SET, all);
  falafel_cluster_execute(cluster(), sets.data(), sets.size());
  kill("two");
  auto deletes = operations_on(FALAFEL_DELETE, all);
  falafel_cluster_execute(cluster(), deletes.data(), deletes.size());
  int lost = 0;
  for (const falafel_operation& removal : deletes) {
    if (removal.status == FALAFEL_DISCONNECTED) ++lost;
    EXPECT_TRUE(removal.status == FALAFEL_OK || removal.status == FALAFEL_DISCONNECTED);
  }
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, 60);
  start("two");
  for (const std::string& key : all) {
    while (set(key, "again") == FALAFEL_DISCONNECTED) continue;
    EXPECT_EQ(get(key), "again");
  }
}

// Polls until all have ended. Returns them by their places in the vector, each once.
std::set<const falafel_operation*> poll_all(falafel_cluster* cluster, std::size_t count) {
  std::set<const falafel_operation*> ended;
  std::array<falafel_operation*, 7> some{};
  while (ended.size() < count) {
    const std::size_t polled =
        falafel_cluster_poll(cluster, some.data(), some.size(), hang_limit_ns);
    if (polled == 0) break;
    for (const auto* operation : std::span(some).first(polled)) {
      EXPECT_TRUE(ended.insert(operation).second) << "an operation came twice";
    }
  }
  return ended;
}

TEST_F(CClusterTest, RunsSubmittedOperations) {
  open();
  auto all = keys(500);
  auto sets = operations_on(FALAFEL_SET, all);
  ASSERT_EQ(falafel_cluster_submit(cluster(), sets.data(), sets.size()), FALAFEL_OK);
  EXPECT_EQ(poll_all(cluster(), sets.size()).size(), sets.size());
  for (const falafel_operation& set : sets) EXPECT_EQ(set.status, FALAFEL_OK);
  auto gets = operations_on(FALAFEL_GET, all);
  gets[1].kind = 99;
  gets[2].key = nullptr;
  ASSERT_EQ(falafel_cluster_submit(cluster(), gets.data(), 250), FALAFEL_OK);
  ASSERT_EQ(falafel_cluster_submit(cluster(), gets.data() + 250, 250), FALAFEL_OK);
  EXPECT_EQ(poll_all(cluster(), gets.size()).size(), gets.size());
  for (std::size_t key = 0; key < all.size(); ++key) {
    ASSERT_EQ(gets[key].status, key == 1 || key == 2 ? FALAFEL_INVALID : FALAFEL_OK);
    if (gets[key].status != FALAFEL_OK) continue;
    EXPECT_EQ(std::string(static_cast<const char*>(gets[key].value), gets[key].value_bytes),
              all[key]);
    std::free(gets[key].value);
  }
  std::array<falafel_operation*, 1> none{};
  EXPECT_EQ(falafel_cluster_poll(cluster(), none.data(), 1, hang_limit_ns), 0U)
      << "does not wait when nothing is left";
}

TEST_F(CClusterTest, ADescriptorShowsThatOperationsHaveEnded) {
  open();
  pollfd descriptor{
      .fd = falafel_cluster_poll_descriptor(cluster()), .events = POLLIN, .revents = 0};
  ASSERT_GE(descriptor.fd, 0);
  EXPECT_EQ(::poll(&descriptor, 1, 0), 0);
  auto all = keys(3);
  auto sets = operations_on(FALAFEL_SET, all);
  ASSERT_EQ(falafel_cluster_submit(cluster(), sets.data(), sets.size()), FALAFEL_OK);
  EXPECT_EQ(::poll(&descriptor, 1, static_cast<int>(hang_limit_ns / 1'000'000)), 1);
  EXPECT_EQ(poll_all(cluster(), sets.size()).size(), sets.size());
  EXPECT_EQ(::poll(&descriptor, 1, 0), 0);
}

TEST_F(CClusterTest, SubmittedOperationsOnAServerThatIsAwayAreDisconnected) {
  open();
  kill("two");
  auto all = keys(60);
  auto sets = operations_on(FALAFEL_SET, all);
  ASSERT_EQ(falafel_cluster_submit(cluster(), sets.data(), sets.size()), FALAFEL_OK);
  EXPECT_EQ(poll_all(cluster(), sets.size()).size(), sets.size());
  std::map<int, int> statuses;
  for (const falafel_operation& set : sets) ++statuses[set.status];
  EXPECT_GT(statuses[FALAFEL_OK], 0);
  EXPECT_GT(statuses[FALAFEL_DISCONNECTED], 0);
  EXPECT_EQ(statuses[FALAFEL_OK] + statuses[FALAFEL_DISCONNECTED], 60);
}

TEST_F(CClusterTest, ClosingWaitsForSubmittedOperations) {
  open();
  auto all = keys(300);
  auto sets = operations_on(FALAFEL_SET, all);
  ASSERT_EQ(falafel_cluster_submit(cluster(), sets.data(), sets.size()), FALAFEL_OK);
  close();
  for (const falafel_operation& set : sets) EXPECT_EQ(set.status, FALAFEL_OK);
  open();
  for (const std::string& key : all) EXPECT_EQ(get(key), key);
}

TEST_F(CClusterTest, VisitsTheKeysOfAllServers) {
  open();
  const auto all = keys(60);
  for (const std::string& key : all) set(key, "value");
  std::vector<std::string> visited;
  const falafel_visit visit = [](const void* key, std::size_t bytes, std::uint64_t live_ns,
                                 void* user_data) {
    EXPECT_EQ(live_ns, 0U);
    static_cast<std::vector<std::string>*>(user_data)->emplace_back(static_cast<const char*>(key),
                                                                    bytes);
  };
  EXPECT_EQ(falafel_cluster_for_each_key(cluster(), visit, &visited), FALAFEL_OK);
  EXPECT_EQ(std::set(visited.begin(), visited.end()), std::set(all.begin(), all.end()));
  EXPECT_EQ(visited.size(), all.size()) << "each key once";
  kill("three");
  visited.clear();
  EXPECT_EQ(falafel_cluster_for_each_key(cluster(), visit, &visited), FALAFEL_DISCONNECTED);
  EXPECT_TRUE(visited.empty());
}

TEST_F(CClusterTest, WritesMetricsOfAllServers) {
  open();
  for (const std::string& key : keys(30)) set(key, key);
  char* text = nullptr;
  ASSERT_EQ(falafel_cluster_metrics(cluster(), &text), FALAFEL_OK);
  const std::string metrics(text);
  std::free(text);
  for (const char* const server : server_names) {
    EXPECT_NE(metrics.find(fmt::format("server=\"{}\"", server)), std::string::npos) << metrics;
  }
}

TEST_F(CClusterTest, ExplainsWhatIsWrong) {
  EXPECT_EQ(open(nullptr, 0), FALAFEL_INVALID);
  EXPECT_NE(message().find("empty"), std::string::npos) << message();
  EXPECT_EQ(open(nullptr, 1), FALAFEL_INVALID);
  const std::array<const char*, 2> null_name{"one", nullptr};
  EXPECT_EQ(open(null_name.data(), 2), FALAFEL_INVALID);
  EXPECT_NE(message().find("null"), std::string::npos) << message();
  const std::array twice{"one", "one"};
  EXPECT_EQ(open(twice.data(), 2), FALAFEL_INVALID);
  const std::array nobody{"nobody", "none"};
  EXPECT_EQ(open(nobody.data(), 2), FALAFEL_NO_SERVER);
  EXPECT_EQ(cluster(), nullptr);
  falafel_options_set(options(), "etcd", "127.0.0.1:1,127.0.0.1:2");
  EXPECT_EQ(open(server_names.data(), server_names.size()), FALAFEL_INVALID);
  EXPECT_NE(message().find("not both"), std::string::npos) << message();
  EXPECT_EQ(open(nullptr, 0), FALAFEL_UNREACHABLE);
  EXPECT_NE(message().find("127.0.0.1:2"), std::string::npos) << message();
  falafel_store* store = nullptr;
  EXPECT_EQ(falafel_open("one", options(), &store, nullptr, 0), FALAFEL_INVALID);
  falafel_options_set(options(), "metrics", "maybe");
  EXPECT_EQ(open(server_names.data(), server_names.size()), FALAFEL_INVALID);
  EXPECT_NE(message().find("'maybe'"), std::string::npos) << message();
}

TEST_F(CClusterTest, RefusesNullPointers) {
  open();
  void* value = nullptr;
  std::size_t length = 0;
  EXPECT_EQ(falafel_cluster_get(nullptr, "a", 1, &value, &length), FALAFEL_INVALID);
  EXPECT_EQ(falafel_cluster_get(cluster(), nullptr, 1, &value, &length), FALAFEL_INVALID);
  EXPECT_EQ(falafel_cluster_set(cluster(), "a", 1, nullptr, 1, 0), FALAFEL_INVALID);
  EXPECT_EQ(falafel_cluster_delete(cluster(), "", 0), FALAFEL_INVALID);
  EXPECT_EQ(falafel_cluster_compare_and_set(cluster(), nullptr, 1, "", 0, "", 0, 0),
            FALAFEL_INVALID);
  EXPECT_EQ(falafel_cluster_compare_and_set(cluster(), "a", 1, nullptr, 1, "", 0, 0),
            FALAFEL_INVALID);
  EXPECT_EQ(falafel_cluster_compare_and_set(cluster(), "a", 1, "", 0, nullptr, 1, 0),
            FALAFEL_INVALID);
  EXPECT_EQ(falafel_cluster_execute(cluster(), nullptr, 1), FALAFEL_INVALID);
  EXPECT_EQ(falafel_cluster_metrics(cluster(), nullptr), FALAFEL_INVALID);
  EXPECT_EQ(falafel_cluster_submit(nullptr, nullptr, 0), FALAFEL_INVALID);
  EXPECT_EQ(falafel_cluster_submit(cluster(), nullptr, 1), FALAFEL_INVALID);
  EXPECT_EQ(falafel_cluster_poll(cluster(), nullptr, 1, 0), 0U);
  EXPECT_EQ(falafel_cluster_poll_descriptor(nullptr), -1);
  EXPECT_EQ(falafel_cluster_for_each_key(cluster(), nullptr, nullptr), FALAFEL_INVALID);
  EXPECT_EQ(falafel_cluster_open(server_names.data(), 3, nullptr, nullptr, nullptr, 0),
            FALAFEL_INVALID);
}

}  // namespace
}  // namespace falafel::server_program
