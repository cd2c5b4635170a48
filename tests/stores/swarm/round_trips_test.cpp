// How many round trips operations take, alone and after those of another client.
#include <gtest/gtest.h>

#include "tests/stores/swarm/cluster.h"

namespace falafel::swarm_test {
namespace {

using swarm::Answer;
using swarm::Client;

using Clients = std::vector<std::unique_ptr<Client>>;

template <typename Operation>
std::uint64_t round_trips_of(Client& client, const Operation& operation) {
  const std::uint64_t before = client.round_trips();
  operation();
  return client.round_trips() - before;
}

std::string run(const swarm::Options& options, TestCluster::HostBody body) {
  TestCluster cluster({.options = options});
  cluster.add_host(2, std::move(body));
  return cluster.run();
}

TEST(SwarmRoundTrips, AKnownKeyIsWrittenAndReadInOne) {
  EXPECT_EQ(run(small_options(),
                [](fabric::Host&, Clients& clients) {
                  Client& client = *clients[0];
                  set(client, "a", "1");
                  EXPECT_EQ(round_trips_of(client, [&] { set(client, "a", "2"); }), 1);
                  EXPECT_EQ(round_trips_of(client, [&] { get(client, "a"); }), 1);
                  EXPECT_EQ(round_trips_of(client, [&] { set(client, "a", "3"); }), 1);
                  EXPECT_EQ(client.statistics().guessed, 3);
                  EXPECT_EQ(client.statistics().in_place, 1);
                }),
            "");
}

// The answer of the node with the data in place may be the last one.
TEST(SwarmRoundTrips, WithAllNodesAKnownKeyIsWrittenAndReadInAtMostTwo) {
  swarm::Options options = small_options();
  options.contacts = swarm::Contacts::all;
  EXPECT_EQ(run(options,
                [](fabric::Host& host, Clients& clients) {
                  Client& client = *clients[0];
                  set(client, "a", "1");
                  settle(host);
                  EXPECT_LE(round_trips_of(client, [&] { set(client, "a", "2"); }), 2);
                  EXPECT_LE(round_trips_of(client, [&] { get(client, "a"); }), 2);
                }),
            "");
}

TEST(SwarmRoundTrips, WithoutGuessesAWriteTakesTwo) {
  swarm::Options options = small_options();
  options.guesses = false;
  EXPECT_EQ(run(options,
                [](fabric::Host& host, Clients& clients) {
                  set(*clients[0], "a", "1");
                  settle(host);
                  EXPECT_EQ(round_trips_of(*clients[0], [&] { set(*clients[0], "a", "2"); }), 2);
                }),
            "");
}

TEST(SwarmRoundTrips, WithoutDataInPlaceAReadTakesTwo) {
  swarm::Options options = small_options();
  options.in_place = false;
  EXPECT_EQ(run(options,
                [](fabric::Host& host, Clients& clients) {
                  set(*clients[0], "a", "1");
                  settle(host);
                  EXPECT_EQ(round_trips_of(*clients[0], [&] { get(*clients[0], "a"); }), 2);
                }),
            "");
}

TEST(SwarmRoundTrips, AnUnknownKeyTakesTwoMoreForTheIndexAndItsKey) {
  EXPECT_EQ(run(small_options(),
                [](fabric::Host& host, Clients& clients) {
                  set(*clients[0], "a", "1");
                  settle(host);
                  EXPECT_EQ(round_trips_of(*clients[1], [&] { get(*clients[1], "a"); }), 3);
                  EXPECT_EQ(round_trips_of(*clients[1], [&] { get(*clients[1], "b"); }), 1);
                }),
            "");
}

// Timestamps that follow from what clients have seen, so that a guess is stale after other writes.
TEST(SwarmRoundTrips, AnOvertakenWriteTakesTwoIfItsGuessIsNowhereAndThreeOtherwise) {
  for (const std::uint32_t words : {1U, 8U}) {
    swarm::Options options = small_options();
    options.tick_ns = 1'000'000'000;
    options.metadata_words = words;
    EXPECT_EQ(run(options,
                  [words](fabric::Host& host, Clients& clients) {
                    Client& client = *clients[0];
                    set(client, "a", "1");
                    for (int writes = 0; writes < 3; ++writes) set(*clients[1], "a", "2");
                    settle(host);
                    EXPECT_EQ(round_trips_of(client, [&] { set(client, "a", "3"); }),
                              words == 1 ? 2 : 3);
                    EXPECT_EQ(client.statistics().withdrawn, 1);
                    EXPECT_EQ(get(*clients[1], "a"), "3");
                  }),
              "");
  }
}

}  // namespace
}  // namespace falafel::swarm_test
