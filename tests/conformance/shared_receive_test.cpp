// Shared receive queues, on devices that have them. One host connects several queue pairs to
// itself, so one body sees all sides.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(SharedReceiveTest);

constexpr std::uint32_t shared_places = 4;
constexpr std::uint64_t slot_bytes = 64;

// Receivers with one shared receive queue and one completion queue for receives, and a sender for
// each of them. Word i of the sending memory contains 100 + i.
struct SharedReceivers {
  SharedReceivers(Site& owner, std::size_t count, QueuePairOptions options = {})
      : site(owner),
        source(site.make_memory(1024)),
        buffers(site.make_memory(shared_places * slot_bytes)),
        received(site.make_completion_queue(shared_places)),
        queue(require(site.device.create_shared_receive_queue(
            {.protection_domain = site.protection_domain.get(),
             .max_receive_requests = shared_places,
             .max_receive_segments = 2}))) {
    for (std::uint64_t i = 0; i < 16; ++i) source.block->store(i * word_bytes, 100 + i);
    for (std::size_t i = 0; i < count; ++i) add(options);
  }

  void add(QueuePairOptions options) {
    const auto listener = require(site.device.listen(1));
    std::optional<Link> sender;
    const FiberId connector = spawn(site.host, [&] {
      sender.emplace(connect_link(site, {site.host.name(), 1}, options));
    });
    Link receiver(site, options);
    receiver.options.receive_completions = received.get();
    receiver.options.shared_receive_queue = queue.get();
    const auto request = listener->accept(site.host.now_ns() + patience_ns);
    require(request != nullptr, "nobody connects");
    receiver.queue_pair = require(request->accept(receiver.options, {}));
    site.host.join(connector);
    require(sender.has_value(), "no connection to itself");
    senders.push_back(std::move(*sender));
    receivers.push_back(std::move(receiver));
  }

  std::optional<ErrorCode> post(std::uint64_t slot) {
    const ReceiveRequest receive{
        .id = slot, .local = buffers.local(slot * slot_bytes), .length_bytes = slot_bytes};
    return error_of(queue->post_receive({&receive, 1}));
  }
  WorkRequest send(std::uint64_t word) const {
    return make_request(Opcode::send, source.local(word * word_bytes), word_bytes);
  }
  WorkCompletion next_received() {
    WorkCompletion completion;
    require(received->wait(site.host.now_ns() + patience_ns), "nothing was received");
    require(received->poll({&completion, 1}) == 1, "the completion cannot be polled");
    return completion;
  }
  bool receives_more() { return received->wait(site.host.now_ns() + millisecond_ns); }
  std::uint64_t word_of(const WorkCompletion& completion) const {
    return buffers.block->load(completion.id * slot_bytes);
  }

  Site& site;
  Memory source;
  Memory buffers;
  std::unique_ptr<CompletionQueue> received;
  std::unique_ptr<SharedReceiveQueue> queue;
  std::vector<Link> senders;
  std::vector<Link> receivers;
};

TEST_P(SharedReceiveTest, AreRefusedWhereTheDeviceLacksThem) {
  if (capabilities().shared_receive_queues) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    EXPECT_EQ(error_of(site.device.create_shared_receive_queue(
                  {.protection_domain = site.protection_domain.get()})),
              ErrorCode::unsupported);
  });
}

TEST_P(SharedReceiveTest, MessagesOfAllQueuePairsTakeItsRequests) {
  if (!capabilities().shared_receive_queues) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    SharedReceivers all(site, 3);
    for (std::uint64_t slot = 0; slot < 3; ++slot) EXPECT_EQ(all.post(slot), std::nullopt);
    for (std::uint64_t i = 0; i < 3; ++i) all.senders[i].post({all.send(i)});
    std::vector<std::uint64_t> slots;
    for (int i = 0; i < 3; ++i) {
      const WorkCompletion completion = all.next_received();
      EXPECT_EQ(completion.status, CompletionStatus::success);
      EXPECT_EQ(completion.length_bytes, word_bytes);
      slots.push_back(completion.id);
      const std::uint64_t sender = all.word_of(completion) - 100;
      ASSERT_LT(sender, 3U);
      EXPECT_EQ(completion.queue_pair_number, all.receivers[sender].queue_pair->number());
    }
    std::ranges::sort(slots);
    EXPECT_EQ(slots, (std::vector<std::uint64_t>{0, 1, 2}));
    for (Link& sender : all.senders) {
      EXPECT_EQ(sender.next_completion().status, CompletionStatus::success);
    }
  });
}

TEST_P(SharedReceiveTest, MessagesOfOneQueuePairStayInOrder) {
  if (!capabilities().shared_receive_queues) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    SharedReceivers all(site, 2);
    for (std::uint64_t slot = 0; slot < shared_places; ++slot) all.post(slot);
    all.senders[0].post({all.send(1), all.send(2)});
    all.senders[1].post({all.send(5), all.send(6)});
    std::uint64_t last[2] = {};
    for (std::uint32_t i = 0; i < shared_places; ++i) {
      const std::uint64_t word = all.word_of(all.next_received());
      std::uint64_t& before = last[word < 105 ? 0 : 1];
      EXPECT_LT(before, word);
      before = word;
    }
  });
}

TEST_P(SharedReceiveTest, SenderWaitsUntilOneIsPosted) {
  if (!capabilities().shared_receive_queues) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    SharedReceivers all(site, 2);
    for (Link& sender : all.senders) sender.post({all.send(3)});
    EXPECT_FALSE(all.receives_more());
    all.post(0);
    EXPECT_EQ(all.word_of(all.next_received()), 103U);
    EXPECT_FALSE(all.receives_more()) << "one request is for one message";
    all.post(1);
    EXPECT_EQ(all.word_of(all.next_received()), 103U);
  });
}

TEST_P(SharedReceiveTest, WriteWithImmediateTakesOne) {
  if (!capabilities().shared_receive_queues) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    SharedReceivers all(site, 1);
    all.post(2);
    WorkRequest write = make_request(Opcode::write_with_immediate, all.source.local(), word_bytes,
                                     {all.source.region->remote_key(), 512});
    write.immediate = 9;
    all.senders[0].post({write});
    const WorkCompletion completion = all.next_received();
    EXPECT_EQ(completion.opcode, Opcode::receive_of_write);
    EXPECT_EQ(completion.immediate, 9U);
    EXPECT_EQ(completion.id, 2U);
    EXPECT_EQ(all.source.block->load(512), 100U);
  });
}

TEST_P(SharedReceiveTest, RequestsMayHaveSegments) {
  if (!capabilities().shared_receive_queues) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    SharedReceivers all(site, 1);
    const std::vector<LocalSegment> list{{.address = all.buffers.local(0), .length_bytes = 3},
                                         {.address = all.buffers.local(64), .length_bytes = 5}};
    const ReceiveRequest receive{.length_bytes = 8, .segments = list};
    EXPECT_EQ(error_of(all.queue->post_receive({&receive, 1})), std::nullopt);
    all.senders[0].post({all.send(0)});
    EXPECT_EQ(all.next_received().status, CompletionStatus::success);
    EXPECT_EQ(all.buffers.block->load(0), 100U);
    EXPECT_EQ(all.buffers.block->load(64), 0U);
  });
}

// -------------------------------------------------------------------------------------------------
// Failure

TEST_P(SharedReceiveTest, FailureLeavesItsRequestsToTheOthers) {
  if (!capabilities().shared_receive_queues) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    SharedReceivers all(site, 2);
    all.post(0);
    all.post(1);
    all.receivers[0].queue_pair->move_to_error();
    EXPECT_FALSE(all.receives_more()) << "nothing of the shared queue is flushed";
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(all.senders[1].execute(all.send(4)).status, CompletionStatus::success);
      EXPECT_EQ(all.word_of(all.next_received()), 104U);
    }
  });
}

TEST_P(SharedReceiveTest, FenceIsAwaitedWithASend) {
  if (!capabilities().shared_receive_queues) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    SharedReceivers all(site, 1);
    all.post(0);
    all.receivers[0].queue_pair->move_to_error();
    all.receivers[0].post({all.send(0)});
    EXPECT_EQ(all.receivers[0].next_completion().status, CompletionStatus::flushed);
    EXPECT_FALSE(all.receives_more());
  });
}

TEST_P(SharedReceiveTest, ClosedQueuePairGivesItsPlacesBack) {
  if (!capabilities().shared_receive_queues) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    SharedReceivers all(site, 2);
    for (std::uint64_t slot = 0; slot < shared_places; ++slot) all.post(slot);
    EXPECT_EQ(all.post(0), ErrorCode::queue_full);
    EXPECT_EQ(all.senders[0].execute(all.send(1)).status, CompletionStatus::success);
    EXPECT_TRUE(all.received->wait(host.now_ns() + patience_ns));
    EXPECT_EQ(all.post(0), ErrorCode::queue_full) << "its completion was not polled";
    all.receivers[0].queue_pair->close();
    EXPECT_EQ(all.post(0), std::nullopt);
    EXPECT_FALSE(all.receives_more()) << "the completion is lost";
    for (std::uint32_t i = 0; i < shared_places; ++i) {
      EXPECT_EQ(all.senders[1].execute(all.send(2)).status, CompletionStatus::success);
      EXPECT_EQ(all.word_of(all.next_received()), 102U);
    }
  });
}

// -------------------------------------------------------------------------------------------------
// Limits and mistakes

TEST_P(SharedReceiveTest, PlacesAreFreeOnceTheCompletionIsPolled) {
  if (!capabilities().shared_receive_queues) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    SharedReceivers all(site, 2);
    for (std::uint64_t round = 0; round < 3; ++round) {
      for (std::uint64_t slot = 0; slot < shared_places; ++slot) {
        EXPECT_EQ(all.post(slot), std::nullopt);
      }
      EXPECT_EQ(all.post(0), ErrorCode::queue_full);
      for (std::uint32_t i = 0; i < shared_places; ++i) {
        Link& sender = all.senders[i % 2];
        EXPECT_EQ(sender.execute(all.send(1)).status, CompletionStatus::success);
      }
      EXPECT_EQ(all.post(0), ErrorCode::queue_full) << "not polled yet";
      for (std::uint32_t i = 0; i < shared_places; ++i) all.next_received();
    }
  });
}

TEST_P(SharedReceiveTest, TakesThePlaceOfTheOwnQueue) {
  if (!capabilities().shared_receive_queues) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    SharedReceivers all(site, 1);
    const ReceiveRequest receive{};
    EXPECT_EQ(error_of(all.receivers[0].queue_pair->post_receive({&receive, 1})),
              ErrorCode::invalid_argument);
  });
}

TEST_P(SharedReceiveTest, CompletionQueueMustHoldItsRequestsOnce) {
  if (!capabilities().shared_receive_queues) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    SharedReceivers all(site, 3);  // with one completion queue that holds them exactly
    const auto listener = require(site.device.listen(2));
    const auto error_with = [&](const QueuePairOptions& options) {
      return error_of(
          site.device.connect({host.name(), 2}, options, {}, host.now_ns() + millisecond_ns));
    };
    const Link link(site, {});
    QueuePairOptions options = link.options;
    options.shared_receive_queue = all.queue.get();
    EXPECT_EQ(error_with(options), ErrorCode::unreachable) << "this is valid";
    const auto small = site.make_completion_queue(shared_places - 1);
    options.receive_completions = small.get();
    EXPECT_EQ(error_with(options), ErrorCode::invalid_argument);
  });
}

TEST_P(SharedReceiveTest, BelongsToOneProtectionDomain) {
  if (!capabilities().shared_receive_queues) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    Site other(host);
    const auto queue = require(site.device.create_shared_receive_queue(
        {.protection_domain = site.protection_domain.get()}));
    const auto listener = require(site.device.listen(2));
    const Link link(other, {});
    QueuePairOptions options = link.options;
    options.shared_receive_queue = queue.get();
    EXPECT_EQ(error_of(site.device.connect({host.name(), 2}, options, {},
                                           host.now_ns() + millisecond_ns)),
              ErrorCode::invalid_argument);
    const Memory memory = other.make_memory(64);
    const ReceiveRequest receive{.local = memory.local(), .length_bytes = 8};
    EXPECT_EQ(error_of(queue->post_receive({&receive, 1})), ErrorCode::access_denied);
  });
}

TEST_P(SharedReceiveTest, DeviceLimitsAreKept) {
  if (!capabilities().shared_receive_queues) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    const DeviceAttributes& device = site.device.attributes();
    const auto error_with = [&](std::uint32_t requests, std::uint32_t segments,
                                ProtectionDomain* domain) {
      return error_of(site.device.create_shared_receive_queue({.protection_domain = domain,
                                                               .max_receive_requests = requests,
                                                               .max_receive_segments = segments}));
    };
    ProtectionDomain* const domain = site.protection_domain.get();
    EXPECT_EQ(error_with(1, 1, domain), std::nullopt);
    EXPECT_EQ(error_with(0, 1, domain), ErrorCode::invalid_argument);
    EXPECT_EQ(error_with(device.max_queue_requests + 1, 1, domain), ErrorCode::invalid_argument);
    EXPECT_EQ(error_with(1, 0, domain), ErrorCode::invalid_argument);
    EXPECT_EQ(error_with(1, device.max_scatter_gather_entries + 1, domain),
              ErrorCode::invalid_argument);
    EXPECT_EQ(error_with(1, 1, nullptr), ErrorCode::invalid_argument);
  });
}

}  // namespace
}  // namespace falafel::conformance
