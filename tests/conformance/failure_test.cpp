// Failures of reliable connections, and the errors that both sides report.
#include <cstdint>
#include <optional>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(FailureTest);

bool reaches(Peer& peer, QueuePairState state) {
  return wait_until(peer.host, [&] { return peer.queue_pair->state() == state; });
}

// -------------------------------------------------------------------------------------------------
// Access is refused

using RequestMaker = std::function<WorkRequest(const Peer&)>;

// Posts the request twice: the first one is refused, the second one is flushed, and both sides
// break.
void expect_refused(const ConformanceTest& test, const PairOptions& options,
                    const RequestMaker& refused) {
  const PeerBody client_body = [=](Peer& client) {
    WorkRequest request = refused(client);
    request.signalled = false;  // failures are reported anyway
    request.id = 5;
    client.post({request, request});
    const WorkCompletion completion = client.next_completion();
    EXPECT_EQ(completion.id, 5U);
    EXPECT_EQ(completion.status, CompletionStatus::remote_access_error);
    EXPECT_EQ(client.next_completion().status, CompletionStatus::flushed);
    EXPECT_EQ(client.queue_pair->state(), QueuePairState::error);
    EXPECT_EQ(client.execute(client.read(0, 0, 8)).status, CompletionStatus::flushed);
  };
  const PeerBody server_body = [](Peer& server) {
    server.post_receive(server.memory->local(), 8, 9);
    EXPECT_TRUE(reaches(server, QueuePairState::error));
    const WorkCompletion flushed = server.next_received();
    EXPECT_EQ(flushed.id, 9U);
    EXPECT_EQ(flushed.status, CompletionStatus::flushed);
    EXPECT_FALSE(server.send_completions->wait(server.host.now_ns() + millisecond_ns));
    EXPECT_FALSE(server.receive_completions->wait(server.host.now_ns()));
    EXPECT_EQ(read_bytes(server.block(), 0, 4096), std::vector<std::byte>(4096));
  };
  test.run_pairs(options, client_body, server_body);
}

TEST_P(FailureTest, UnknownKeyIsRefused) {
  expect_refused(*this, {}, [](const Peer& client) {
    WorkRequest request = client.read(0, 0, 8);
    request.remote.key ^= 0x5a5a5a5a;
    return request;
  });
}

TEST_P(FailureTest, OutOfBoundsIsRefused) {
  const PairOptions options{.memory_bytes = 4096};
  expect_refused(*this, options, [](const Peer& client) { return client.read(0, 4089, 8); });
  expect_refused(*this, options, [](const Peer& client) { return client.write(0, 4096, 1); });
  expect_refused(*this, options,
                 [](const Peer& client) { return client.fetch_and_add(0, 4096, 1); });
  expect_refused(*this, options,
                 [](const Peer& client) { return client.read(0, never_ns - 7, 8); });
}

TEST_P(FailureTest, MissingRightIsRefused) {
  const auto with_rights = [](Access access) { return PairOptions{.access = access}; };
  expect_refused(*this,
                 with_rights({.local_write = true, .remote_write = true, .remote_atomic = true}),
                 [](const Peer& client) { return client.read(0, 0, 8); });
  expect_refused(*this,
                 with_rights({.local_write = true, .remote_read = true, .remote_atomic = true}),
                 [](const Peer& client) { return client.write(0, 0, 8); });
  expect_refused(*this,
                 with_rights({.local_write = true, .remote_read = true, .remote_write = true}),
                 [](const Peer& client) { return client.compare_and_swap(0, 0, 0, 1); });
}

TEST_P(FailureTest, RegionOfAnotherProtectionDomainIsRefused) {
  run_pairs(
      {},
      [](Peer& client) {
        client.remote_key = static_cast<std::uint32_t>(client.channel.hear());
        EXPECT_EQ(client.execute(client.read(0, 0, 8)).status,
                  CompletionStatus::remote_access_error);
        client.channel.tell();
      },
      [](Peer& server) {
        Site elsewhere(server.host);
        const Memory memory = elsewhere.make_memory(4096);
        server.channel.tell(memory.region->remote_key());
        server.channel.hear();
      });
}

TEST_P(FailureTest, OtherConnectionsGoOn) {
  run_pairs({.client_count = 2}, [](Peer& client) {
    if (client.index == 0) {
      EXPECT_EQ(client.execute(client.read(0, 100'000, 8)).status,
                CompletionStatus::remote_access_error);
    }
    for (int i = 0; i < 5 && client.index == 1; ++i) client.succeed(client.fetch_and_add(0, 0, 1));
  });
}

// -------------------------------------------------------------------------------------------------
// A queue pair is given up by its owner

TEST_P(FailureTest, PostingToAClosedQueuePairIsAnError) {
  run_pairs({}, [](Peer& client) {
    client.queue_pair->close();
    EXPECT_EQ(client.queue_pair->state(), QueuePairState::closed);
    EXPECT_EQ(error_of_posting(client, client.read(0, 0, 8)), ErrorCode::queue_pair_closed);
    const ReceiveRequest receive{.local = client.memory->local(), .length_bytes = 8};
    EXPECT_EQ(error_of(client.queue_pair->post_receive({&receive, 1})),
              ErrorCode::queue_pair_closed);
  });
}

// Closing returns completions neither for requests in flight nor for completed ones that were not
// polled.
TEST_P(FailureTest, ClosingGivesNoCompletions) {
  run_pairs({}, [](Peer& client) {
    client.post_receive(client.memory->local(), 8);
    client.post({client.read(0, 0, 8), client.send(0, 8)});  // the server posts no receive request
    EXPECT_TRUE(client.send_completions->wait(never_ns));
    client.queue_pair->close();
    EXPECT_FALSE(client.send_completions->wait(client.host.now_ns() + millisecond_ns));
    EXPECT_FALSE(client.receive_completions->wait(client.host.now_ns()));
  });
}

TEST_P(FailureTest, ResponderThatClosesIsSilent) {
  run_pairs(
      {.queue_pair = impatient},
      [](Peer& client) {
        client.succeed(client.read(0, 0, 8));
        client.channel.tell();
        client.channel.hear();
        EXPECT_EQ(client.execute(client.write(0, 0, 8)).status, CompletionStatus::retry_exceeded);
      },
      [](Peer& server) {
        server.channel.hear();
        server.queue_pair->close();
        server.channel.tell();
      });
}

TEST_P(FailureTest, RequestsInErrorAreFlushedInOrder) {
  run_pairs({}, [](Peer& client) {
    for (std::uint64_t id = 1; id <= 2; ++id) client.post_receive(client.memory->local(), 8, id);
    client.queue_pair->move_to_error();
    EXPECT_EQ(client.queue_pair->state(), QueuePairState::error);
    client.post_receive(client.memory->local(), 8, 3);
    for (std::uint64_t id = 4; id <= 5; ++id) {
      WorkRequest request = client.read(0, 0, 8);
      request.id = id;
      request.signalled = id == 5;
      client.post({request});
    }
    for (std::uint64_t id = 1; id <= 5; ++id) {
      const WorkCompletion completion = id <= 3 ? client.next_received() : client.next_completion();
      EXPECT_EQ(completion.id, id);
      EXPECT_EQ(completion.status, CompletionStatus::flushed);
    }
  });
}

// Writes until the peer stops responding; others get a turn between the rounds.
void write_until_failure(Peer& client) {
  CompletionStatus status = CompletionStatus::success;
  for (std::uint64_t round = 1; status == CompletionStatus::success; ++round) {
    client.block().write(0, pattern(2000, static_cast<std::uint8_t>(round % 200)));
    client.post({client.write(0, 0, 2000), client.fetch_and_add(4096, 2000, 1)});
    status = client.next_completion().status;
    if (status == CompletionStatus::success) status = client.next_completion().status;
    sleep(client.host, client.host.random(microsecond_ns));
  }
  EXPECT_EQ(status, CompletionStatus::retry_exceeded);
}

TEST_P(FailureTest, NothingLandsAfterTheFence) {
  run_pairs({.queue_pair = impatient}, write_until_failure, [](Peer& server) {
    sleep(server.host, server.host.random(20 * microsecond_ns));
    server.queue_pair->move_to_error();
    server.post_receive(server.memory->local(4096), 8);
    EXPECT_EQ(server.next_received().status, CompletionStatus::flushed);
    const auto fenced = read_bytes(server.block(), 0, 2008);
    for (int i = 0; i < 10; ++i) {
      sleep(server.host, microsecond_ns);
      EXPECT_EQ(read_bytes(server.block(), 0, 2008), fenced);
    }
  });
}

TEST_P(FailureTest, NothingIsReadAfterTheFence) {
  run_pairs(
      {.queue_pair = impatient},
      [](Peer& client) {
        while (client.execute(client.read(0, 0, 2000)).status == CompletionStatus::success) {
          EXPECT_EQ(read_bytes(client.block(), 0, 2000), std::vector<std::byte>(2000));
          sleep(client.host, client.host.random(microsecond_ns));
        }
      },
      [](Peer& server) {
        sleep(server.host, server.host.random(20 * microsecond_ns));
        server.queue_pair->move_to_error();
        server.block().write(0, pattern(2000));
      });
}

}  // namespace
}  // namespace falafel::conformance
