// Tests of several servers between threads of one process.
#include "falafel/cluster.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/store/cluster_keys.h"
#include "tests/store/etcd_gateway.h"
#include "tests/store/server_thread.h"
#include "tools/benchmarks/store/parties.h"

namespace falafel::server_program {
namespace {

using engine::Answer;

class ClusterTest : public testing::Test {
 protected:
  ClusterOptions options() const {
    ClusterOptions options{.servers = {"one", "two", "three"}};
    options.store.fabric.directory = directory_.path();
    options.store.reconnect_interval_ns = 1'000'000;
    return options;
  }

  void start(const std::string& server, const engine::ServerOptions& server_options = {}) {
    servers_[server] = std::make_unique<ServerThread>(directory_.path(), server_options, server);
  }
  void kill(const std::string& server) { servers_.erase(server); }
  void start_all() {
    for (const std::string& server : options().servers) start(server);
  }

  std::unique_ptr<Cluster> open() const {
    auto cluster = Cluster::open(options());
    EXPECT_TRUE(cluster.has_value()) << cluster.error().detail;
    return std::move(*cluster);
  }

  // etcd has this list, in base64, and is never seen again.
  std::unique_ptr<Cluster> open_by_etcd(std::string_view list) const {
    store_test::Gateway etcd(
        store_test::http(fmt::format(R"({{"kvs":[{{"mod_revision":"1","value":"{}"}}]}})", list)));
    ClusterOptions changed = options();
    changed.servers.clear();
    changed.etcd = {etcd.endpoint()};
    auto cluster = Cluster::open(changed);
    EXPECT_TRUE(cluster.has_value()) << cluster.error().detail;
    return std::move(*cluster);
  }

  std::unique_ptr<Store> open_store(const std::string& server) const {
    StoreOptions store = options().store;
    store.server = server;
    auto opened = Store::open(store);
    EXPECT_TRUE(opened.has_value()) << opened.error().detail;
    return std::move(*opened);
  }

 private:
  store_benchmark::TemporaryDirectory directory_;
  std::map<std::string, std::unique_ptr<ServerThread>> servers_;
};

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

std::vector<Cluster::KeyAndValue> pairs_of(const std::vector<std::string>& keys) {
  std::vector<Cluster::KeyAndValue> pairs;
  pairs.reserve(keys.size());
  for (const std::string& key : keys) pairs.emplace_back(key, key);
  return pairs;
}

TEST_F(ClusterTest, KeepsEachKeyAtItsServerAlone) {
  start_all();
  const auto cluster = open();
  for (const std::string& key : keys(30)) {
    ASSERT_EQ(cluster->set(key, "value").answer, Answer::stored);
    EXPECT_EQ(text_of(cluster->get(key).value), "value");
  }
  for (const std::string& server : options().servers) {
    const auto store = open_store(server);
    for (const std::string& key : keys(30)) {
      EXPECT_EQ(store->get(key).answer,
                cluster->server_of(key) == server ? Answer::found : Answer::not_found);
    }
  }
  EXPECT_EQ(cluster->remove("key 7").answer, Answer::deleted);
  EXPECT_EQ(cluster->get("key 7").answer, Answer::not_found);
}

TEST_F(ClusterTest, AnswersManyKeysInTheirOrder) {
  start_all();
  const auto cluster = open();
  const auto all = keys(200);
  for (const auto& result : cluster->set_many(pairs_of(all))) {
    EXPECT_EQ(result.answer, Answer::stored);
  }
  EXPECT_EQ(cluster->remove("key 50").answer, Answer::deleted);
  const auto found = cluster->get_many(views_of(all));
  ASSERT_EQ(found.size(), all.size());
  for (std::size_t key = 0; key < all.size(); ++key) {
    EXPECT_EQ(found[key].answer, key == 50 ? Answer::not_found : Answer::found);
    EXPECT_EQ(text_of(found[key].value), key == 50 ? "" : all[key]);
  }
  const auto removed = cluster->remove_many(views_of(all));
  for (std::size_t key = 0; key < all.size(); ++key) {
    EXPECT_EQ(removed[key].answer, key == 50 ? Answer::not_found : Answer::deleted);
  }
  EXPECT_TRUE(cluster->get_many({}).empty());
}

TEST_F(ClusterTest, ManyValuesOfCachesExpireTogether) {
  for (const std::string& server : options().servers) start(server, cache_options());
  const auto cluster = open();
  const auto all = keys(60);
  const auto pairs = pairs_of(all);
  const std::span<const Cluster::KeyAndValue> expiring = std::span(pairs).first(30);
  for (const auto& result : cluster->set_many(expiring, 50'000'000)) {
    EXPECT_EQ(result.answer, Answer::stored);
  }
  cluster->set_many(std::span(pairs).subspan(30));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  const auto found = cluster->get_many(views_of(all));
  for (std::size_t key = 0; key < all.size(); ++key) {
    EXPECT_EQ(found[key].answer, key < 30 ? Answer::not_found : Answer::found) << all[key];
  }
}

TEST_F(ClusterTest, VisitsEachKeyAtItsServerAlone) {
  start_all();
  const auto cluster = open();
  const auto all = keys(60);
  cluster->set_many(pairs_of(all));
  // Copies that a change of the list may have left behind.
  for (const std::string& server : options().servers) open_store(server)->set("key 7", "old");
  std::set<std::string> visited;
  const auto visit = [&](std::string_view key, std::span<const std::byte> value, std::uint64_t) {
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(value.data()), value.size()), key);
    visited.emplace(key);
  };
  open_store(cluster->server_of("key 7"))->set("key 7", "key 7");
  ASSERT_TRUE(cluster->for_each_key(visit));
  EXPECT_EQ(visited, std::set(all.begin(), all.end()));
  kill("two");
  EXPECT_EQ(cluster->for_each_key(visit), tl::unexpected(Answer::disconnected));
}

TEST_F(ClusterTest, LosesOnlyTheKeysOfAServerThatDies) {
  start_all();
  const auto cluster = open();
  const auto all = keys(60);
  cluster->set_many(pairs_of(all));
  kill("two");
  const auto found = cluster->get_many(views_of(all));
  for (std::size_t key = 0; key < all.size(); ++key) {
    const bool is_lost = cluster->server_of(all[key]) == "two";
    EXPECT_EQ(found[key].answer, is_lost ? Answer::disconnected : Answer::found);
    EXPECT_EQ(cluster->get(all[key]).answer, is_lost ? Answer::disconnected : Answer::found);
  }
}

TEST_F(ClusterTest, UsesAServerAgainThatReturns) {
  start_all();
  const auto cluster = open();
  const auto all = keys(60);
  cluster->set_many(pairs_of(all));
  kill("two");
  start("two");
  // The first call finds the broken connections by itself.
  for (const auto& result : cluster->set_many(pairs_of(all))) {
    EXPECT_EQ(result.answer, Answer::stored);
  }
}

TEST_F(ClusterTest, OpensWhileServersAreAwayAndReachesThemLater) {
  start("one");
  const auto cluster = open();
  const auto all = keys(60);
  const auto stored = cluster->set_many(pairs_of(all));
  for (std::size_t key = 0; key < all.size(); ++key) {
    EXPECT_EQ(stored[key].answer,
              cluster->server_of(all[key]) == "one" ? Answer::stored : Answer::disconnected);
  }
  start("two");
  start("three");
  for (const std::string& key : all) {
    Answer answer = Answer::disconnected;
    while (answer == Answer::disconnected) answer = cluster->set(key, key).answer;
    EXPECT_EQ(answer, Answer::stored);
  }
}

// {"format":1,"servers":["one"],"lease_ms":1000,"settle_ms":9000}
constexpr std::string_view list_with_short_lease =
    "eyJmb3JtYXQiOjEsInNlcnZlcnMiOlsib25lIl0sImxlYXNlX21zIjoxMDAw"
    "LCJzZXR0bGVfbXMiOjkwMDB9";

// {"format":1,"servers":["one"],"lease_ms":9000,"settle_ms":90000,"next":["two"],"changed_by":7}
constexpr std::string_view list_that_changes =
    "eyJmb3JtYXQiOjEsInNlcnZlcnMiOlsib25lIl0sImxlYXNlX21zIjo5MDAwLCJzZXR0bGVfbXMi"
    "OjkwMDAwLCJuZXh0IjpbInR3byJdLCJjaGFuZ2VkX2J5Ijo3fQ==";

TEST_F(ClusterTest, VisitsNoKeysWhileTheListChanges) {
  start("one");
  const auto cluster = open_by_etcd(list_that_changes);
  const auto visited = cluster->for_each_key([](auto, auto, auto) {});
  EXPECT_EQ(visited, tl::unexpected(Answer::disconnected));
}

// The lease ends during the scan, so a change may have moved keys.
TEST_F(ClusterTest, AScanThatOutlivesTheLeaseIsIncomplete) {
  start("one");
  const auto cluster = open_by_etcd(list_with_short_lease);
  open_store("one")->set("key", "value");
  const auto visited = cluster->for_each_key(
      [](auto, auto, auto) { std::this_thread::sleep_for(std::chrono::milliseconds(1'100)); });
  EXPECT_EQ(visited, tl::unexpected(Answer::disconnected));
}

TEST_F(ClusterTest, BeginsNoOperationOfABatchAfterTheLease) {
  start("one");
  const auto all = keys(40);
  int begun = 0;
  while (begun == 0) {  // on a busy machine, the lease may end before the first
    const auto cluster = open_by_etcd(list_with_short_lease);
    cluster->run_batch(views_of(all), [&](engine::Batch&, std::size_t) {
      ++begun;
      std::this_thread::sleep_for(std::chrono::milliseconds(1'100));
      return true;
    });
  }
  EXPECT_EQ(begun, 1);
}

TEST_F(ClusterTest, ExplainsWhatIsWrongWithItsServers) {
  ClusterOptions changed = options();
  const auto open_with = [&changed](std::vector<std::string> servers) {
    changed.servers = std::move(servers);
    const auto opened = Cluster::open(changed);
    return opened ? OpenError{} : opened.error();
  };
  EXPECT_EQ(open_with({}).problem, OpenProblem::invalid_options);
  EXPECT_NE(open_with({"a", "b", "a"}).detail.find("has 'a' twice"), std::string::npos);
  EXPECT_EQ(open_with({"a", "b"}).problem, OpenProblem::no_server);
  EXPECT_NE(open_with({"a", "b"}).detail.find("none of 2 servers"), std::string::npos);
  start("one");
  EXPECT_EQ(open_with({"one", "two"}).detail, "");
  changed.store.max_operations_in_flight = 0;
  EXPECT_EQ(open_with({"one", "two"}).problem, OpenProblem::invalid_options);
}

}  // namespace
}  // namespace falafel::server_program
