// Operations of one client, and of several.
#include <gtest/gtest.h>

#include "tests/stores/swarm/cluster.h"

namespace falafel::swarm_test {
namespace {

using swarm::Answer;
using swarm::Client;

TEST(SwarmOperations, SetGetAndRemove) {
  TestCluster cluster;
  cluster.add_client([](fabric::Host&, Client& client) {
    EXPECT_EQ(get(client, "a"), "[not found]");
    EXPECT_EQ(remove(client, "a"), Answer::not_found);
    EXPECT_EQ(set(client, "a", "1"), Answer::stored);
    EXPECT_EQ(get(client, "a"), "1");
    EXPECT_EQ(set(client, "a", ""), Answer::stored);
    EXPECT_EQ(get(client, "a"), "");
    EXPECT_EQ(remove(client, "a"), Answer::deleted);
    EXPECT_EQ(get(client, "a"), "[not found]");
    EXPECT_EQ(set(client, "a", "2"), Answer::stored);
    EXPECT_EQ(get(client, "a"), "2");
  });
  EXPECT_EQ(cluster.run(), "");
}

TEST(SwarmOperations, RefuseKeysAndValuesThatDoNotFit) {
  TestCluster cluster;
  cluster.add_client([](fabric::Host&, Client& client) {
    EXPECT_EQ(set(client, "", "1"), Answer::invalid_key);
    EXPECT_EQ(set(client, "12345678901234567", "1"), Answer::invalid_key);
    EXPECT_EQ(get(client, ""), "[invalid key]");
    EXPECT_EQ(remove(client, ""), Answer::invalid_key);
    EXPECT_EQ(set(client, "a", std::string(24, 'v')), Answer::stored);
    EXPECT_EQ(set(client, "a", std::string(25, 'w')), Answer::value_too_large);
    EXPECT_EQ(get(client, "a"), std::string(24, 'v'));
  });
  EXPECT_EQ(cluster.run(), "");
}

TEST(SwarmOperations, SeeThoseOfOtherClients) {
  TestCluster cluster;
  cluster.add_host(2, [](fabric::Host&, auto& clients) {
    for (int round = 0; round < 10; ++round) {
      for (const bool swaps : {false, true}) {
        Client& writer = *clients[swaps ? 1 : 0];
        Client& reader = *clients[swaps ? 0 : 1];
        const std::string value = std::to_string(round) + (swaps ? "x" : "y");
        ASSERT_EQ(set(writer, "a", value), Answer::stored);
        ASSERT_EQ(get(reader, "a"), value);
      }
    }
  });
  EXPECT_EQ(cluster.run(), "");
}

TEST(SwarmOperations, OfTwoClientsThatInsertAKeyOneUsesTheRegisterOfTheOther) {
  std::uint64_t inserted = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    TestCluster cluster({.seed = seed});
    for (int number = 0; number < 3; ++number) {
      cluster.add_client([&inserted](fabric::Host&, Client& client) {
        EXPECT_EQ(set(client, "a", "1"), Answer::stored);
        inserted += client.statistics().inserted;
      });
    }
    ASSERT_EQ(cluster.run(), "");
  }
  EXPECT_EQ(inserted, 50);
}

TEST(SwarmOperations, EndWhenRegistersBuffersOrSlotsAreUsedUp) {
  ClusterOptions options;
  options.options.registers_per_writer = 2;
  options.options.buffers_per_writer = 4;
  TestCluster cluster(options);
  cluster.add_client([](fabric::Host&, Client& client) {
    EXPECT_EQ(set(client, "a", "1"), Answer::stored);
    EXPECT_EQ(set(client, "b", "2"), Answer::stored);
    EXPECT_EQ(set(client, "c", "3"), Answer::out_of_memory);
    EXPECT_EQ(get(client, "c"), "[not found]");
    EXPECT_EQ(set(client, "a", "4"), Answer::stored);
    EXPECT_EQ(set(client, "a", "5"), Answer::stored);
    EXPECT_EQ(set(client, "a", "6"), Answer::out_of_memory);
    EXPECT_EQ(get(client, "a"), "5");
  });
  EXPECT_EQ(cluster.run(), "");

  ClusterOptions small;
  small.options.index_bits = 2;  // 6 buckets of 6 slots
  small.options.registers_per_writer = 64;
  TestCluster full(small);
  full.add_client([](fabric::Host&, Client& client) {
    std::size_t stored = 0;
    for (int key = 0; key < 60; ++key) {
      const Answer answer = set(client, "key " + std::to_string(key), "v");
      if (answer == Answer::stored)
        ++stored;
      else
        ASSERT_EQ(answer, Answer::table_full);
    }
    EXPECT_EQ(stored, 36);
  });
  EXPECT_EQ(full.run(), "");
}

TEST(SwarmOperations, ForgetWhereKeysAreIfTheCacheIsSmall) {
  ClusterOptions options;
  options.options.cached_keys = 1;
  TestCluster cluster(options);
  cluster.add_client([](fabric::Host&, Client& client) {
    for (const char* const key : {"a", "b", "c", "a", "b", "c"}) {
      EXPECT_EQ(set(client, key, std::string(key) + "1"), Answer::stored);
    }
    for (const char* const key : {"a", "b", "c"})
      EXPECT_EQ(get(client, key), std::string(key) + "1");
    EXPECT_EQ(client.statistics().inserted, 3);
  });
  EXPECT_EQ(cluster.run(), "");
}

}  // namespace
}  // namespace falafel::swarm_test
