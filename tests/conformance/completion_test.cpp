// Completions and chains: which requests of a send queue complete with a notification, and in which
// order.
#include <array>
#include <cstdint>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(CompletionTest);

std::vector<WorkRequest> mixed_chain(const Peer& client) {
  std::vector<WorkRequest> chain{client.read(0, 0, 1000),
                                 client.write(1000, 1000, 8),
                                 client.fetch_and_add(0, 0, 1),
                                 client.write(1000, 1000, 3000),
                                 client.read(0, 0, 8),
                                 client.read(0, 0, 2000),
                                 client.compare_and_swap(0, 0, 0, 1)};
  for (std::size_t i = 0; i < chain.size(); ++i) chain[i].id = 100 + i;
  return chain;
}

TEST_P(CompletionTest, ComeInTheOrderOfPosting) {
  run_pairs({}, [](Peer& client) {
    const std::vector<WorkRequest> chain = mixed_chain(client);
    client.post(chain);
    for (const WorkRequest& request : chain) {
      const WorkCompletion completion = client.next_completion();
      EXPECT_EQ(completion.id, request.id);
      EXPECT_EQ(completion.opcode, request.opcode);
      EXPECT_EQ(completion.status, CompletionStatus::success);
    }
  });
}

TEST_P(CompletionTest, OrderHoldsFromChainToChain) {
  run_pairs({}, [](Peer& client) {
    for (const WorkRequest& request : mixed_chain(client)) client.post({request});
    for (std::uint64_t i = 0; i < mixed_chain(client).size(); ++i) {
      EXPECT_EQ(client.next_completion().id, 100 + i);
    }
  });
}

TEST_P(CompletionTest, UnsignalledSuccessIsSilent) {
  run_pairs({}, [](Peer& client) {
    std::vector<WorkRequest> chain = mixed_chain(client);
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) chain[i].signalled = i == 2;
    client.post(chain);
    EXPECT_EQ(client.next_completion().id, 102U);
    EXPECT_EQ(client.next_completion().id, chain.back().id);
    EXPECT_FALSE(client.send_completions->wait(client.host.now_ns() + millisecond_ns));
  });
}

TEST_P(CompletionTest, UnsignalledIsDoneWhenALaterOneIs) {
  run_pairs({}, [](Peer& client) {
    WorkRequest silent = client.fetch_and_add(512, 0, 1);
    silent.signalled = false;
    client.block().store(512, 99);
    client.post({silent});
    client.succeed(client.read(0, 64, 8));
    EXPECT_EQ(client.block().load(512), 0U);
    EXPECT_EQ(client.fetch_word(0), 1U);
  });
}

TEST_P(CompletionTest, PollTakesAtMostWhatFits) {
  run_pairs({}, [](Peer& client) {
    const std::vector<WorkRequest> chain = mixed_chain(client);
    client.post(chain);
    std::vector<std::uint64_t> ids;
    std::array<WorkCompletion, 2> some{};
    while (ids.size() < chain.size()) {
      require(client.send_completions->wait(client.host.now_ns() + patience_ns), "none came");
      const std::size_t count = client.send_completions->poll(some);
      ASSERT_GE(count, 1U);
      ASSERT_LE(count, some.size());
      for (std::size_t i = 0; i < count; ++i) ids.push_back(some[i].id);
    }
    EXPECT_EQ(ids, (std::vector<std::uint64_t>{100, 101, 102, 103, 104, 105, 106}));
    EXPECT_EQ(client.send_completions->poll(some), 0U);
  });
}

TEST_P(CompletionTest, WaitEndsAtItsDeadline) {
  run_pairs({}, [](Peer& client) {
    const std::uint64_t deadline_ns = client.host.now_ns() + millisecond_ns;
    EXPECT_FALSE(client.send_completions->wait(deadline_ns));
    EXPECT_GE(client.host.now_ns(), deadline_ns);
    client.post({client.read(0, 0, 8)});
    EXPECT_TRUE(client.send_completions->wait(never_ns));
    EXPECT_TRUE(client.send_completions->wait(0)) << "it can still be polled";
    EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
  });
}

// Takes a completion, and keeps waiting if other fibers take it first.
void take_one(Host& host, CompletionQueue& queue) {
  WorkCompletion completion;
  while (queue.poll({&completion, 1}) == 0) {
    require(queue.wait(host.now_ns() + patience_ns), "the wait ended without a completion");
  }
  EXPECT_EQ(completion.status, CompletionStatus::success);
}

TEST_P(CompletionTest, FibersThatShareAQueueTakeOneEach) {
  run_pairs({}, [](Peer& client) {
    constexpr int fiber_count = 3;
    std::vector<FiberId> fibers;
    for (int i = 0; i < fiber_count; ++i) {
      fibers.push_back(
          spawn(client.host, [&client] { take_one(client.host, *client.send_completions); }));
    }
    sleep(client.host, 10 * microsecond_ns);
    for (int i = 0; i < fiber_count; ++i) client.post({client.read(0, 0, 64)});
    for (const FiberId fiber : fibers) client.host.join(fiber);
  });
}

// Each fiber's receive completes only after all fibers have sent, so waiting must let other fibers
// run.
TEST_P(CompletionTest, WaitingForWorkLetsOthersRun) {
  constexpr std::uint64_t fiber_count = 4;
  run_pairs(
      {},
      [](Peer& client) {
        std::vector<FiberId> fibers;
        for (std::uint64_t i = 0; i < fiber_count; ++i) {
          fibers.push_back(spawn(client.host, [&] {
            client.post_receive(client.memory->local(), 0);
            client.post({client.send(0, 0)});
            take_one(client.host, *client.receive_completions);
          }));
        }
        for (const FiberId fiber : fibers) client.host.join(fiber);
      },
      [](Peer& server) {
        for (std::uint64_t i = 0; i < fiber_count; ++i) {
          server.post_receive(server.memory->local(), 0);
        }
        for (std::uint64_t i = 0; i < fiber_count; ++i) server.next_received();
        for (std::uint64_t i = 0; i < fiber_count; ++i) {
          EXPECT_EQ(server.execute(server.send(0, 0)).status, CompletionStatus::success);
        }
      });
}

TEST_P(CompletionTest, QueuePairsThatShareAQueueAreTold) {
  run_alone([](Host& host) {
    Site site(host);
    const Memory memory = site.make_memory(4096);
    const auto shared = site.make_completion_queue();
    QueuePairOptions options{.protection_domain = site.protection_domain.get(),
                             .send_completions = shared.get(),
                             .receive_completions = shared.get(),
                             .max_send_requests = 4,
                             .max_receive_requests = 4};
    const auto listener = require(site.device.listen(1));
    std::unique_ptr<QueuePair> far;
    const FiberId acceptor = spawn(host, [&] {
      const auto request = listener->accept(never_ns);
      far = require(request->accept(options, {}));
    });
    const Connection near = require(site.device.connect({"host", 1}, options, {}, never_ns));
    host.join(acceptor);

    const WorkRequest request =
        make_request(Opcode::write, memory.local(), 8, {memory.region->remote_key(), 64});
    for (QueuePair* queue_pair : {near.queue_pair.get(), far.get()}) {
      require(queue_pair->post_send({&request, 1}));
      WorkCompletion completion;
      ASSERT_TRUE(shared->wait(host.now_ns() + patience_ns));
      ASSERT_EQ(shared->poll({&completion, 1}), 1U);
      EXPECT_EQ(completion.queue_pair_number, queue_pair->number());
    }
    EXPECT_NE(near.queue_pair->number(), far->number());
  });
}

TEST_P(CompletionTest, ChainIsPostedWholeOrNotAtAll) {
  run_pairs({}, [](Peer& client) {
    client.block().store(0, 7);
    const std::vector<WorkRequest> chain{client.write(0, 512, 8), client.fetch_and_add(64, 520, 1),
                                         client.fetch_and_add(64, 524, 1)};
    EXPECT_EQ(error_of(client.queue_pair->post_send(chain)), ErrorCode::invalid_argument);
    EXPECT_FALSE(client.send_completions->wait(client.host.now_ns() + millisecond_ns));
    EXPECT_EQ(client.fetch(512, 16), std::vector<std::byte>(16));
  });
}

}  // namespace
}  // namespace falafel::conformance
