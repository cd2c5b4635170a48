// Requests in doubt: the possible outcomes of requests in flight when a connection fails. A fence
// ends the doubt.
#include <algorithm>
#include <cstdint>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(DoubtTest);

// After this, requests of the other side have no effect.
void fence(Peer& peer) {
  const Memory spare = peer.site->make_memory(8);
  peer.queue_pair->move_to_error();
  peer.post_receive(spare.local(), 8);
  EXPECT_EQ(peer.next_received().status, CompletionStatus::flushed);
}

// Posts the chain, closes the connection at a random moment, and returns how many requests
// succeeded.
std::uint64_t post_and_give_up(Peer& client, const std::vector<WorkRequest>& chain) {
  client.post(chain);
  sleep(client.host, client.host.random(2 * microsecond_ns));
  client.queue_pair->move_to_error();
  std::uint64_t successes = 0;
  for (std::uint64_t i = 0; i < chain.size(); ++i) {
    const CompletionStatus status = client.next_completion().status;
    EXPECT_TRUE(status == CompletionStatus::flushed || successes == i) << to_string(status);
    if (status == CompletionStatus::success) ++successes;
  }
  return successes;
}

constexpr std::uint64_t chain_length = 8;

TEST_P(DoubtTest, WhatIsAppliedIsTheBeginningOfTheChain) {
  run_pairs(
      {},
      [](Peer& client) {
        std::vector<WorkRequest> chain;
        for (std::uint64_t offset = 0; offset < chain_length * word_bytes; offset += word_bytes) {
          client.block().store(offset, 1);
          chain.push_back(client.write(offset, offset, word_bytes));
        }
        client.channel.tell(post_and_give_up(client, chain));
      },
      [](Peer& server) {
        const std::uint64_t successes = server.channel.hear();
        fence(server);
        std::uint64_t applied = 0;
        while (applied < chain_length && server.block().load(applied * word_bytes) == 1) ++applied;
        EXPECT_GE(applied, successes);
        for (std::uint64_t i = applied; i < chain_length; ++i) {
          EXPECT_EQ(server.block().load(i * word_bytes), 0U) << i << " without " << applied;
        }
      });
}

TEST_P(DoubtTest, AtomicsAreAppliedOnceOrNotAtAll) {
  run_pairs(
      {},
      [](Peer& client) {
        const std::vector<WorkRequest> chain(chain_length, client.fetch_and_add(0, 0, 1));
        client.channel.tell(post_and_give_up(client, chain));
      },
      [](Peer& server) {
        const std::uint64_t successes = server.channel.hear();
        fence(server);
        EXPECT_GE(server.block().load(0), successes);
        EXPECT_LE(server.block().load(0), chain_length);
      });
}

TEST_P(DoubtTest, MessagesArriveOnceOrNotAtAll) {
  constexpr std::uint64_t receive_count = 2 * chain_length;
  run_pairs(
      {},
      [](Peer& client) {
        const std::vector<WorkRequest> chain(chain_length, client.send(0, 8));
        client.channel.hear();
        client.channel.tell(post_and_give_up(client, chain));
      },
      [](Peer& server) {
        for (std::uint64_t i = 0; i < receive_count; ++i) {
          server.post_receive(server.memory->local(), 8);
        }
        server.channel.tell();
        const std::uint64_t successes = server.channel.hear();
        server.queue_pair->move_to_error();
        std::uint64_t received = 0;
        for (std::uint64_t i = 0; i < receive_count; ++i) {
          if (server.next_received().status == CompletionStatus::success) ++received;
        }
        EXPECT_GE(received, successes);
        EXPECT_LE(received, chain_length);
      });
}

// -------------------------------------------------------------------------------------------------
// Transfers of several packets

constexpr std::uint32_t packet_count = 4;
const PairOptions large_memory{.memory_bytes = 65'536};

WorkRequest write_of_packets(Peer& client) {
  const std::uint32_t length_bytes = packet_count * client.site->device.attributes().mtu_bytes;
  client.block().write(0, pattern(length_bytes));
  return client.write(0, 0, length_bytes);
}

// The memory of each packet holds all of its data or none, but no mixture.
void expect_whole_packets(Peer& server) {
  const std::uint32_t mtu_bytes = server.site->device.attributes().mtu_bytes;
  const std::vector<std::byte> sent = pattern(packet_count * mtu_bytes);
  for (std::uint32_t packet = 0; packet < packet_count; ++packet) {
    const std::uint64_t offset = packet * mtu_bytes;
    const auto landed = read_bytes(server.block(), offset, mtu_bytes);
    const std::span whole(sent.data() + offset, mtu_bytes);
    const bool all = std::equal(landed.begin(), landed.end(), whole.begin());
    EXPECT_TRUE(all || landed == std::vector<std::byte>(mtu_bytes)) << "packet " << packet;
  }
}

TEST_P(DoubtTest, WriteTearsAtPackets) {
  run_pairs(
      large_memory,
      [](Peer& client) {
        const std::uint64_t successes = post_and_give_up(client, {write_of_packets(client)});
        client.channel.tell(successes);
      },
      [](Peer& server) {
        const bool succeeded = server.channel.hear() == 1;
        fence(server);
        expect_whole_packets(server);
        const std::uint32_t length_bytes =
            packet_count * server.site->device.attributes().mtu_bytes;
        const bool is_whole = read_bytes(server.block(), 0, length_bytes) == pattern(length_bytes);
        EXPECT_TRUE(is_whole || !succeeded);
      });
}

TEST_P(DoubtTest, RevocationTearsAtPackets) {
  run_pairs(
      large_memory,
      [](Peer& client) {
        const WorkRequest write = write_of_packets(client);
        client.channel.tell();
        const CompletionStatus status = client.execute(write).status;
        EXPECT_TRUE(status == CompletionStatus::success ||
                    status == CompletionStatus::remote_access_error)
            << to_string(status);
        client.channel.hear();
        EXPECT_NE(client.execute(client.read(0, 0, 8)).status, CompletionStatus::success);
        client.channel.tell();
      },
      [](Peer& server) {
        server.channel.hear();
        sleep(server.host, server.host.random(3 * microsecond_ns));
        server.memory->region->revoke();
        server.channel.tell();
        server.channel.hear();
        fence(server);
        expect_whole_packets(server);
      });
}

// -------------------------------------------------------------------------------------------------
// Local buffers, once the flush is known

TEST_P(DoubtTest, FlushedReadLeavesItsBufferAlone) {
  run_pairs(
      {},
      [](Peer& client) {
        client.channel.hear();
        post_and_give_up(client, {client.read(0, 0, 2000)});
        client.block().write(0, std::vector<std::byte>(2000));
        sleep(client.host, millisecond_ns);
        EXPECT_EQ(read_bytes(client.block(), 0, 2000), std::vector<std::byte>(2000));
      },
      [](Peer& server) {
        server.block().write(0, pattern(2000));
        server.channel.tell();
      });
}

TEST_P(DoubtTest, FlushedWriteNoLongerNeedsItsBuffer) {
  run_pairs(
      {},
      [](Peer& client) {
        client.block().write(0, pattern(2000));
        post_and_give_up(client, {client.write(0, 0, 2000)});
        client.block().write(0, pattern(2000, 1));
        client.channel.tell();
      },
      [](Peer& server) {
        server.channel.hear();
        fence(server);
        const auto sent = pattern(2000);
        const auto landed = read_bytes(server.block(), 0, 2000);
        for (std::size_t i = 0; i < sent.size(); ++i) {
          ASSERT_TRUE(landed[i] == sent[i] || landed[i] == std::byte{0}) << "byte " << i;
        }
      });
}

}  // namespace
}  // namespace falafel::conformance
