// Message streams: their contents, their order, and how they end.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

class MessageStreamsTest : public ConformanceTest {
 protected:
  void SetUp() override {
    if (!capabilities().message_stream) GTEST_SKIP();
  }
};
INSTANTIATE_TEST_SUITE_P(Backend, MessageStreamsTest, testing::ValuesIn(backend_variants()),
                         variant_name);
FALAFEL_CONFORMANCE_SUITE_WITHOUT_RC(WithoutMessageStreamsTest);

constexpr QueuePairOptions stream{.transport = Transport::message_stream};
// Gives up on a silent peer after 40 ms.
constexpr QueuePairOptions impatient_stream{.transport = Transport::message_stream,
                                            .acknowledge_timeout_ns = 20 * millisecond_ns,
                                            .retry_count = 1};

bool is_in_error(const Peer& peer) { return peer.queue_pair->state() == QueuePairState::error; }

// Sends until a request fails. The silence of a peer lasts 40 ms, so there is a pause after each.
bool learns_of_the_end(Peer& peer) {
  return wait_until(peer.host, [&] {
    if (peer.execute(peer.send(0, 8)).status != CompletionStatus::success) return true;
    sleep(peer.host, peer.host.random(millisecond_ns));
    return false;
  });
}

// Receives messages until the stream ends. All messages are of one word.
std::vector<std::uint64_t> receive_until_the_end(Peer& peer) {
  std::vector<std::uint64_t> words;
  while (true) {
    peer.post_receive(peer.memory->local(64), word_bytes);
    const WorkCompletion completion = peer.next_received();
    if (completion.status != CompletionStatus::success) {
      EXPECT_EQ(completion.status, CompletionStatus::flushed);
      EXPECT_TRUE(is_in_error(peer));
      return words;
    }
    EXPECT_EQ(completion.length_bytes, word_bytes);
    words.push_back(peer.block().load(64));
  }
}

void send_word(Peer& peer, std::uint64_t word) {
  peer.block().store(0, word);
  peer.succeed(peer.send(0, word_bytes));
}

std::vector<std::uint64_t> words_below(std::uint64_t end) {
  std::vector<std::uint64_t> words;
  for (std::uint64_t word = 0; word < end; ++word) words.push_back(word);
  return words;
}

bool is_prefix(const std::vector<std::uint64_t>& received, std::uint64_t sent) {
  return received.size() <= sent && received == words_below(received.size());
}

// -------------------------------------------------------------------------------------------------
// What they carry

TEST_P(WithoutMessageStreamsTest, ConnectingIsRefused) {
  if (capabilities().message_stream) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    const Link link(site, stream);
    const auto connected =
        site.device.connect({host.name(), 1}, link.options, {}, host.now_ns() + millisecond_ns);
    EXPECT_EQ(error_of(connected), ErrorCode::unsupported);
  });
}

TEST_P(MessageStreamsTest, CarryMessagesOnly) {
  run_pairs({.queue_pair = stream}, [](Peer& client) {
    EXPECT_EQ(client.queue_pair->transport(), Transport::message_stream);
    WorkRequest with_immediate = client.send(0, 8);
    with_immediate.opcode = Opcode::send_with_immediate;
    for (const WorkRequest& request :
         {client.read(0, 0, 8), client.write(0, 0, 8), client.fetch_and_add(0, 0, 1),
          client.compare_and_swap(0, 0, 0, 1), with_immediate}) {
      EXPECT_EQ(error_of_posting(client, request), ErrorCode::unsupported);
    }
    WorkRequest fenced = client.send(0, 8);
    fenced.fenced = true;
    EXPECT_EQ(error_of_posting(client, fenced), ErrorCode::invalid_argument);
  });
}

TEST_P(MessageStreamsTest, DoNotHearClosing) {
  run_alone([](Host& host) {
    Site site(host);
    QueuePairOptions with_notice = stream;
    with_notice.hears_close = true;
    const Link link(site, with_notice);
    const auto connected =
        site.device.connect({host.name(), 1}, link.options, {}, host.now_ns() + millisecond_ns);
    EXPECT_EQ(error_of(connected), ErrorCode::invalid_argument);
  });
}

TEST_P(MessageStreamsTest, KeepTheOrderOfMessages) {
  constexpr std::uint32_t messages = 24;
  const auto length_of = [](std::uint32_t message) { return message * 37 % 400; };
  run_pairs(
      {.queue_pair = stream},
      [=](Peer& client) {
        for (std::uint32_t message = 0; message < messages; ++message) {
          const std::uint32_t offset = message % 8 * 400;
          const auto salt = static_cast<std::uint8_t>(message);
          if (message >= 8) {
            EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
          }
          client.block().write(offset, pattern(length_of(message), salt));
          client.post({client.send(offset, length_of(message))});
        }
        for (int left = 0; left < 8; ++left) {
          EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
        }
      },
      [=](Peer& server) {
        for (std::uint32_t buffer = 0; buffer < 4; ++buffer) {
          server.post_receive(server.memory->local(std::uint64_t{buffer} * 400), 400, buffer);
        }
        for (std::uint32_t message = 0; message < messages; ++message) {
          const WorkCompletion completion = server.next_received();
          EXPECT_EQ(completion.status, CompletionStatus::success);
          EXPECT_EQ(completion.opcode, Opcode::receive);
          EXPECT_EQ(completion.id, message % 4);
          EXPECT_EQ(completion.length_bytes, length_of(message));
          const std::uint64_t offset = completion.id * 400;
          EXPECT_EQ(read_bytes(server.block(), offset, length_of(message)),
                    pattern(length_of(message), static_cast<std::uint8_t>(message)));
          server.post_receive(server.memory->local(offset), 400, completion.id);
        }
      });
}

TEST_P(MessageStreamsTest, GoBothWays) {
  const PeerBody exchange = [](Peer& peer) {
    for (std::uint64_t word = 1; word <= 10; ++word) {
      peer.post_receive(peer.memory->local(64), word_bytes);
      send_word(peer, word);
      EXPECT_EQ(peer.next_received().status, CompletionStatus::success);
      EXPECT_EQ(peer.block().load(64), word);
    }
  };
  run_pairs({.queue_pair = stream}, exchange, exchange);
}

// Data that is written to the buffer after the completion is not sent.
TEST_P(MessageStreamsTest, ReleaseTheBufferOnCompletion) {
  run_pairs(
      {.queue_pair = stream},
      [](Peer& client) {
        for (std::uint64_t word = 0; word < 10; ++word) send_word(client, word);
        client.block().store(0, 99);
        client.channel.tell();
      },
      [](Peer& server) {
        sleep(server.host, server.host.random(5 * microsecond_ns));
        for (std::uint64_t word = 0; word < 10; ++word) {
          server.post_receive(server.memory->local(64), word_bytes);
          EXPECT_EQ(server.next_received().status, CompletionStatus::success);
          EXPECT_EQ(server.block().load(64), word);
        }
        server.channel.hear();
      });
}

TEST_P(MessageStreamsTest, GatherAndScatterSegments) {
  QueuePairOptions options = stream;
  options.max_send_segments = 2;
  options.max_receive_segments = 2;
  run_pairs(
      {.queue_pair = options},
      [](Peer& client) {
        client.block().write(0, pattern(100));
        const LocalSegment parts[] = {{client.memory->local(0), 10},
                                      {client.memory->local(10), 90}};
        WorkRequest gathering = client.send(0, 100);
        gathering.segments = parts;
        client.succeed(gathering);
      },
      [](Peer& server) {
        const LocalSegment parts[] = {{server.memory->local(100), 60},
                                      {server.memory->local(0), 50}};
        const ReceiveRequest scattering{.length_bytes = 110, .segments = parts};
        require(server.queue_pair->post_receive({&scattering, 1}));
        const WorkCompletion completion = server.next_received();
        EXPECT_EQ(completion.status, CompletionStatus::success);
        EXPECT_EQ(completion.length_bytes, 100U);
        auto received = read_bytes(server.block(), 100, 60);
        const auto rest = read_bytes(server.block(), 0, 40);
        received.insert(received.end(), rest.begin(), rest.end());
        EXPECT_EQ(received, pattern(100));
      });
}

TEST_P(MessageStreamsTest, InlineData) {
  if (!capabilities().inlines_data) GTEST_SKIP();
  QueuePairOptions options = stream;
  options.max_inline_bytes = 24;
  run_pairs(
      {.queue_pair = options},
      [](Peer& client) {
        client.block().write(0, pattern(24));
        WorkRequest inlined = client.send(0, 24);
        inlined.inlined = true;
        client.post({inlined});
        client.block().write(0, pattern(24, 1));
        EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(), 24);
        EXPECT_EQ(server.next_received().status, CompletionStatus::success);
        EXPECT_EQ(read_bytes(server.block(), 0, 24), pattern(24));
      });
}

TEST_P(MessageStreamsTest, UnsignalledSendsGiveBackTheirPlaces) {
  QueuePairOptions options = stream;
  options.max_send_requests = 3;
  run_pairs(
      {.queue_pair = options},
      [](Peer& client) {
        for (int round = 0; round < 5; ++round) {
          WorkRequest silent = client.send(0, 8);
          silent.signalled = false;
          client.post({silent, silent, client.send(0, 8)});
          EXPECT_EQ(error_of_posting(client, silent), ErrorCode::queue_full);
          EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
        }
      },
      [](Peer& server) {
        for (int message = 0; message < 15; ++message) {
          server.post_receive(server.memory->local(64), word_bytes);
          EXPECT_EQ(server.next_received().status, CompletionStatus::success);
        }
      });
}

// The client's retry count does not matter, because the message waits at the other side.
TEST_P(MessageStreamsTest, MessagesWaitForReceiveRequests) {
  QueuePairOptions options = stream;
  options.receiver_not_ready_retry_count = 0;
  run_pairs(
      {.queue_pair = options},
      [](Peer& client) {
        for (std::uint64_t word = 0; word < 3; ++word) {
          client.block().store(word * word_bytes, word);
          client.post({client.send(static_cast<std::uint32_t>(word * word_bytes), word_bytes)});
        }
        client.channel.hear();
        for (int message = 0; message < 3; ++message) {
          EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
        }
        EXPECT_EQ(client.queue_pair->state(), QueuePairState::ready);
      },
      [](Peer& server) {
        sleep(server.host, millisecond_ns);
        for (std::uint64_t word = 0; word < 3; ++word) {
          server.post_receive(server.memory->local(64), word_bytes);
          EXPECT_EQ(server.next_received().status, CompletionStatus::success);
          EXPECT_EQ(server.block().load(64), word);
        }
        server.channel.tell();
      });
}

// More than kernels hold, so some SENDs wait for the receiver.
TEST_P(MessageStreamsTest, SlowReceiversLoseNothing) {
  constexpr std::uint32_t message_bytes = 4'000;
  constexpr std::uint8_t messages = 60;
  run_pairs(
      {.queue_pair = stream},
      [](Peer& client) {
        for (std::uint8_t message = 0; message < messages; ++message) {
          client.block().write(0, pattern(message_bytes, message));
          client.succeed(client.send(0, message_bytes));
        }
      },
      [](Peer& server) {
        for (std::uint8_t message = 0; message < messages; ++message) {
          sleep(server.host, server.host.random(10 * microsecond_ns));
          server.post_receive(server.memory->local(), message_bytes);
          EXPECT_EQ(server.next_received().status, CompletionStatus::success);
          EXPECT_EQ(read_bytes(server.block(), 0, message_bytes), pattern(message_bytes, message));
        }
      });
}

// -------------------------------------------------------------------------------------------------
// How they end

TEST_P(MessageStreamsTest, ALongMessageEndsTheStream) {
  run_pairs(
      {.queue_pair = stream},
      [](Peer& client) {
        client.post_receive(client.memory->local(64), word_bytes);
        client.post({client.send(0, 16)});
        EXPECT_EQ(client.next_received().status, CompletionStatus::flushed);
        EXPECT_TRUE(is_in_error(client));
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(), 8);
        server.post_receive(server.memory->local(), 64);
        EXPECT_EQ(server.next_received().status, CompletionStatus::local_length_error);
        EXPECT_EQ(server.next_received().status, CompletionStatus::flushed);
        EXPECT_TRUE(is_in_error(server));
      });
}

TEST_P(MessageStreamsTest, AllThatWasSentArrivesBeforeAnOrderlyEnd) {
  run_pairs(
      {.queue_pair = stream},
      [](Peer& client) {
        for (std::uint64_t word = 0; word < 5; ++word) send_word(client, word);
        client.queue_pair->close();
      },
      [](Peer& server) { EXPECT_EQ(receive_until_the_end(server), words_below(5)); });
}

TEST_P(MessageStreamsTest, DestroyingTheQueuePairIsAnOrderlyEnd) {
  run_pairs(
      {.queue_pair = stream},
      [](Peer& client) {
        send_word(client, 0);
        client.queue_pair.reset();
      },
      [](Peer& server) { EXPECT_EQ(receive_until_the_end(server), words_below(1)); });
}

// Words that the closing side has not received may cost some of its own.
TEST_P(MessageStreamsTest, AnEndWithUnreceivedMessagesMayLoseTheLastOnes) {
  run_pairs(
      {.queue_pair = stream},
      [](Peer& client) {
        client.channel.hear();
        for (std::uint64_t word = 0; word < 5; ++word) send_word(client, word);
        client.queue_pair->close();
      },
      [](Peer& server) {
        server.post({server.send(0, word_bytes)});
        server.channel.tell();
        const auto words = receive_until_the_end(server);
        EXPECT_TRUE(is_prefix(words, 5)) << words.size();
      });
}

TEST_P(MessageStreamsTest, MovingToErrorEndsTheStream) {
  run_pairs(
      {.queue_pair = stream},
      [](Peer& client) {
        client.post_receive(client.memory->local(64), word_bytes);
        send_word(client, 0);
        client.queue_pair->move_to_error();
        EXPECT_EQ(client.next_received().status, CompletionStatus::flushed);
        EXPECT_EQ(client.execute(client.send(0, 8)).status, CompletionStatus::flushed);
        EXPECT_TRUE(is_in_error(client));
      },
      [](Peer& server) { EXPECT_TRUE(is_prefix(receive_until_the_end(server), 1)); });
}

// A side that sends learns of the end without receiving.
TEST_P(MessageStreamsTest, SendersLearnOfTheEnd) {
  run_pairs(
      {.queue_pair = stream}, [](Peer& client) { client.queue_pair->close(); },
      [](Peer& server) {
        const auto fails = [&] {
          const CompletionStatus status = server.execute(server.send(0, 8)).status;
          const bool is_end =
              status == CompletionStatus::retry_exceeded || status == CompletionStatus::flushed;
          EXPECT_TRUE(is_end || status == CompletionStatus::success) << to_string(status);
          return is_end;
        };
        EXPECT_TRUE(wait_until(server.host, fails));
        EXPECT_TRUE(is_in_error(server));
        EXPECT_EQ(server.execute(server.send(0, 8)).status, CompletionStatus::flushed);
      });
}

TEST_P(MessageStreamsTest, ClosedQueuePairsRefuseRequests) {
  run_pairs({.queue_pair = stream}, [](Peer& client) {
    client.queue_pair->close();
    EXPECT_EQ(error_of_posting(client, client.send(0, 8)), ErrorCode::queue_pair_closed);
    EXPECT_EQ(client.queue_pair->state(), QueuePairState::closed);
  });
}

// The machine that dies may be silent, so the survivor sends until it learns of that.
TEST_P(MessageStreamsTest, SendersLearnOfDeath) {
  if (!capabilities().crashes_hosts) GTEST_SKIP();
  run([](Backend& backend) {
    add_pairs(
        backend, {.queue_pair = impatient_stream, .farewell = false},
        [&backend](Peer& client) {
          send_word(client, 1);
          client.channel.hear();
          backend.crash("server");
          EXPECT_TRUE(learns_of_the_end(client));
          EXPECT_TRUE(is_in_error(client));
        },
        [](Peer& server) {
          server.post_receive(server.memory->local(), 8);
          EXPECT_EQ(server.next_received().status, CompletionStatus::success);
          server.channel.tell();
          server.host.sleep_until(never_ns);
        });
  });
}

// The messages of a client that dies arrive up to some message.
TEST_P(MessageStreamsTest, DeathLosesTheLastMessages) {
  if (!capabilities().crashes_hosts) GTEST_SKIP();
  run([](Backend& backend) {
    add_pairs(
        backend, {.queue_pair = impatient_stream, .farewell = false},
        [&backend](Peer& client) {
          for (std::uint64_t word = 0; word < 5; ++word) send_word(client, word);
          backend.crash("client_0");
          client.host.sleep_until(never_ns);
        },
        [](Peer& server) {
          std::vector<std::uint64_t> words;
          WorkCompletion completion;
          server.post_receive(server.memory->local(64), word_bytes);
          const std::uint64_t deadline_ns = server.host.now_ns() + 400 * millisecond_ns;
          while (server.receive_completions->wait(deadline_ns)) {
            require(server.receive_completions->poll({&completion, 1}) == 1, "no completion");
            if (completion.status != CompletionStatus::success) break;
            words.push_back(server.block().load(64));
            server.post_receive(server.memory->local(64), word_bytes);
          }
          EXPECT_TRUE(is_prefix(words, 5)) << words.size();
        });
  });
}

TEST_P(MessageStreamsTest, BrokenNetworksEndTheStream) {
  if (!capabilities().breaks_connections) GTEST_SKIP();
  run([](Backend& backend) {
    add_pairs(
        backend, {.queue_pair = impatient_stream, .farewell = false},
        [&backend](Peer& client) {
          send_word(client, 1);
          backend.break_connection("client_0");
          receive_until_the_end(client);
        },
        [](Peer& server) {
          server.post_receive(server.memory->local(64), word_bytes);
          EXPECT_TRUE(learns_of_the_end(server));
          EXPECT_TRUE(is_in_error(server));
        });
  });
}

}  // namespace
}  // namespace falafel::conformance
