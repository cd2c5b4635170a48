// ImmediateReads::read_at_once: what it returns, and what it leaves to posting.
#include <cstdint>

#include "fabric/immediate_reads.h"
#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(ReadAtOnceTest);

constexpr std::uint32_t read_length_bytes = 104;
constexpr std::uint64_t buffer_offset = 4096;

bool read_at_once(Peer& peer, const WorkRequest& request) {
  auto* const reads = dynamic_cast<ImmediateReads*>(peer.queue_pair.get());
  return reads != nullptr && reads->read_at_once(request);
}

bool has_completion(Peer& peer) {
  return peer.send_completions->wait(peer.host.now_ns() + millisecond_ns);
}

// Nothing has happened, and the connection is as good as before.
void expect_nothing(Peer& peer) {
  EXPECT_EQ(read_bytes(peer.block(), buffer_offset, read_length_bytes),
            std::vector<std::byte>(read_length_bytes));
  EXPECT_FALSE(has_completion(peer));
}

TEST_P(ReadAtOnceTest, DeliversTheDataWithoutACompletion) {
  const bool reads_at_once = capabilities().reads_at_once;
  run_pairs(
      {.queue_pair = {.max_send_requests = 2}},
      [reads_at_once](Peer& client) {
        client.channel.hear();
        for (const std::uint64_t far_offset : {0U, 8U, 3U}) {
          client.block().write(buffer_offset, std::vector<std::byte>(read_length_bytes));
          const WorkRequest read = client.read(buffer_offset, far_offset, read_length_bytes);
          ASSERT_EQ(read_at_once(client, read), reads_at_once);
          if (!reads_at_once) return expect_nothing(client);
          auto expected = pattern(read_length_bytes + far_offset);
          expected.erase(expected.begin(),
                         expected.begin() + static_cast<std::ptrdiff_t>(far_offset));
          EXPECT_EQ(read_bytes(client.block(), buffer_offset, read_length_bytes), expected);
          EXPECT_FALSE(has_completion(client));
        }
      },
      [](Peer& server) {
        server.block().write(0, pattern(read_length_bytes + 8));
        server.channel.tell();
      });
}

TEST_P(ReadAtOnceTest, FollowsWhatWasPostedBefore) {
  run_pairs({}, [](Peer& client) {
    for (std::uint8_t salt = 0; salt < 20; ++salt) {
      client.block().write(0, pattern(read_length_bytes, salt));
      client.post({client.write(0, 0, read_length_bytes)});
      if (read_at_once(client, client.read(buffer_offset, 0, read_length_bytes))) {
        EXPECT_EQ(read_bytes(client.block(), buffer_offset, read_length_bytes),
                  pattern(read_length_bytes, salt));
      }
      EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
    }
  });
}

TEST_P(ReadAtOnceTest, DoesNotOvertakeARequestThatWaits) {
  run_pairs({}, [](Peer& client) {
    client.post({client.send(0, 8)});  // the server posts no receive request
    EXPECT_FALSE(read_at_once(client, client.read(buffer_offset, 0, read_length_bytes)));
    client.queue_pair->close();
  });
}

TEST_P(ReadAtOnceTest, LeavesAnyFaultToPosting) {
  run_pairs({}, [](Peer& client) {
    const auto expect_refused = [&client](WorkRequest request) {
      EXPECT_FALSE(read_at_once(client, request));
      EXPECT_EQ(client.queue_pair->state(), QueuePairState::ready);
      expect_nothing(client);
    };
    const WorkRequest good = client.read(buffer_offset, 0, read_length_bytes);
    expect_refused(client.write(buffer_offset, 0, read_length_bytes));
    expect_refused(client.read(buffer_offset, 8192 - 8, 16));
    expect_refused(client.read(8192 - 8, 0, 16));
    WorkRequest request = good;
    request.remote.key ^= 0x5a5a5a5a;
    expect_refused(request);
    request = good;
    request.local.key ^= 0x5a5a5a5a;
    expect_refused(request);
    client.succeed(good);
  });
}

TEST_P(ReadAtOnceTest, NeedsTheRights) {
  run_pairs({.access = {.local_write = true, .remote_write = true}}, [](Peer& client) {
    EXPECT_FALSE(read_at_once(client, client.read(buffer_offset, 0, read_length_bytes)));
    expect_nothing(client);
  });
  run_pairs({.access = {.remote_read = true}}, [](Peer& client) {
    EXPECT_FALSE(read_at_once(client, client.read(buffer_offset, 0, read_length_bytes)));
    expect_nothing(client);
  });
}

TEST_P(ReadAtOnceTest, ReadsNothingOnceAnEndHasLeftReady) {
  run_pairs(
      {.client_count = 3, .farewell = false},
      [](Peer& client) {
        if (client.index == 0) client.queue_pair->move_to_error();
        if (client.index == 1) client.queue_pair->close();
        if (client.index == 2) {
          client.channel.tell();
          client.channel.hear();
        }
        EXPECT_FALSE(read_at_once(client, client.read(buffer_offset, 0, read_length_bytes)));
        EXPECT_EQ(read_bytes(client.block(), buffer_offset, read_length_bytes),
                  std::vector<std::byte>(read_length_bytes));
      },
      [](Peer& server) {
        if (server.index != 2) return;
        server.channel.hear();
        server.block().write(0, pattern(read_length_bytes));
        server.queue_pair->move_to_error();
        server.channel.tell();
      });
}

TEST_P(ReadAtOnceTest, LetsOtherFibersRun) {
  if (!capabilities().reads_at_once) GTEST_SKIP();
  run_pairs({}, [](Peer& client) {
    bool has_run = false;
    const FiberId other = spawn(client.host, [&] { has_run = true; });
    for (int reads = 0; reads < 10'000 && !has_run; ++reads) {
      EXPECT_TRUE(read_at_once(client, client.read(buffer_offset, 0, read_length_bytes)));
    }
    EXPECT_TRUE(has_run);
    client.host.join(other);
  });
}

}  // namespace
}  // namespace falafel::conformance
