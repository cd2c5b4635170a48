// SEND and RECV on a reliable connection.
#include <cstdint>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(MessagesTest);

TEST_P(MessagesTest, ArrivesInTheBufferWithItsLength) {
  run_pairs(
      {},
      [](Peer& client) {
        client.block().write(3, pattern(100));
        client.channel.hear();
        client.succeed(client.send(3, 100));
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(65), 1000, 77);
        server.channel.tell();
        const WorkCompletion completion = server.next_received();
        EXPECT_EQ(completion.id, 77U);
        EXPECT_EQ(completion.status, CompletionStatus::success);
        EXPECT_EQ(completion.opcode, Opcode::receive);
        EXPECT_EQ(completion.length_bytes, 100U);
        EXPECT_EQ(completion.queue_pair_number, server.queue_pair->number());
        EXPECT_EQ(read_bytes(server.block(), 65, 100), pattern(100));
        EXPECT_EQ(read_bytes(server.block(), 165, 100), std::vector<std::byte>(100));
      });
}

TEST_P(MessagesTest, EmptyMessageTakesAReceiveRequest) {
  run_pairs(
      {},
      [](Peer& client) {
        client.succeed(client.send(0, 0));
        client.succeed(client.send(0, 8));
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(), 8, 1);
        server.post_receive(server.memory->local(8), 8, 2);
        EXPECT_EQ(server.next_received().length_bytes, 0U);
        EXPECT_EQ(server.next_received().length_bytes, 8U);
      });
}

constexpr std::uint32_t long_message_bytes = 10'001;

TEST_P(MessagesTest, LongMessageIsWhole) {
  run_pairs(
      {.memory_bytes = 16'384},
      [](Peer& client) {
        client.block().write(1, pattern(long_message_bytes));
        client.succeed(client.send(1, long_message_bytes));
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(7), long_message_bytes);
        EXPECT_EQ(server.next_received().length_bytes, long_message_bytes);
        EXPECT_EQ(read_bytes(server.block(), 7, long_message_bytes), pattern(long_message_bytes));
      });
}

TEST_P(MessagesTest, ArriveInOrderInTheOrderOfTheBuffers) {
  constexpr std::uint32_t count = 8;
  run_pairs(
      {},
      [](Peer& client) {
        std::vector<WorkRequest> chain;
        for (std::uint64_t i = 0; i < count; ++i) {
          client.block().store(i * word_bytes, 1000 + i);
          chain.push_back(client.send(i * word_bytes, word_bytes));
        }
        client.post(chain);
        for (std::uint32_t i = 0; i < count; ++i) client.next_completion();
      },
      [](Peer& server) {
        for (std::uint64_t i = 0; i < count; ++i) {
          server.post_receive(server.memory->local(i * word_bytes), word_bytes, i);
        }
        for (std::uint64_t i = 0; i < count; ++i) {
          EXPECT_EQ(server.next_received().id, i);
          EXPECT_EQ(server.block().load(i * word_bytes), 1000 + i);
        }
      });
}

TEST_P(MessagesTest, GoBothWaysAtOnce) {
  const PeerBody body = [](Peer& peer) {
    peer.post_receive(peer.memory->local(64), word_bytes);
    peer.block().store(0, 5);
    peer.succeed(peer.send(0, word_bytes));
    EXPECT_EQ(peer.next_received().status, CompletionStatus::success);
    EXPECT_EQ(peer.block().load(64), 5U);
  };
  run_pairs({}, body, body);
}

// After it has received the message, the processor may read what was written earlier.
TEST_P(MessagesTest, TellOfEarlierWrites) {
  run_pairs(
      {},
      [](Peer& client) {
        client.block().write(0, pattern(2000));
        client.channel.hear();
        std::vector<WorkRequest> chain{client.write(0, 1000, 1000), client.write(1000, 2000, 1000),
                                       client.send(0, 8)};
        client.post(chain);
        for (std::size_t i = 0; i < chain.size(); ++i) client.next_completion();
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(4096), 8);
        server.channel.tell();
        EXPECT_EQ(server.next_received().status, CompletionStatus::success);
        EXPECT_EQ(read_bytes(server.block(), 1000, 2000), pattern(2000));
      });
}

// -------------------------------------------------------------------------------------------------
// The receiver is not ready

TEST_P(MessagesTest, WaitsForAReceiveRequest) {
  run_pairs(
      {},
      [](Peer& client) {
        client.block().store(0, 11);
        client.post({client.send(0, word_bytes)});
        EXPECT_FALSE(client.send_completions->wait(client.host.now_ns() + millisecond_ns));
        client.channel.tell();
        EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
      },
      [](Peer& server) {
        server.channel.hear();
        server.post_receive(server.memory->local(), word_bytes);
        EXPECT_EQ(server.next_received().status, CompletionStatus::success);
        EXPECT_EQ(server.block().load(0), 11U);
      });
}

TEST_P(MessagesTest, WaitsNoLongerThanAsked) {
  run_pairs({.queue_pair = {.receiver_not_ready_retry_count = 1}}, [](Peer& client) {
    client.post({client.send(0, 8), client.read(0, 0, 8)});
    EXPECT_EQ(client.next_completion().status, CompletionStatus::receiver_not_ready_exceeded);
    EXPECT_EQ(client.next_completion().status, CompletionStatus::flushed);
    EXPECT_EQ(client.queue_pair->state(), QueuePairState::error);
  });
}

TEST_P(MessagesTest, LimitedPatienceIsEnoughForAReadyReceiver) {
  run_pairs(
      {.queue_pair = {.receiver_not_ready_retry_count = 0}},
      [](Peer& client) {
        client.channel.hear();
        client.succeed(client.send(0, 8));
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(), 8);
        server.channel.tell();
        EXPECT_EQ(server.next_received().status, CompletionStatus::success);
      });
}

// -------------------------------------------------------------------------------------------------
// The buffer is too small

TEST_P(MessagesTest, TooLongForItsBufferBreaksBothSides) {
  run_pairs(
      {},
      [](Peer& client) {
        client.block().write(0, pattern(100));
        client.post({client.send(0, 100), client.send(0, 8)});
        EXPECT_EQ(client.next_completion().status, CompletionStatus::remote_invalid_request_error);
        EXPECT_EQ(client.next_completion().status, CompletionStatus::flushed);
        EXPECT_EQ(client.queue_pair->state(), QueuePairState::error);
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(0), 99, 1);
        server.post_receive(server.memory->local(200), 200, 2);
        WorkCompletion completion = server.next_received();
        EXPECT_EQ(completion.id, 1U);
        EXPECT_EQ(completion.status, CompletionStatus::local_length_error);
        completion = server.next_received();
        EXPECT_EQ(completion.id, 2U);
        EXPECT_EQ(completion.status, CompletionStatus::flushed);
        EXPECT_EQ(server.queue_pair->state(), QueuePairState::error);
        EXPECT_EQ(read_bytes(server.block(), 99, 101), std::vector<std::byte>(101));
      });
}

}  // namespace
}  // namespace falafel::conformance
