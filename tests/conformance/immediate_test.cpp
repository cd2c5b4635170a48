// WRITE and SEND with immediate: a number that arrives with the request and consumes a receive
// request of the responder.
#include <cstdint>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(ImmediateTest);

constexpr std::uint32_t some_number = 0xfedc'ba98;

WorkRequest with_immediate(WorkRequest request, std::uint32_t immediate = some_number) {
  request.opcode =
      request.opcode == Opcode::send ? Opcode::send_with_immediate : Opcode::write_with_immediate;
  request.immediate = immediate;
  return request;
}

TEST_P(ImmediateTest, WriteCompletesAReceiveRequestAndLeavesItsBuffer) {
  run_pairs(
      {},
      [](Peer& client) {
        client.block().write(8, pattern(1000));
        client.channel.hear();
        const WorkCompletion completion =
            client.execute(with_immediate(client.write(8, 2000, 1000)));
        EXPECT_EQ(completion.status, CompletionStatus::success);
        EXPECT_EQ(completion.opcode, Opcode::write_with_immediate);
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(0), 64, 77);
        server.channel.tell();
        const WorkCompletion completion = server.next_received();
        EXPECT_EQ(completion.id, 77U);
        EXPECT_EQ(completion.status, CompletionStatus::success);
        EXPECT_EQ(completion.opcode, Opcode::receive_of_write);
        EXPECT_EQ(completion.immediate, some_number);
        EXPECT_EQ(completion.length_bytes, 1000U);
        EXPECT_EQ(completion.queue_pair_number, server.queue_pair->number());
        EXPECT_EQ(read_bytes(server.block(), 2000, 1000), pattern(1000));
        EXPECT_EQ(read_bytes(server.block(), 0, 64), std::vector<std::byte>(64));
      });
}

TEST_P(ImmediateTest, MessageCarriesItBesideItsData) {
  run_pairs(
      {},
      [](Peer& client) {
        client.block().write(0, pattern(100));
        client.succeed(with_immediate(client.send(0, 100)));
        client.succeed(client.send(0, 100));
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(1000), 100);
        server.post_receive(server.memory->local(2000), 100);
        WorkCompletion completion = server.next_received();
        EXPECT_EQ(completion.opcode, Opcode::receive);
        EXPECT_EQ(completion.immediate, some_number);
        EXPECT_EQ(completion.length_bytes, 100U);
        EXPECT_EQ(read_bytes(server.block(), 1000, 100), pattern(100));
        completion = server.next_received();
        EXPECT_EQ(completion.opcode, Opcode::receive);
        EXPECT_EQ(completion.immediate, std::nullopt) << "a plain SEND has none";
      });
}

// Without data, neither the request nor the receive request needs memory.
TEST_P(ImmediateTest, ComesWithoutData) {
  run_pairs(
      {},
      [](Peer& client) {
        client.succeed(with_immediate(client.write(0, 0, 0), 0));
        client.succeed(with_immediate(client.send(0, 0), 1));
      },
      [](Peer& server) {
        server.post_receive({}, 0, 1);
        server.post_receive({}, 0, 2);
        const WorkCompletion of_write = server.next_received();
        EXPECT_EQ(of_write.opcode, Opcode::receive_of_write);
        EXPECT_EQ(of_write.id, 1U);
        EXPECT_EQ(of_write.length_bytes, 0U);
        EXPECT_EQ(of_write.immediate, 0U);
        const WorkCompletion of_send = server.next_received();
        EXPECT_EQ(of_send.opcode, Opcode::receive);
        EXPECT_EQ(of_send.id, 2U);
        EXPECT_EQ(of_send.immediate, 1U);
      });
}

TEST_P(ImmediateTest, NotifiesOfEarlierWritesAndItsOwn) {
  run_pairs(
      {.memory_bytes = 32'768},
      [](Peer& client) {
        client.block().write(0, pattern(10'000));
        client.channel.hear();
        const std::vector<WorkRequest> chain{client.write(0, 10'000, 5'000),
                                             with_immediate(client.write(5'000, 15'000, 5'000))};
        client.post(chain);
        for (std::size_t i = 0; i < chain.size(); ++i) {
          EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
        }
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(), 8);
        server.channel.tell();
        EXPECT_EQ(server.next_received().length_bytes, 5'000U);
        EXPECT_EQ(read_bytes(server.block(), 10'000, 10'000), pattern(10'000));
      });
}

TEST_P(ImmediateTest, ArrivesInOrderWithMessages) {
  constexpr std::uint32_t count = 9;
  run_pairs(
      {},
      [](Peer& client) {
        std::vector<WorkRequest> chain;
        for (std::uint32_t i = 0; i < count; ++i) {
          const WorkRequest request = i % 3 == 2 ? client.send(0, 8) : client.write(0, 8, 8);
          chain.push_back(with_immediate(request, i));
        }
        client.post(chain);
        for (std::uint32_t i = 0; i < count; ++i) client.next_completion();
      },
      [](Peer& server) {
        for (std::uint32_t i = 0; i < count; ++i) {
          server.post_receive(server.memory->local(1000 + 8 * i), 8, i);
        }
        for (std::uint32_t i = 0; i < count; ++i) {
          const WorkCompletion completion = server.next_received();
          EXPECT_EQ(completion.id, i);
          EXPECT_EQ(completion.immediate, i);
          EXPECT_EQ(completion.opcode, i % 3 == 2 ? Opcode::receive : Opcode::receive_of_write);
        }
      });
}

TEST_P(ImmediateTest, KeepsItsPlaceUntilItsCompletionIsPolled) {
  run_pairs(
      {.queue_pair = {.max_receive_requests = 1}},
      [](Peer& client) {
        client.succeed(with_immediate(client.write(0, 8, 8)));
        client.channel.tell();
      },
      [](Peer& server) {
        const ReceiveRequest receive{};
        const auto error_of_receiving = [&] {
          return error_of(server.queue_pair->post_receive({&receive, 1}));
        };
        EXPECT_EQ(error_of_receiving(), std::nullopt);
        server.channel.hear();
        EXPECT_EQ(error_of_receiving(), ErrorCode::queue_full);
        server.next_received();
        EXPECT_EQ(error_of_receiving(), std::nullopt);
      });
}

TEST_P(ImmediateTest, DataMayBeInlined) {
  if (!capabilities().inlines_data) GTEST_SKIP();
  run_pairs(
      {.queue_pair = {.max_inline_bytes = 16}},
      [](Peer& client) {
        client.block().store(0, 7);
        WorkRequest request = with_immediate(client.write(0, 64, 8));
        request.inlined = true;
        client.post({request});
        client.block().store(0, 8);
        EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
      },
      [](Peer& server) {
        server.post_receive({}, 0);
        EXPECT_EQ(server.next_received().immediate, some_number);
        EXPECT_EQ(server.block().load(64), 7U);
      });
}

// -------------------------------------------------------------------------------------------------
// The receiver is not ready

TEST_P(ImmediateTest, WaitsForAReceiveRequest) {
  run_pairs(
      {},
      [](Peer& client) {
        client.block().store(0, 11);
        client.post({with_immediate(client.write(0, 64, word_bytes))});
        EXPECT_FALSE(client.send_completions->wait(client.host.now_ns() + millisecond_ns));
        client.channel.tell();
        EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
      },
      [](Peer& server) {
        server.channel.hear();
        server.post_receive({}, 0);
        EXPECT_EQ(server.next_received().immediate, some_number);
        EXPECT_EQ(server.block().load(64), 11U);
      });
}

TEST_P(ImmediateTest, WaitsNoLongerThanAsked) {
  run_pairs({.queue_pair = {.receiver_not_ready_retry_count = 1}}, [](Peer& client) {
    client.post({with_immediate(client.write(0, 0, 5000)), client.read(0, 0, 8)});
    EXPECT_EQ(client.next_completion().status, CompletionStatus::receiver_not_ready_exceeded);
    EXPECT_EQ(client.next_completion().status, CompletionStatus::flushed);
    EXPECT_EQ(client.queue_pair->state(), QueuePairState::error);
  });
}

TEST_P(ImmediateTest, LimitedPatienceIsEnoughForAReadyReceiver) {
  run_pairs(
      {.queue_pair = {.receiver_not_ready_retry_count = 0}},
      [](Peer& client) {
        client.channel.hear();
        client.succeed(with_immediate(client.write(0, 0, 5000)));
      },
      [](Peer& server) {
        server.post_receive({}, 0);
        server.channel.tell();
        EXPECT_EQ(server.next_received().status, CompletionStatus::success);
      });
}

// -------------------------------------------------------------------------------------------------
// Failure and fences

// The receive request fails or is flushed, whether or not the refused WRITE consumed it.
TEST_P(ImmediateTest, RefusedWriteNotifiesNobody) {
  run_pairs(
      {},
      [](Peer& client) {
        client.channel.hear();
        client.remote_key ^= 0x5a5a5a5a;
        const WorkCompletion completion = client.execute(with_immediate(client.write(0, 0, 8)));
        EXPECT_EQ(completion.status, CompletionStatus::remote_access_error);
        EXPECT_EQ(client.queue_pair->state(), QueuePairState::error);
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(), 8, 5);
        server.channel.tell();
        const WorkCompletion completion = server.next_received();
        EXPECT_EQ(completion.id, 5U);
        EXPECT_TRUE(completion.status == CompletionStatus::remote_access_error ||
                    completion.status == CompletionStatus::flushed)
            << to_string(completion.status);
      });
}

// The receive request completes once, with success or as flushed, and nothing lands afterwards.
TEST_P(ImmediateTest, FenceSettlesTheReceiveRequest) {
  run_pairs(
      {.queue_pair = impatient},
      [](Peer& client) {
        client.block().write(0, pattern(2000));
        client.post({with_immediate(client.write(0, 2000, 2000))});
        client.next_completion();
      },
      [](Peer& server) {
        server.post_receive({}, 0, 1);
        server.post_receive({}, 0, 2);
        sleep(server.host, server.host.random(20 * microsecond_ns));
        server.queue_pair->move_to_error();
        const WorkCompletion first = server.next_received();
        EXPECT_EQ(first.id, 1U);
        const WorkCompletion second = server.next_received();
        EXPECT_EQ(second.id, 2U);
        EXPECT_EQ(second.status, CompletionStatus::flushed);
        const auto at_fence = read_bytes(server.block(), 2000, 2000);
        EXPECT_TRUE(first.status == CompletionStatus::flushed || at_fence == pattern(2000));
        sleep(server.host, millisecond_ns);
        EXPECT_EQ(read_bytes(server.block(), 2000, 2000), at_fence);
        EXPECT_FALSE(server.receive_completions->wait(server.host.now_ns() + microsecond_ns));
      });
}

// -------------------------------------------------------------------------------------------------
// UC

const PairOptions over_uc{.queue_pair = {.transport = Transport::unreliable_connection}};

TEST_P(ImmediateTest, ArrivesOverAnUnreliableConnection) {
  if (!capabilities().unreliable_connection) GTEST_SKIP();
  run_pairs(
      over_uc,
      [](Peer& client) {
        client.block().write(0, pattern(500));
        client.channel.hear();
        for (int i = 0; i < 10; ++i) {
          client.succeed(with_immediate(client.write(0, 1000, 500)));
          client.succeed(with_immediate(client.send(0, 500)));
        }
      },
      [](Peer& server) {
        for (std::uint64_t i = 0; i < 2; ++i) {
          server.post_receive(server.memory->local(2000 + 500 * i), 500, i);
        }
        server.channel.tell();
        for (std::uint64_t i = 0; i < 2; ++i) {
          const WorkCompletion completion = server.next_received();
          EXPECT_EQ(completion.status, CompletionStatus::success);
          EXPECT_EQ(completion.immediate, some_number);
          EXPECT_EQ(completion.length_bytes, 500U);
          const bool is_write = completion.opcode == Opcode::receive_of_write;
          const std::uint64_t at = is_write ? 1000 : 2000 + 500 * i;
          EXPECT_EQ(read_bytes(server.block(), at, 500), pattern(500));
        }
      });
}

// Nobody is told: the sender's requests succeed.
TEST_P(ImmediateTest, IsLostWithoutAReceiveRequestOnAnUnreliableConnection) {
  if (!capabilities().unreliable_connection) GTEST_SKIP();
  run_pairs(
      over_uc,
      [](Peer& client) {
        client.succeed(with_immediate(client.write(0, 0, 8)));
        sleep(client.host, 10 * millisecond_ns);
        EXPECT_EQ(client.queue_pair->state(), QueuePairState::ready);
        client.channel.tell();
      },
      [](Peer& server) {
        server.channel.hear();
        server.post_receive({}, 0);
        EXPECT_FALSE(server.receive_completions->wait(server.host.now_ns() + millisecond_ns));
      });
}

}  // namespace
}  // namespace falafel::conformance
