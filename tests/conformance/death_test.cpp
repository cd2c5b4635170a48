// Crashing hosts and broken connections, from the survivors' point of view.
#include <cstdint>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(DeathTest);

// Pauses for a random time between two rounds of endless work, so that others get a turn.
void rest(Host& host) { sleep(host, host.random(microsecond_ns)); }

TEST_P(DeathTest, OfTheResponderIsSilence) {
  if (!capabilities().crashes_hosts || capabilities().notices_death) GTEST_SKIP();
  run([](Backend& backend) {
    add_pairs(
        backend, {.queue_pair = impatient, .farewell = false},
        [&backend](Peer& client) {
          client.succeed(client.write(0, 0, 8));
          backend.crash("server");
          const std::uint64_t start_ns = client.host.now_ns();
          client.post({client.write(0, 0, 8), client.read(0, 0, 8), client.fetch_and_add(0, 0, 1)});
          EXPECT_EQ(client.next_completion().status, CompletionStatus::retry_exceeded);
          // All but a thousandth, because the clock of a host may run slower than its device's.
          constexpr std::uint64_t timeouts_ns = 2 * impatient.acknowledge_timeout_ns;
          EXPECT_GE(client.host.now_ns() - start_ns, timeouts_ns - timeouts_ns / 1'000);
          EXPECT_EQ(client.next_completion().status, CompletionStatus::flushed);
          EXPECT_EQ(client.next_completion().status, CompletionStatus::flushed);
          EXPECT_EQ(client.queue_pair->state(), QueuePairState::error);
          EXPECT_EQ(client.execute(client.read(0, 0, 8)).status, CompletionStatus::flushed);
        },
        [](Peer& server) { server.host.sleep_until(never_ns); });
  });
}

// Until the failure is detected, requests may succeed in memory that nobody owns any more.
TEST_P(DeathTest, OfTheResponderMayBeNoticed) {
  if (!capabilities().crashes_hosts || !capabilities().notices_death) GTEST_SKIP();
  run([](Backend& backend) {
    add_pairs(
        backend, {.farewell = false},
        [&backend](Peer& client) {
          client.post_receive(client.memory->local(64), 8);
          client.succeed(client.write(0, 0, 8));
          backend.crash("server");
          const auto is_in_error = [&] {
            return client.queue_pair->state() == QueuePairState::error;
          };
          EXPECT_TRUE(wait_until(client.host, is_in_error));
          EXPECT_EQ(client.next_received().status, CompletionStatus::flushed);
          EXPECT_EQ(client.execute(client.read(0, 0, 8)).status, CompletionStatus::flushed);
        },
        [](Peer& server) { server.host.sleep_until(never_ns); });
  });
}

TEST_P(DeathTest, OfTheResponderInTheMiddleOfATransferIsNoticed) {
  if (!capabilities().crashes_hosts) GTEST_SKIP();
  const bool may_be_flushed = capabilities().notices_death;
  run([may_be_flushed](Backend& backend) {
    add_pairs(
        backend, {.queue_pair = impatient, .farewell = false},
        [may_be_flushed](Peer& client) {
          CompletionStatus status = CompletionStatus::success;
          while (status == CompletionStatus::success) {
            status = client.execute(client.read(0, 0, 4096)).status;
            rest(client.host);
          }
          EXPECT_TRUE(status == CompletionStatus::retry_exceeded ||
                      (may_be_flushed && status == CompletionStatus::flushed))
              << to_string(status);
        },
        [&backend](Peer& server) {
          sleep(server.host, server.host.random(20 * microsecond_ns));
          backend.crash("server");
          server.host.sleep_until(never_ns);
        });
  });
}

// The first client crashes at a random moment of its WRITEs; the second one continues and sees what
// landed.
TEST_P(DeathTest, OfAClientLeavesTheOthersAlone) {
  if (!capabilities().crashes_hosts) GTEST_SKIP();
  run([](Backend& backend) {
    const PeerBody client_body = [&backend](Peer& client) {
      client.succeed(client.fetch_and_add(0, 0, 1));
      if (client.index == 0) {
        client.channel.tell();
        client.block().write(0, pattern(2000));
        client.post({client.write(0, 1000, 2000)});
        sleep(client.host, client.host.random(2 * microsecond_ns));
        backend.crash("client_0");
        client.host.sleep_until(never_ns);
      }
      for (int i = 0; i < 5; ++i) client.succeed(client.fetch_and_add(0, 0, 1));
      client.channel.tell();
    };
    const PeerBody server_body = [](Peer& server) {
      server.channel.hear();
      if (server.index == 1) return;
      sleep(server.host, 10 * millisecond_ns);
      server.queue_pair->move_to_error();
      server.post_receive(server.memory->local(4096), 8);
      EXPECT_EQ(server.next_received().status, CompletionStatus::flushed);
    };
    const auto at_end = [](Site&, Memory& memory) {
      EXPECT_EQ(memory.block->load(0), 7U);
      const auto sent = pattern(2000);
      const auto landed = read_bytes(*memory.block, 1000, 2000);
      for (std::size_t i = 0; i < sent.size(); ++i) {
        ASSERT_TRUE(landed[i] == sent[i] || landed[i] == std::byte{0}) << "byte " << i;
      }
    };
    add_pairs(backend, {.client_count = 2, .farewell = false}, client_body, server_body, at_end);
  });
}

TEST_P(DeathTest, OfAClientUndoesNothing) {
  if (!capabilities().crashes_hosts) GTEST_SKIP();
  run([](Backend& backend) {
    add_pairs(
        backend, {.farewell = false},
        [](Peer& client) {
          client.block().store(0, 77);
          client.succeed(client.write(0, 64, 8));
          EXPECT_EQ(client.fetch_word(64), 77U);
          client.channel.tell();
          client.host.sleep_until(never_ns);
        },
        [&backend](Peer& server) {
          server.channel.hear();
          backend.crash("client_0");
          sleep(server.host, millisecond_ns);
          EXPECT_EQ(server.block().load(64), 77U);
        });
  });
}

// A server reclaims the region of a crashed client in this way: after the fence, none of its writes
// land.
TEST_P(DeathTest, OfAClientEndsWithTheFence) {
  if (!capabilities().crashes_hosts) GTEST_SKIP();
  run([](Backend& backend) {
    add_pairs(
        backend, {.farewell = false},
        [](Peer& client) {
          client.block().write(0, pattern(2000));
          while (true) {
            client.succeed(client.write(0, 0, 2000));
            rest(client.host);
          }
        },
        [&backend](Peer& server) {
          sleep(server.host, server.host.random(20 * microsecond_ns));
          backend.crash("client_0");
          server.queue_pair->move_to_error();
          server.post_receive(server.memory->local(4096), 8);
          EXPECT_EQ(server.next_received().status, CompletionStatus::flushed);
          server.block().write(0, std::vector<std::byte>(2000));
          sleep(server.host, 10 * millisecond_ns);
          EXPECT_EQ(read_bytes(server.block(), 0, 2000), std::vector<std::byte>(2000));
        });
  });
}

TEST_P(DeathTest, OfAHostEndsItsProgram) {
  if (!capabilities().crashes_hosts) GTEST_SKIP();
  run([](Backend& backend) {
    add_pairs(backend, {.farewell = false}, [&backend](Peer& client) {
      backend.crash("client_0");
      client.host.sleep_until(client.host.now_ns() + millisecond_ns);
      ADD_FAILURE() << "a dead host goes on";
    });
  });
}

TEST_P(DeathTest, BrokenConnectionIsInDoubtAndFlushed) {
  if (!capabilities().breaks_connections) GTEST_SKIP();
  run([](Backend& backend) {
    add_pairs(
        backend, {.queue_pair = impatient, .farewell = false},
        [](Peer& client) {
          CompletionStatus status = CompletionStatus::success;
          while (status == CompletionStatus::success) {
            client.post({client.write(0, 0, 1000), client.fetch_and_add(2000, 2000, 1)});
            status = client.next_completion().status;
            const CompletionStatus later = client.next_completion().status;
            EXPECT_TRUE(status == CompletionStatus::success || later == CompletionStatus::flushed);
            if (status == CompletionStatus::success) status = later;
            rest(client.host);
          }
          EXPECT_TRUE(status == CompletionStatus::retry_exceeded ||
                      status == CompletionStatus::flushed)
              << to_string(status);
          EXPECT_EQ(client.queue_pair->state(), QueuePairState::error);
        },
        [&backend](Peer& server) {
          sleep(server.host, server.host.random(20 * microsecond_ns));
          backend.break_connection(server.host.random(2) == 0 ? "client_0" : "server");
          // the client detects the failure before this side ends
          sleep(server.host, 10 * impatient.acknowledge_timeout_ns);
        });
  });
}

}  // namespace
}  // namespace falafel::conformance
