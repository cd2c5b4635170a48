// Servers that join and leave: which server a key belongs to, and changes of the list, which may be
// interrupted at any point.
#include "engine/placement/placement.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/layout/pinned.h"
#include "engine/placement/change.h"
#include "engine/time_bounds.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::ChangeReport;
using engine::ChangeTools;
using engine::MayChange;
using engine::Placement;
using engine::PlacementDirectory;
using engine::PlacementList;
using engine::ReachedKeys;
using engine::ServerKeys;

using Names = std::vector<std::string>;

Bytes key_number(int number) { return bytes_of(fmt::format("key {}", number)); }

TEST(Placement, KeysThatMoveHaveNoServer) {
  const Placement before({.servers = {"a", "b"}});
  const Placement during({.servers = {"a", "b"}, .next = {"a", "b", "c"}, .changed_by = 1});
  const Placement after({.servers = {"a", "b", "c"}});
  int moving = 0;
  for (int number = 0; number < 300; ++number) {
    const Bytes key = key_number(number);
    const bool moves = before.current_server_of(key) != after.current_server_of(key);
    moving += moves ? 1 : 0;
    EXPECT_EQ(during.current_server_of(key), before.current_server_of(key));
    EXPECT_EQ(during.next_server_of(key), after.current_server_of(key));
    EXPECT_EQ(during.server_of(key), moves ? std::nullopt : before.server_of(key));
  }
  EXPECT_NEAR(moving, 100, 40);
}

TEST(Placement, ListsHaveProblems) {
  EXPECT_EQ(engine::problem_of(Names{"a", "b"}), "");
  EXPECT_NE(engine::problem_of(Names{}).find("is empty"), std::string::npos);
  EXPECT_NE(engine::problem_of(Names{"a", ""}).find("empty name"), std::string::npos);
  EXPECT_NE(engine::problem_of(Names{"b", "a", "b"}).find("'b' twice"), std::string::npos);
}

// All servers and the directory, each call of which may be the last one that succeeds.
struct FakeCluster {
  using Keys = std::map<Bytes, Bytes>;
  // A server restarts at a call, and is then empty.
  struct Restart {
    int call = 0;
    std::string server;
  };
  std::map<std::string, Keys> servers;
  std::map<std::string, int> runs;  // of each server
  std::optional<Restart> restart;
  std::string damaged_server{};  // has a container that does not verify
  bool drops_damaged = false;
  std::string stopped_server{};  // proves nothing
  std::uint64_t stall_before_set_ns = 0;
  std::map<Bytes, std::uint64_t> times_to_live_ns{};  // of keys that have one
  std::set<std::uint64_t> copies_live_ns{};
  PlacementList list_at_restart;
  PlacementList list;
  std::uint64_t revision = 0;
  std::uint64_t now_ns = 0;
  std::uint64_t waited_ns = 0;
  int calls_left = std::numeric_limits<int>::max();
  int calls = 0;

  bool fails() {
    if (restart && restart->call == calls) {
      servers.at(restart->server).clear();
      ++runs[restart->server];
      list_at_restart = list;
    }
    ++calls;
    return calls_left-- <= 0;
  }
};

class FakeDirectory final : public PlacementDirectory {
 public:
  explicit FakeDirectory(FakeCluster& cluster) : cluster_(cluster) {}

  tl::expected<Entry, std::string> read() override {
    if (cluster_.fails()) return tl::unexpected(std::string("away"));
    return Entry{cluster_.list, cluster_.revision};
  }
  tl::expected<bool, std::string> replace(const PlacementList& list,
                                          std::uint64_t revision) override {
    if (cluster_.fails()) return tl::unexpected(std::string("away"));
    if (revision != cluster_.revision) return false;
    cluster_.list = list;
    ++cluster_.revision;
    if (cluster_.fails()) return tl::unexpected(std::string("the answer is lost"));
    return true;
  }

 private:
  FakeCluster& cluster_;
};

class FakeKeys final : public ServerKeys {
 public:
  FakeKeys(FakeCluster& cluster, const std::string& server, MayChange may_change)
      : cluster_(cluster),
        server_(server),
        may_change_(std::move(may_change)),
        run_(cluster.runs[server]),
        keys_(cluster.servers.at(server)) {}

  tl::expected<void, Answer> list(Contents& contents) override {
    if (fails()) return tl::unexpected(Answer::disconnected);
    for (const auto& [key, value] : keys_) {
      const auto left = cluster_.times_to_live_ns.find(key);
      const bool has_one = left != cluster_.times_to_live_ns.end();
      contents.keys.push_back({.key = key, .time_to_live_ns = has_one ? left->second : 0});
    }
    if (cluster_.damaged_server == server_) contents.damaged.push_back({.slot = 17});
    return {};
  }
  engine::GetResult get(std::span<const std::byte> key) override {
    if (fails()) return {};
    const auto found = keys_.find(Bytes(key.begin(), key.end()));
    engine::GetResult result;
    result.answer = found == keys_.end() ? Answer::not_found : Answer::found;
    if (found != keys_.end()) result.value = found->second;
    return result;
  }
  engine::SetResult set(std::span<const std::byte> key, std::span<const std::byte> value,
                        std::uint64_t time_to_live_ns) override {
    cluster_.now_ns += cluster_.stall_before_set_ns;
    if (fails() || !may_change_()) return {};
    if (time_to_live_ns > 0) cluster_.copies_live_ns.insert(time_to_live_ns);
    keys_[Bytes(key.begin(), key.end())] = Bytes(value.begin(), value.end());
    engine::SetResult result;
    result.answer = Answer::stored;
    return result;
  }
  engine::DeleteResult remove(std::span<const std::byte> key) override {
    if (fails() || !may_change_()) return {};
    engine::DeleteResult result;
    const bool was_there = keys_.erase(Bytes(key.begin(), key.end())) > 0;
    result.answer = was_there ? Answer::deleted : Answer::not_found;
    return result;
  }
  engine::DeleteResult drop(const engine::DamagedContainer& damaged) override {
    if (fails() || !may_change_()) return {};
    EXPECT_EQ(damaged.slot, 17U);
    cluster_.damaged_server.clear();
    engine::DeleteResult result;
    result.answer = Answer::deleted;
    return result;
  }
  tl::expected<void, Answer> wait_for_end_of_operations(std::uint64_t timeout_ns) override {
    EXPECT_EQ(timeout_ns, cluster_.list.times.settle_ns);
    if (fails()) return tl::unexpected(Answer::disconnected);
    if (cluster_.stopped_server == server_) return tl::unexpected(Answer::timed_out);
    return {};
  }
  bool is_same_incarnation() override { return !fails(); }

 private:
  bool fails() {
    const bool failed = cluster_.fails();
    return failed || cluster_.runs[server_] != run_;
  }

  FakeCluster& cluster_;
  const std::string server_;
  const MayChange may_change_;
  const int run_;
  FakeCluster::Keys& keys_;
};

enum class Strays : bool { stay, may_go };

tl::expected<ChangeReport, std::string> change(FakeCluster& cluster, const Names& next,
                                               const Names& lost = {},
                                               Strays strays = Strays::stay) {
  FakeDirectory directory(cluster);
  ChangeTools tools{
      .directory = directory,
      .reach = [&](const std::string& server, const MayChange& may_change) -> ReachedKeys {
        if (cluster.fails() || !cluster.servers.contains(server)) {
          return tl::unexpected(std::string("away"));
        }
        return std::make_unique<FakeKeys>(cluster, server, may_change);
      },
      .now_ns = [&] { return cluster.now_ns += second_ns; },
      .wait =
          [&](std::uint64_t duration_ns) {
            cluster.waited_ns += duration_ns;
            cluster.now_ns += duration_ns;
          },
      .own_number = 1 + static_cast<std::uint64_t>(cluster.calls),
      .may_delete_strays = strays == Strays::may_go,
      .drops_damaged = cluster.drops_damaged};
  return change_placement(tools, next, lost);
}

FakeCluster full_cluster(const Names& servers) {
  FakeCluster cluster;
  for (const char* server : {"a", "b", "c", "d"}) cluster.servers[server];
  cluster.list = {.servers = servers};
  cluster.revision = 1;
  const Placement placement(cluster.list);
  for (int number = 0; number < 40; ++number) {
    const Bytes key = key_number(number);
    cluster.servers[placement.current_server_of(key)][key] = bytes_of(fmt::to_string(number));
  }
  return cluster;
}

// Expects each key at its server, which is the old one while the key moves.
void expect_all_keys(FakeCluster& cluster) {
  const Placement placement(cluster.list);
  for (int number = 0; number < 40; ++number) {
    const auto& keys = cluster.servers[placement.current_server_of(key_number(number))];
    const auto found = keys.find(key_number(number));
    ASSERT_NE(found, keys.end()) << "key " << number << " is lost";
    EXPECT_EQ(found->second, bytes_of(fmt::to_string(number)));
  }
}

std::size_t count_copies(const FakeCluster& cluster) {
  std::size_t count = 0;
  for (const auto& [server, keys] : cluster.servers) count += keys.size();
  return count;
}

TEST(PlacementChange, MovesKeysOfServersThatJoinAndLeave) {
  FakeCluster cluster = full_cluster({"a", "b"});
  const auto joined = change(cluster, {"a", "b", "c"});
  ASSERT_TRUE(joined) << joined.error();
  EXPECT_GT(joined->moved, 0U);
  EXPECT_EQ(joined->moved, joined->deleted);
  EXPECT_EQ(cluster.servers["c"].size(), joined->moved);
  EXPECT_EQ(cluster.list, (PlacementList{.servers = {"a", "b", "c"}}));
  EXPECT_EQ(cluster.waited_ns, engine::PlacementTimes{}.settle_ns);
  expect_all_keys(cluster);
  const auto left = change(cluster, {"b", "c"});
  ASSERT_TRUE(left) << left.error();
  EXPECT_TRUE(cluster.servers["a"].empty());
  expect_all_keys(cluster);
  EXPECT_EQ(count_copies(cluster), 40U);
}

// The change takes seconds, which it subtracts from the times that values have left.
TEST(PlacementChange, CopiesPinnedValuesAsPinned) {
  FakeCluster cluster = full_cluster({"a", "b"});
  for (int number = 0; number < 40; ++number) {
    cluster.times_to_live_ns[key_number(number)] = engine::pinned_time_to_live_ns;
  }
  const auto joined = change(cluster, {"a", "b", "c"});
  ASSERT_TRUE(joined) << joined.error();
  EXPECT_GT(joined->moved, 0U);
  EXPECT_EQ(cluster.copies_live_ns, std::set<std::uint64_t>{engine::pinned_time_to_live_ns});
}

TEST(PlacementChange, MakesTheFirstList) {
  FakeCluster cluster = full_cluster({"a", "b"});
  for (auto& [server, keys] : cluster.servers) keys.clear();
  cluster.list = {};
  cluster.revision = 0;
  ASSERT_TRUE(change(cluster, {"a", "b"}));
  EXPECT_EQ(cluster.list.servers, (Names{"a", "b"}));
}

// The key of etcd may be the wrong one.
TEST(PlacementChange, MakesNoFirstListOverKeysWithoutWord) {
  FakeCluster cluster = full_cluster({"a", "b"});
  cluster.list = {};
  cluster.revision = 0;
  cluster.servers["b"][bytes_of("a stranger 3")] = {};
  const std::size_t keys_of_b = cluster.servers["b"].size();
  const auto refused = change(cluster, {"a", "b"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(cluster.revision, 0U);
  EXPECT_EQ(count_copies(cluster), 41U);
  EXPECT_NE(refused.error().find(fmt::format("'b' has {} keys, of which 1 would", keys_of_b)),
            std::string::npos)
      << refused.error();
  ASSERT_TRUE(change(cluster, {"a", "b"}, {}, Strays::may_go));
  expect_all_keys(cluster);
  EXPECT_EQ(count_copies(cluster), 40U);
}

// Server c may belong to somebody else, or has old values and keys that were deleted elsewhere.
TEST(PlacementChange, RemovesStraysAfterWordAlone) {
  FakeCluster cluster = full_cluster({"a", "b"});
  for (int number = 0; number < 80; ++number) cluster.servers["c"][key_number(number)] = {};
  const auto refused = change(cluster, {"a", "b", "c"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(cluster.revision, 1U);
  EXPECT_EQ(cluster.servers["c"].size(), 80U);
  EXPECT_NE(refused.error().find("'c' has 80 keys, of which 40 would"), std::string::npos)
      << refused.error();
  ASSERT_TRUE(change(cluster, {"a", "b", "c"}, {}, Strays::may_go));
  expect_all_keys(cluster);
  EXPECT_EQ(count_copies(cluster), 40U) << "a deleted key is back";
}

TEST(PlacementChange, RemovesStraysThatAreElsewhere) {
  FakeCluster cluster = full_cluster({"a", "b"});
  for (int number = 0; number < 40; ++number) cluster.servers["c"][key_number(number)] = {};
  ASSERT_TRUE(change(cluster, {"a", "b", "c"}));
  expect_all_keys(cluster);
  EXPECT_EQ(count_copies(cluster), 40U);
}

// After the failure of any call, clients find all keys that do not move. If the change is repeated
// or given up, they find all keys.
TEST(PlacementChange, CanBeInterruptedAnywhere) {
  FakeCluster whole = full_cluster({"a", "b", "c"});
  ASSERT_TRUE(change(whole, {"b", "c", "d"}));
  ASSERT_GT(whole.calls, 60);
  for (int calls = 0; calls < whole.calls; ++calls) {
    SCOPED_TRACE(calls);
    FakeCluster cluster = full_cluster({"a", "b", "c"});
    cluster.calls_left = calls;
    EXPECT_FALSE(change(cluster, {"b", "c", "d"}));
    cluster.calls_left = std::numeric_limits<int>::max();
    expect_all_keys(cluster);
    FakeCluster other = cluster;
    const auto repeated = change(cluster, {"b", "c", "d"});
    ASSERT_TRUE(repeated) << repeated.error();
    expect_all_keys(cluster);
    EXPECT_EQ(cluster.list.servers, (Names{"b", "c", "d"}));
    FakeDirectory directory(other);
    const bool was_changing = other.list.is_changing();
    EXPECT_EQ(give_up_change(directory).has_value(), was_changing);
    expect_all_keys(other);
    ASSERT_TRUE(change(other, {"c", "d"}));
    expect_all_keys(other);
  }
}

// The keys that a server had when it restarted are gone. All others are found, or are still where
// they were if a server restarted just when it began to have them.
void expect_no_key_of_others_is_lost(FakeCluster& cluster, bool is_done) {
  const Placement before(cluster.list_at_restart);
  const Placement after(cluster.list);
  for (int number = 0; number < 40; ++number) {
    const Bytes key = key_number(number);
    const std::string& former = before.current_server_of(key);
    if (former == cluster.restart->server) continue;
    if (cluster.servers[after.current_server_of(key)].contains(key)) continue;
    EXPECT_FALSE(is_done) << "key " << number << " is lost";
    EXPECT_TRUE(cluster.servers[former].contains(key)) << "key " << number << " is lost";
  }
}

TEST(PlacementChange, LosesNoKeyOfServersThatDidNotRestart) {
  FakeCluster whole = full_cluster({"a", "b", "c"});
  ASSERT_TRUE(change(whole, {"b", "c", "d"}));
  for (const char* server : {"a", "b", "c", "d"}) {
    int lasting = 0;
    for (int call = 0; call < whole.calls; ++call) {
      SCOPED_TRACE(fmt::format("{} restarts at call {}", server, call));
      FakeCluster cluster = full_cluster({"a", "b", "c"});
      cluster.restart = {.call = call, .server = server};
      const bool is_done = change(cluster, {"b", "c", "d"}).has_value();
      expect_no_key_of_others_is_lost(cluster, is_done);
      cluster.calls = whole.calls + 1;
      if (is_done || !cluster.list.is_changing()) continue;
      ++lasting;
      ASSERT_TRUE(change(cluster, {"b", "c", "d"}));
      expect_no_key_of_others_is_lost(cluster, true);
    }
    EXPECT_GT(lasting, 10) << "the change noticed no restart";
  }
}

TEST(PlacementChange, ExplainsWhatItRefuses) {
  const auto problem = [](FakeCluster cluster, const Names& next, const Names& lost = {}) {
    const std::uint64_t revision = cluster.revision;
    const auto changed = change(cluster, next, lost);
    EXPECT_FALSE(changed);
    EXPECT_EQ(cluster.revision, revision) << "nothing was begun";
    return changed ? std::string() : changed.error();
  };
  const FakeCluster cluster = full_cluster({"a", "b"});
  EXPECT_NE(problem(cluster, {}).find("is empty"), std::string::npos);
  EXPECT_NE(problem(cluster, {"a", "x"}).find("'x': away"), std::string::npos);
  EXPECT_NE(problem(cluster, {"a", "b"}, {"a"}).find("'a' is lost"), std::string::npos);
  FakeCluster changing = cluster;
  changing.list.next = {"a"};
  EXPECT_NE(problem(changing, {"b"}).find("a change to a is under way"), std::string::npos);
}

TEST(PlacementChange, NamesDamagedContainersAndMovesAllOtherKeys) {
  for (const bool drops : {false, true}) {
    FakeCluster cluster = full_cluster({"a", "b"});
    cluster.damaged_server = "b";
    cluster.drops_damaged = drops;
    const auto changed = change(cluster, {"a", "c"});
    ASSERT_TRUE(changed) << changed.error();
    expect_all_keys(cluster);
    ASSERT_EQ(changed->damaged.size(), 1U);
    EXPECT_EQ(changed->damaged[0].server, "b");
    EXPECT_EQ(changed->damaged[0].container.slot, 17U);
    EXPECT_EQ(changed->damaged[0].is_dropped, drops);
    EXPECT_EQ(cluster.damaged_server.empty(), drops);
  }
}

TEST(PlacementTimes, GrowWithTheTimeOfDetection) {
  EXPECT_EQ(engine::least_settle_ns(10 * second_ns), 89'300 * millisecond_ns);
  EXPECT_EQ(engine::least_settle_ns(10 * second_ns, 20 * second_ns), 95 * second_ns);
  EXPECT_GE(engine::PlacementTimes{}.settle_ns, engine::least_settle_ns(10 * second_ns));
}

TEST(PlacementChange, FailsIfAServerDoesNotProveThatItRuns) {
  for (const char* server : {"a", "b", "c"}) {
    FakeCluster cluster = full_cluster({"a", "b"});
    cluster.stopped_server = server;
    const auto changed = change(cluster, {"a", "c"});
    ASSERT_FALSE(changed);
    EXPECT_NE(changed.error().find(fmt::format("'{}' answers 'timed out'", server)),
              std::string::npos)
        << changed.error();
    EXPECT_TRUE(cluster.servers["c"].empty());
    EXPECT_EQ(count_copies(cluster), 40U);
    EXPECT_TRUE(cluster.list.is_changing());
  }
}

// Somebody else may have taken the change over meanwhile.
TEST(PlacementChange, CopiesNothingAfterItsLeaseHasEnded) {
  FakeCluster cluster = full_cluster({"a", "b"});
  cluster.stall_before_set_ns = engine::PlacementTimes{}.lease_ns;
  EXPECT_FALSE(change(cluster, {"a", "c"}));
  EXPECT_TRUE(cluster.servers["c"].empty());
}

TEST(PlacementChange, LosesTheKeysOfLostServers) {
  FakeCluster cluster = full_cluster({"a", "b"});
  const std::size_t lost = cluster.servers["b"].size();
  cluster.servers.erase("b");
  EXPECT_FALSE(change(cluster, {"a", "c"}));
  const auto changed = change(cluster, {"a", "c"}, {"b"});
  ASSERT_TRUE(changed) << changed.error();
  EXPECT_EQ(count_copies(cluster), 40 - lost);
}

// Two changes mix: the second one takes the first one over while it copies.
TEST(PlacementChange, EndsWhenSomebodyElseTakesItOver) {
  FakeCluster cluster = full_cluster({"a", "b"});
  FakeDirectory directory(cluster);
  bool taken = false;
  ChangeTools tools{
      .directory = directory,
      .reach = [&](const std::string& server, const MayChange& may_change) -> ReachedKeys {
        return std::make_unique<FakeKeys>(cluster, server, may_change);
      },
      .now_ns = [&] { return cluster.now_ns += second_ns; },
      .wait =
          [&](std::uint64_t duration_ns) {
            cluster.now_ns += duration_ns;
            cluster.list.changed_by = 2;
            ++cluster.revision;
            taken = true;
          },
      .own_number = 1};
  const auto changed = change_placement(tools, {"a", "b", "c"});
  ASSERT_TRUE(taken);
  ASSERT_FALSE(changed);
  EXPECT_NE(changed.error().find("somebody else"), std::string::npos);
  EXPECT_TRUE(cluster.servers["c"].empty());
}

}  // namespace
}  // namespace falafel::engine_test
