#include "engine/client/rendezvous_hashing.h"
#include "fabric/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace falafel::engine {
namespace {

using fabric::bytes_of;

std::vector<std::string_view> views_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

const std::string& server_of(const std::vector<std::string>& servers, const std::string& key) {
  return servers[RendezvousHashing(views_of(servers)).server_of(bytes_of(key))];
}

rc::Gen<std::vector<std::string>> names() {
  return rc::gen::suchThat(
      rc::gen::unique<std::vector<std::string>>(rc::gen::arbitrary<std::string>()),
      [](const auto& servers) { return !servers.empty(); });
}

RC_GTEST_PROP(RendezvousHashing, DoesNotDependOnTheOrderOfTheServers, (const std::string& key)) {
  const auto servers = *names();
  auto sorted = servers;
  std::ranges::sort(sorted);
  RC_ASSERT(server_of(servers, key) == server_of(sorted, key));
}

RC_GTEST_PROP(RendezvousHashing, MovesOnlyTheKeysOfAServerThatLeaves, (const std::string& key)) {
  auto servers = *names();
  const std::string leaving = *rc::gen::elementOf(servers);
  const std::string before = server_of(servers, key);
  std::erase(servers, leaving);
  RC_PRE(!servers.empty());
  RC_ASSERT(before == leaving || server_of(servers, key) == before);
}

// Each of five servers expects 2,000 of 10,000 keys, with a standard deviation of 40.
TEST(RendezvousHashing, SpreadsKeysEvenly) {
  const std::vector<std::string> servers = {"a", "b", "c", "10.0.0.1", "10.0.0.2"};
  const RendezvousHashing hashing(views_of(servers));
  std::vector<int> keys_of(servers.size());
  for (int key = 0; key < 10'000; ++key) {
    ++keys_of[hashing.server_of(bytes_of(fmt::format("key {}", key)))];
  }
  for (const int keys : keys_of) EXPECT_NEAR(keys, 2'000, 200);
}

// Clients of different versions share servers. The numbers come from another implementation of
// BLAKE2b and SipHash-2-4.
TEST(RendezvousHashing, StaysTheSameFromVersionToVersion) {
  const std::vector<std::string> servers = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};
  const RendezvousHashing hashing(views_of(servers));
  std::string placement;
  for (int key = 0; key < 32; ++key) {
    placement += fmt::format("{}", hashing.server_of(bytes_of(fmt::format("key {}", key))));
  }
  EXPECT_EQ(placement, "21200200011202102000102020020112");
}

TEST(RendezvousHashingDeathTest, RefusesEqualNames) {
  const std::vector<std::string_view> servers = {"a", "b", "a"};
  EXPECT_DEATH(RendezvousHashing{servers}, "'a' is there twice");
}

}  // namespace
}  // namespace falafel::engine
