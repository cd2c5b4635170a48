// Hearing that the peer has closed its end of a connection.
#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(ClosingTest);

constexpr QueuePairOptions hearing{.hears_close = true};

std::uint64_t patiently_ns(Host& host) { return host.now_ns() + patience_ns; }

TEST_P(ClosingTest, IsHeardByTheServer) {
  run_pairs(
      {.queue_pair = hearing}, [](Peer& client) { client.queue_pair->close(); },
      [](Peer& server) {
        EXPECT_TRUE(server.queue_pair->wait_until_peer_closed(patiently_ns(server.host)));
        EXPECT_TRUE(server.queue_pair->wait_until_peer_closed(0)) << "and from then on";
      });
}

TEST_P(ClosingTest, IsHeardByTheClient) {
  run_pairs(
      {.queue_pair = hearing},
      [](Peer& client) {
        client.succeed(client.write(0, 0, 8));
        client.channel.tell();
        EXPECT_TRUE(client.queue_pair->wait_until_peer_closed(patiently_ns(client.host)));
      },
      [](Peer& server) {
        server.channel.hear();
        server.queue_pair.reset();
      });
}

TEST_P(ClosingTest, IsHeardOnUnreliableConnections) {
  if (!capabilities().unreliable_connection) GTEST_SKIP();
  run_pairs(
      {.queue_pair = {.transport = Transport::unreliable_connection, .hears_close = true}},
      [](Peer& client) { client.queue_pair->close(); },
      [](Peer& server) {
        EXPECT_TRUE(server.queue_pair->wait_until_peer_closed(patiently_ns(server.host)));
      });
}

TEST_P(ClosingTest, IsNotHeardBeforeItHappens) {
  run_pairs(
      {.queue_pair = hearing}, [](Peer& client) { client.channel.hear(); },
      [](Peer& server) {
        const std::uint64_t deadline_ns = server.host.now_ns() + millisecond_ns;
        EXPECT_FALSE(server.queue_pair->wait_until_peer_closed(deadline_ns));
        EXPECT_GE(server.host.now_ns(), deadline_ns);
        EXPECT_FALSE(server.queue_pair->wait_until_peer_closed(0));
        server.channel.tell();
      });
}

TEST_P(ClosingTest, ChangesNothingAtTheOtherSide) {
  run_pairs(
      {.queue_pair = {.acknowledge_timeout_ns = impatient.acknowledge_timeout_ns,
                      .retry_count = impatient.retry_count,
                      .hears_close = true}},
      [](Peer& client) { client.queue_pair->close(); },
      [](Peer& server) {
        EXPECT_TRUE(server.queue_pair->wait_until_peer_closed(patiently_ns(server.host)));
        EXPECT_EQ(server.queue_pair->state(), QueuePairState::ready);
        EXPECT_EQ(server.execute(server.read(0, 0, 8)).status, CompletionStatus::retry_exceeded);
      });
}

TEST_P(ClosingTest, OfTheOwnEndEndsTheWait) {
  run_pairs({.queue_pair = hearing}, [](Peer& client) {
    bool waits = false;
    const FiberId waiting = spawn(client.host, [&] {
      waits = true;
      EXPECT_FALSE(client.queue_pair->wait_until_peer_closed(never_ns));
    });
    EXPECT_TRUE(wait_until(client.host, [&] { return waits; }));
    client.queue_pair->close();
    client.host.join(waiting);
    EXPECT_FALSE(client.queue_pair->wait_until_peer_closed(never_ns));
  });
}

TEST_P(ClosingTest, IsAwaitedByFibersThatCanBeCancelled) {
  run_pairs({.queue_pair = hearing}, [](Peer& client) {
    bool waits = false;
    const FiberId waiting = spawn(client.host, [&] {
      waits = true;
      client.queue_pair->wait_until_peer_closed(never_ns);
      ADD_FAILURE() << "goes on after its end";
    });
    EXPECT_TRUE(wait_until(client.host, [&] { return waits; }));
    client.host.cancel(waiting);
    client.host.join(waiting);
  });
}

// Nobody learns of a crash in this way, also where the backend notices it.
TEST_P(ClosingTest, IsNotWhatACrashLooksLike) {
  if (!capabilities().crashes_hosts) GTEST_SKIP();
  run([](Backend& backend) {
    add_pairs(
        backend, {.queue_pair = hearing, .farewell = false},
        [&backend](Peer& client) {
          client.succeed(client.write(0, 0, 8));
          backend.crash("server");
          const std::uint64_t deadline_ns = client.host.now_ns() + 50 * millisecond_ns;
          EXPECT_FALSE(client.queue_pair->wait_until_peer_closed(deadline_ns));
          EXPECT_GE(client.host.now_ns(), deadline_ns);
        },
        [](Peer& server) { server.host.sleep_until(never_ns); });
  });
}

// The news of the close and of the end of the host may arrive together.
TEST_P(ClosingTest, IsHeardOfHostsThatEndAtOnce) {
  constexpr std::uint16_t service = 901;
  constexpr int clients = 4;
  run([](Backend& backend) {
    backend.add_host({.name = "server", .role = Role::server}, [](Host& host) {
      Site site(host);
      const auto listener = require(site.device.listen(service));
      std::vector<Link> links;
      for (int i = 0; i < clients; ++i) links.push_back(accept_link(site, *listener, hearing));
      for (const Link& link : links) {
        EXPECT_TRUE(link.queue_pair->wait_until_peer_closed(patiently_ns(host)));
        EXPECT_EQ(link.queue_pair->state(), QueuePairState::ready);
      }
    });
    for (int i = 0; i < clients; ++i) {
      backend.add_host({.name = "client_" + std::to_string(i)}, [](Host& host) {
        Site site(host);
        connect_link(site, {"server", service}, hearing);
      });
    }
  });
}

// As a server does that has moved: its clients connect again instead of waiting for a time-out.
TEST_P(ClosingTest, TellsAClientToConnectAgain) {
  constexpr std::uint16_t service = 900;
  run([](Backend& backend) {
    backend.add_host({.name = "server", .role = Role::server}, [](Host& host) {
      Site site(host);
      const auto listener = require(site.device.listen(service));
      { const Link first = accept_link(site, *listener, hearing); }
      const Link second = accept_link(site, *listener, hearing);
      EXPECT_TRUE(second.queue_pair->wait_until_peer_closed(patiently_ns(host)));
    });
    backend.add_host({.name = "client"}, [](Host& host) {
      Site site(host);
      const Link first = connect_link(site, {"server", service}, hearing);
      EXPECT_TRUE(first.queue_pair->wait_until_peer_closed(patiently_ns(host)));
      const Link second = connect_link(site, {"server", service}, hearing);
    });
  });
}

}  // namespace
}  // namespace falafel::conformance
