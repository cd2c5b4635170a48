// Queues have the requested capacity, and limits are enforced.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(QueueLimitsTest);

constexpr std::uint32_t places = 4;
const PairOptions small_queues{
    .queue_pair = {.max_send_requests = places, .max_receive_requests = places}};

std::vector<WorkRequest> reads(const Peer& peer, std::size_t count, bool signalled) {
  std::vector<WorkRequest> chain(count, peer.read(0, 0, 8));
  for (WorkRequest& request : chain) request.signalled = signalled;
  return chain;
}

TEST_P(QueueLimitsTest, PlacesAreFreeOnceTheCompletionIsPolled) {
  run_pairs(small_queues, [](Peer& client) {
    client.post(reads(client, places, true));
    const auto one = reads(client, 1, true);
    EXPECT_EQ(error_of_posting(client, one), ErrorCode::queue_full);
    sleep(client.host, millisecond_ns);  // all have completed, none has been polled
    EXPECT_EQ(error_of_posting(client, one), ErrorCode::queue_full);
    client.next_completion();
    EXPECT_EQ(error_of_posting(client, one), std::nullopt);
    EXPECT_EQ(error_of_posting(client, one), ErrorCode::queue_full);
  });
}

TEST_P(QueueLimitsTest, ChainThatDoesNotFitIsRefusedWhole) {
  run_pairs(small_queues, [](Peer& client) {
    client.post(reads(client, 1, true));
    EXPECT_EQ(error_of_posting(client, reads(client, places, true)), ErrorCode::queue_full);
    EXPECT_EQ(error_of_posting(client, reads(client, places - 1, true)), std::nullopt);
    for (std::uint32_t i = 0; i < places; ++i) client.next_completion();
    EXPECT_FALSE(client.send_completions->wait(client.host.now_ns() + millisecond_ns));
    EXPECT_EQ(error_of_posting(client, reads(client, places + 1, true)), ErrorCode::queue_full);
  });
}

TEST_P(QueueLimitsTest, LaterCompletionFreesThePlacesOfSilentRequests) {
  run_pairs(small_queues, [](Peer& client) {
    for (int round = 0; round < 3; ++round) {
      auto chain = reads(client, places, false);
      chain.back().signalled = true;
      EXPECT_EQ(error_of_posting(client, chain), std::nullopt);
      client.next_completion();
    }
  });
}

TEST_P(QueueLimitsTest, SilentRequestsKeepTheirPlaces) {
  run_pairs(small_queues, [](Peer& client) {
    client.post(reads(client, places - 1, false));
    sleep(client.host, millisecond_ns);
    EXPECT_EQ(error_of_posting(client, reads(client, 2, true)), ErrorCode::queue_full);
    client.succeed(client.read(0, 0, 8));
    EXPECT_EQ(error_of_posting(client, reads(client, places, true)), std::nullopt);
  });
}

TEST_P(QueueLimitsTest, CompletionFreesNoPlacesOfLaterRequests) {
  run_pairs(small_queues, [](Peer& client) {
    auto chain = reads(client, places, false);
    chain[1].signalled = true;
    client.post(chain);
    sleep(client.host, millisecond_ns);
    client.next_completion();
    EXPECT_EQ(error_of_posting(client, reads(client, 3, true)), ErrorCode::queue_full);
    EXPECT_EQ(error_of_posting(client, reads(client, 2, true)), std::nullopt);
  });
}

TEST_P(QueueLimitsTest, ReceiveQueueHasItsOwnPlaces) {
  run_pairs(
      small_queues,
      [](Peer& client) {
        client.channel.hear();
        client.succeed(client.send(0, 8));
        client.channel.tell();
      },
      [](Peer& server) {
        const ReceiveRequest receive{.local = server.memory->local(), .length_bytes = 8};
        const std::vector<ReceiveRequest> many(places + 1, receive);
        const auto error_of_receiving = [&](std::size_t count) {
          return error_of(server.queue_pair->post_receive({many.data(), count}));
        };
        EXPECT_EQ(error_of_receiving(places + 1), ErrorCode::queue_full);
        EXPECT_EQ(error_of_receiving(places), std::nullopt);
        EXPECT_EQ(error_of_receiving(1), ErrorCode::queue_full);
        server.channel.tell();
        server.channel.hear();
        EXPECT_EQ(error_of_receiving(1), ErrorCode::queue_full) << "not polled yet";
        server.next_received();
        EXPECT_EQ(error_of_receiving(1), std::nullopt);
        EXPECT_EQ(error_of_receiving(1), ErrorCode::queue_full);
      });
}

// -------------------------------------------------------------------------------------------------
// READs and atomics outstanding

// With one outstanding READ, the first one completes before the second one starts; later requests
// wait too.
TEST_P(QueueLimitsTest, ReadsBeyondTheLimitWait) {
  run_pairs({.queue_pair = {.max_outstanding_reads_and_atomics = 1}}, [](Peer& client) {
    client.block().write(4096, pattern(1000));
    client.post({client.read(0, 0, 1000), client.read(1000, 2000, 8), client.write(4096, 0, 1000)});
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
    }
    EXPECT_EQ(read_bytes(client.block(), 0, 1000), std::vector<std::byte>(1000));
    EXPECT_EQ(client.fetch(0, 1000), pattern(1000));
  });
}

TEST_P(QueueLimitsTest, OneAtATimeIsInOrder) {
  run_pairs({.queue_pair = {.max_outstanding_reads_and_atomics = 1}}, [](Peer& client) {
    client.post({client.read(0, 64, 8), client.fetch_and_add(8, 64, 1), client.read(16, 64, 8),
                 client.compare_and_swap(24, 64, 1, 5), client.read(32, 64, 8)});
    for (int i = 0; i < 5; ++i) client.next_completion();
    EXPECT_EQ(client.block().load(0), 0U);
    EXPECT_EQ(client.block().load(8), 0U);
    EXPECT_EQ(client.block().load(16), 1U);
    EXPECT_EQ(client.block().load(24), 1U);
    EXPECT_EQ(client.block().load(32), 5U);
  });
}

// Posts the permitted number of READs, one more, and a WRITE. When the WRITE starts, at least one
// of the first READs has completed, so not all of them can have seen it.
void expect_limit(Peer& client, std::uint32_t limit) {
  constexpr std::uint32_t size_bytes = 64;
  if (limit + 2 > client.options.max_send_requests) return;
  client.block().write(4096, pattern(size_bytes));
  std::vector<WorkRequest> chain;
  for (std::uint32_t i = 0; i <= limit; ++i) {
    chain.push_back(client.read(i * size_bytes, 0, size_bytes));
  }
  chain.push_back(client.write(4096, 0, size_bytes));
  client.post(chain);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
  }
  bool one_is_old = false;
  for (std::uint32_t i = 0; i < limit; ++i) {
    const auto data = read_bytes(client.block(), i * size_bytes, size_bytes);
    one_is_old = one_is_old || data == std::vector<std::byte>(size_bytes);
  }
  EXPECT_TRUE(one_is_old);
}

TEST_P(QueueLimitsTest, SmallLimitIsKept) {
  run_pairs({.queue_pair = {.max_outstanding_reads_and_atomics = 2}}, [](Peer& client) {
    expect_limit(client,
                 std::min(2U, client.site->device.attributes().max_outstanding_reads_and_atomics));
  });
}

TEST_P(QueueLimitsTest, LimitOfTheDeviceCapsWhatIsAskedFor) {
  run_pairs({.queue_pair = {.max_outstanding_reads_and_atomics = 100'000}}, [](Peer& client) {
    expect_limit(client, client.site->device.attributes().max_outstanding_reads_and_atomics);
  });
}

// -------------------------------------------------------------------------------------------------
// Limits of completion queues and of the device

// Connects to a listener that does not answer, so that there is an error for any options.
std::optional<ErrorCode> error_of_connecting(Site& site, const QueuePairOptions& options) {
  const auto listener = require(site.device.listen(1));
  return error_of(
      site.device.connect({site.host.name(), 1}, options, {}, site.host.now_ns() + millisecond_ns));
}

TEST_P(QueueLimitsTest, CompletionQueueMustHoldAll) {
  run_alone([](Host& host) {
    Site site(host);
    Link link(site, {.max_send_requests = 8, .max_receive_requests = 8});
    const auto seven = site.make_completion_queue(7);
    const auto fifteen = site.make_completion_queue(15);

    QueuePairOptions options = link.options;
    EXPECT_EQ(error_of_connecting(site, options), ErrorCode::unreachable) << "these are valid";
    options.send_completions = seven.get();
    EXPECT_EQ(error_of_connecting(site, options), ErrorCode::invalid_argument);
    options = link.options;
    options.receive_completions = seven.get();
    EXPECT_EQ(error_of_connecting(site, options), ErrorCode::invalid_argument);
    options.send_completions = fifteen.get();
    options.receive_completions = fifteen.get();
    EXPECT_EQ(error_of_connecting(site, options), ErrorCode::invalid_argument);
  });
}

TEST_P(QueueLimitsTest, CompletionQueueMustHoldAllOfSeveral) {
  run_pairs({}, [](Peer& client) {
    QueuePairOptions options = client.options;
    options.max_send_requests = 1;
    options.max_receive_requests = 1;
    EXPECT_EQ(error_of_connecting(*client.site, options), ErrorCode::invalid_argument);
  });
}

TEST_P(QueueLimitsTest, DeviceLimitsAreKept) {
  run_alone([](Host& host) {
    Site site(host);
    const DeviceAttributes& device = site.device.attributes();
    const Link link(site, {});

    QueuePairOptions options = link.options;
    options.max_send_requests = device.max_queue_requests + 1;
    EXPECT_EQ(error_of_connecting(site, options), ErrorCode::invalid_argument);
    options = link.options;
    options.max_receive_requests = device.max_queue_requests + 1;
    EXPECT_EQ(error_of_connecting(site, options), ErrorCode::invalid_argument);
    options = link.options;
    options.max_inline_bytes = device.max_inline_bytes + 1;
    EXPECT_EQ(error_of_connecting(site, options), ErrorCode::invalid_argument);

    EXPECT_EQ(error_of(site.device.create_completion_queue(0)), ErrorCode::invalid_argument);
    EXPECT_EQ(error_of(site.device.create_completion_queue(device.max_completions + 1)),
              ErrorCode::invalid_argument);
  });
}

// Lengths are 32-bit numbers; a device that accepts all of them refuses nothing.
TEST_P(QueueLimitsTest, MessageOverTheDevicesLimitIsRefused) {
  run_pairs({}, [](Peer& client) {
    const std::uint64_t too_long =
        std::uint64_t{client.host.device(0).attributes().max_message_bytes} + 1;
    if (too_long > std::numeric_limits<std::uint32_t>::max()) return;
    const auto length_bytes = static_cast<std::uint32_t>(too_long);
    for (const WorkRequest& request :
         {client.read(0, 0, length_bytes), client.write(0, 0, length_bytes),
          client.send(0, length_bytes)}) {
      EXPECT_EQ(error_of_posting(client, request), ErrorCode::invalid_argument);
    }
    client.succeed(client.read(0, 0, 8));
  });
}

TEST_P(QueueLimitsTest, QueuePairNeedsItsParts) {
  run_alone([](Host& host) {
    Site site(host);
    const Link link(site, {});
    QueuePairOptions options = link.options;
    options.protection_domain = nullptr;
    EXPECT_EQ(error_of_connecting(site, options), ErrorCode::invalid_argument);
    options = link.options;
    options.send_completions = nullptr;
    EXPECT_EQ(error_of_connecting(site, options), ErrorCode::invalid_argument);
    options = link.options;
    options.receive_completions = nullptr;
    EXPECT_EQ(error_of_connecting(site, options), ErrorCode::invalid_argument);
  });
}

// A domain that no fabric created.
class ForeignDomain final : public ProtectionDomain {
 public:
  Result<std::unique_ptr<MemoryRegion>> register_memory(std::shared_ptr<MemoryBlock>, std::uint64_t,
                                                        std::uint64_t, Access) override {
    return make_error(ErrorCode::unsupported, "there is nothing behind it");
  }
};

class ForeignQueue final : public CompletionQueue {
 public:
  std::size_t poll(std::span<WorkCompletion>) override { return 0; }
  bool wait(std::uint64_t) override { return false; }
};

TEST_P(QueueLimitsTest, QueuePairNeedsPartsOfTheFabric) {
  run_alone([](Host& host) {
    Site site(host);
    const Link link(site, {});
    ForeignDomain domain;
    ForeignQueue queue;
    QueuePairOptions options = link.options;
    options.protection_domain = &domain;
    EXPECT_EQ(error_of_connecting(site, options), ErrorCode::invalid_argument);
    options = link.options;
    options.send_completions = &queue;
    EXPECT_EQ(error_of_connecting(site, options), ErrorCode::invalid_argument);
    options = link.options;
    options.receive_completions = &queue;
    EXPECT_EQ(error_of_connecting(site, options), ErrorCode::invalid_argument);
  });
}

}  // namespace
}  // namespace falafel::conformance
