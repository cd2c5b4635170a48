// Atomics are atomic with respect to other atomics of the same device, and with respect to
// processors only if the device says so.
#include <cstdint>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(AtomicsTest);

TEST_P(AtomicsTest, SwapReplacesTheWordThatIsExpected) {
  run_pairs({}, [](Peer& client) {
    client.succeed(client.compare_and_swap(64, 8, 0, 42));
    EXPECT_EQ(client.block().load(64), 0U);
    EXPECT_EQ(client.fetch_word(8), 42U);
    client.succeed(client.compare_and_swap(64, 8, 42, 43));
    EXPECT_EQ(client.block().load(64), 42U);
    EXPECT_EQ(client.fetch_word(8), 43U);
    EXPECT_EQ(client.fetch_word(0), 0U);
    EXPECT_EQ(client.fetch_word(16), 0U);
  });
}

TEST_P(AtomicsTest, SwapLeavesAnotherWordAsItIs) {
  run_pairs({}, [](Peer& client) {
    client.succeed(client.compare_and_swap(64, 0, 0, 42));
    client.succeed(client.compare_and_swap(64, 0, 41, 43));
    EXPECT_EQ(client.block().load(64), 42U);
    EXPECT_EQ(client.fetch_word(0), 42U);
  });
}

TEST_P(AtomicsTest, FetchAndAddWrapsAround) {
  run_pairs({}, [](Peer& client) {
    client.succeed(client.fetch_and_add(64, 0, ~std::uint64_t{0}));
    EXPECT_EQ(client.block().load(64), 0U);
    client.succeed(client.fetch_and_add(64, 0, 3));
    EXPECT_EQ(client.block().load(64), ~std::uint64_t{0});
    EXPECT_EQ(client.fetch_word(0), 2U);
  });
}

// An atomic takes effect for all observers by the time it completes.
TEST_P(AtomicsTest, EffectIsVisibleToTheProcessorOnCompletion) {
  run_pairs(
      {},
      [](Peer& client) {
        client.succeed(client.fetch_and_add(64, 0, 7));
        client.channel.tell();
      },
      [](Peer& server) {
        server.channel.hear();
        EXPECT_EQ(server.block().load(0), 7U);
      });
}

TEST_P(AtomicsTest, AdditionsOfSeveralClientsAddUp) {
  constexpr std::uint64_t rounds = 6;
  run_pairs(
      {.client_count = 3},
      [](Peer& client) {
        std::uint64_t previous = 0;
        for (std::uint64_t i = 0; i < rounds; ++i) {
          client.succeed(client.fetch_and_add(64, 0, 1));
          const std::uint64_t found = client.block().load(64);
          EXPECT_TRUE(i == 0 || found > previous) << found << " after " << previous;
          previous = found;
        }
      },
      nothing, [](Site&, Memory& memory) { EXPECT_EQ(memory.block->load(0), 3 * rounds); });
}

TEST_P(AtomicsTest, AdditionsInFlightTogetherAddUp) {
  constexpr std::uint64_t chain_length = 8;
  run_pairs(
      {.client_count = 2},
      [](Peer& client) {
        std::vector<WorkRequest> chain;
        for (std::uint64_t i = 0; i < chain_length; ++i) {
          chain.push_back(client.fetch_and_add(64 + i * word_bytes, 0, 1));
          chain.back().signalled = i + 1 == chain_length;
        }
        client.post(chain);
        EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
      },
      nothing, [](Site&, Memory& memory) { EXPECT_EQ(memory.block->load(0), 2 * chain_length); });
}

constexpr std::uint64_t lock_offset = 0;
constexpr std::uint64_t counter_offset = 8;

void add_under_lock(Peer& client) {
  const bool locked = wait_until(client.host, [&] {
    client.succeed(client.compare_and_swap(64, lock_offset, 0, client.index + 1));
    if (client.block().load(64) == 0) return true;
    sleep(client.host, 20 * microsecond_ns);
    return false;
  });
  EXPECT_TRUE(locked);
  client.block().store(128, client.fetch_word(counter_offset) + 1);
  client.post({client.write(128, counter_offset, word_bytes),
               client.compare_and_swap(64, lock_offset, client.index + 1, 0)});
  EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
  EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
  EXPECT_EQ(client.block().load(64), client.index + 1);
}

TEST_P(AtomicsTest, LockOfSwapsExcludes) {
  run_pairs(
      {.client_count = 3},
      [](Peer& client) {
        for (int i = 0; i < 3; ++i) add_under_lock(client);
      },
      nothing, [](Site&, Memory& memory) { EXPECT_EQ(memory.block->load(counter_offset), 9U); });
}

// A server changes words in this way if its clients change them too.
TEST_P(AtomicsTest, HoldAgainstTheHostsOwnThroughTheSameDevice) {
  constexpr std::uint64_t rounds = 6;
  run_pairs(
      {},
      [](Peer& client) {
        for (std::uint64_t i = 0; i < rounds; ++i) client.succeed(client.fetch_and_add(64, 0, 1));
      },
      [](Peer& server) {
        Loopback loopback = connect_to_itself(*server.site);
        WorkRequest request = server.fetch_and_add(64, 0, 1);
        request.remote.key = server.memory->region->remote_key();
        for (std::uint64_t i = 0; i < rounds; ++i) {
          EXPECT_EQ(loopback.near.execute(request).status, CompletionStatus::success);
        }
      },
      [](Site&, Memory& memory) { EXPECT_EQ(memory.block->load(0), 2 * rounds); });
}

bool is_global(const Peer& peer) {
  return peer.site->device.attributes().atomic_capability == AtomicCapability::global;
}

void add_by_processor(Peer& server) {
  const bool added = wait_until(server.host, [&] {
    const std::uint64_t found = server.block().load(0);
    return server.block().compare_and_swap(0, found, found + 1) == found;
  });
  EXPECT_TRUE(added);
}

TEST_P(AtomicsTest, HoldAgainstTheProcessorsIfTheDeviceSaysSo) {
  constexpr std::uint64_t rounds = 8;
  run_pairs(
      {},
      [](Peer& client) {
        for (std::uint64_t i = 0; i < rounds; ++i) client.succeed(client.fetch_and_add(64, 0, 1));
        client.channel.tell();
      },
      [](Peer& server) {
        const std::uint64_t own_rounds = is_global(server) ? rounds : 0;
        for (std::uint64_t i = 0; i < own_rounds; ++i) add_by_processor(server);
        server.channel.hear();
        EXPECT_EQ(server.block().load(0), rounds + own_rounds);
      });
}

TEST_P(AtomicsTest, LoseNoStoreOfTheProcessorIfTheDeviceSaysSo) {
  constexpr std::uint64_t mark = std::uint64_t{1} << 32;
  run_pairs(
      {},
      [](Peer& client) {
        for (int i = 0; i < 8; ++i) client.succeed(client.fetch_and_add(64, 0, 1));
        client.channel.tell();
      },
      [](Peer& server) {
        sleep(server.host, server.host.random(5 * microsecond_ns));
        server.block().store(0, mark);
        server.channel.hear();
        const bool lost = server.block().load(0) / mark == 0;
        EXPECT_FALSE(lost && is_global(server));
      });
}

TEST_P(AtomicsTest, MisalignedIsRefused) {
  run_pairs({}, [](Peer& client) {
    for (const WorkRequest& request :
         {client.compare_and_swap(64, 4, 0, 1), client.fetch_and_add(64, 9, 1)}) {
      EXPECT_EQ(error_of(client.queue_pair->post_send({&request, 1})), ErrorCode::invalid_argument);
    }
    EXPECT_EQ(client.fetch(0, 24), std::vector<std::byte>(24));
  });
}

TEST_P(AtomicsTest, LengthOtherThanAWordIsRefused) {
  run_pairs({}, [](Peer& client) {
    for (const std::uint32_t length_bytes : {0U, 4U, 16U}) {
      WorkRequest request = client.fetch_and_add(64, 0, 1);
      request.length_bytes = length_bytes;
      EXPECT_EQ(error_of(client.queue_pair->post_send({&request, 1})), ErrorCode::invalid_argument);
    }
    EXPECT_EQ(client.fetch_word(0), 0U);
  });
}

}  // namespace
}  // namespace falafel::conformance
