// Waiting for a word of memory to change: what ends the wait, and what does not.
#include <cstdint>

#include "fabric/cooperative_cancellation.h"
#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(WordWaitsTest);

constexpr std::uint64_t block_bytes = 4096;

TEST_P(WordWaitsTest, AWordThatDiffersAlreadyEndsThemAtOnce) {
  run_alone([](Host& host) {
    const auto block = require(host.allocate_memory(block_bytes));
    block->store(8, 7);
    EXPECT_EQ(block->wait_until_changed(8, 6, never_ns), 7U);
    EXPECT_EQ(block->wait_until_changed(8, 6, 0), 7U) << "also after the deadline";
  });
}

TEST_P(WordWaitsTest, TheyLastUntilTheirDeadline) {
  run_alone([](Host& host) {
    const auto block = require(host.allocate_memory(block_bytes));
    block->store(8, 7);
    const std::uint64_t deadline_ns = host.now_ns() + millisecond_ns;
    EXPECT_EQ(block->wait_until_changed(8, 7, deadline_ns), 7U);
    EXPECT_GE(host.now_ns(), deadline_ns);
    EXPECT_EQ(block->wait_until_changed(8, 7, 0), 7U);
  });
}

// Waits for the word to change and returns it. The change must end the wait, not the deadline.
std::uint64_t await_change(Host& host, MemoryBlock& block, std::uint64_t offset,
                           std::uint64_t seen) {
  const std::uint64_t deadline_ns = host.now_ns() + patience_ns;
  const std::uint64_t found = block.wait_until_changed(offset, seen, deadline_ns);
  EXPECT_LT(host.now_ns(), deadline_ns);
  return found;
}

// Waits for word 0 of a new block to change, while `change` runs in another fiber.
std::uint64_t wait_while(Host& host, const std::function<void(MemoryBlock&)>& change) {
  const auto block = require(host.allocate_memory(block_bytes));
  const FiberId changing = spawn(host, [&] {
    sleep(host, host.random(millisecond_ns));
    change(*block);
  });
  const std::uint64_t found = await_change(host, *block, 0, 0);
  host.join(changing);
  return found;
}

TEST_P(WordWaitsTest, StoresOfOtherFibersEndThem) {
  run_alone([](Host& host) {
    EXPECT_EQ(wait_while(host, [](MemoryBlock& block) { block.store(0, 3); }), 3U);
    EXPECT_EQ(wait_while(host, [](MemoryBlock& block) { block.compare_and_swap(0, 0, 4); }), 4U);
    const auto found = wait_while(host, [](MemoryBlock& block) { block.write(3, pattern(40)); });
    EXPECT_NE(found, 0U) << "a part of the word is enough";
  });
}

TEST_P(WordWaitsTest, ChangesOfOtherWordsDoNotEndThem) {
  run_alone([](Host& host) {
    const auto block = require(host.allocate_memory(block_bytes));
    bool waits = true;
    const FiberId waiting = spawn(host, [&] {
      EXPECT_EQ(await_change(host, *block, 64, 0), 5U);
      waits = false;
    });
    for (int round = 0; round < 3; ++round) {
      block->store(56, 1 + block->load(56));
      block->store(72, 1 + block->load(72));
      block->store(64, 0);
      sleep(host, millisecond_ns);
      EXPECT_TRUE(waits);
    }
    block->store(64, 5);
    host.join(waiting);
  });
}

TEST_P(WordWaitsTest, AllWhoWaitForAWordAreWoken) {
  run_alone([](Host& host) {
    const auto block = require(host.allocate_memory(block_bytes));
    std::vector<FiberId> fibers;
    for (int fiber = 0; fiber < 3; ++fiber) {
      fibers.push_back(spawn(host, [&] { EXPECT_EQ(await_change(host, *block, 0, 0), 1U); }));
    }
    sleep(host, millisecond_ns);
    block->store(0, 1);
    for (const FiberId fiber : fibers) host.join(fiber);
  });
}

// Lets a fiber wait for a word of the server's memory, and the client change it.
void change_remotely(const WordWaitsTest& test, const PeerBody& change, std::uint64_t expected) {
  test.run_pairs({}, change, [expected](Peer& server) {
    EXPECT_EQ(await_change(server.host, server.block(), 64, 0), expected);
  });
}

TEST_P(WordWaitsTest, AWriteOfAPeerEndsThem) {
  change_remotely(
      *this,
      [](Peer& client) {
        client.block().store(0, 11);
        sleep(client.host, client.host.random(millisecond_ns));
        client.succeed(client.write(0, 64, 8));
      },
      11);
}

TEST_P(WordWaitsTest, AnAtomicOfAPeerEndsThem) {
  change_remotely(
      *this,
      [](Peer& client) {
        sleep(client.host, client.host.random(millisecond_ns));
        client.succeed(client.fetch_and_add(0, 64, 12));
      },
      12);
}

TEST_P(WordWaitsTest, AMessageEndsThem) {
  run_pairs(
      {},
      [](Peer& client) {
        client.block().store(0, 13);
        client.channel.hear();
        client.succeed(client.send(0, 8));
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(64), 8);
        server.channel.tell();
        EXPECT_EQ(await_change(server.host, server.block(), 64, 0), 13U);
        EXPECT_EQ(server.next_received().status, CompletionStatus::success);
      });
}

TEST_P(WordWaitsTest, TheDataOfAReadEndsThem) {
  run_pairs({}, [](Peer& client) {
    client.succeed(client.fetch_and_add(0, 64, 9));
    const FiberId reading = spawn(client.host, [&] { client.succeed(client.read(128, 64, 8)); });
    EXPECT_EQ(await_change(client.host, client.block(), 128, 0), 9U);
    client.host.join(reading);
  });
}

constexpr std::uint32_t transfer_bytes = 2048;

// Fills the first transfer_bytes of the block with the number.
void fill(MemoryBlock& block, std::uint64_t number) {
  for (std::uint64_t offset = 0; offset < transfer_bytes; offset += word_bytes) {
    block.store(offset, number);
  }
}

// Programs that poll on the last byte of a transfer need a device that promises the order.
TEST_P(WordWaitsTest, TheLastWordComesLastWhereWordsArePlacedInAddressOrder) {
  if (!capabilities().places_in_address_order) GTEST_SKIP();
  constexpr std::uint64_t rounds = 20;
  constexpr std::uint64_t last_word = transfer_bytes - word_bytes;
  run_pairs(
      {},
      [](Peer& client) {
        for (std::uint64_t round = 1; round <= rounds; ++round) {
          fill(client.block(), round);
          client.succeed(client.write(0, 0, transfer_bytes));
          client.channel.hear();
        }
      },
      [](Peer& server) {
        for (std::uint64_t round = 1; round <= rounds; ++round) {
          EXPECT_EQ(await_change(server.host, server.block(), last_word, round - 1), round);
          for (std::uint64_t offset = 0; offset < transfer_bytes; offset += word_bytes) {
            ASSERT_EQ(server.block().load(offset), round) << "at offset " << offset;
          }
          server.channel.tell();
        }
      });
}

// A READ that found the first word old may find later words new, not the other way round.
TEST_P(WordWaitsTest, AReadSamplesInAddressOrderWhereTheDeviceDoes) {
  if (!capabilities().places_in_address_order) GTEST_SKIP();
  constexpr std::uint64_t rounds = 20;
  run_pairs(
      {},
      [](Peer& client) {
        for (std::uint64_t round = 0; round < rounds; ++round) {
          client.succeed(client.read(0, 0, transfer_bytes));
          std::uint64_t previous = 0;
          for (std::uint64_t offset = 0; offset < transfer_bytes; offset += word_bytes) {
            const std::uint64_t found = client.block().load(offset);
            ASSERT_GE(found, previous) << "at offset " << offset;
            previous = found;
          }
        }
        client.channel.tell();
      },
      [](Peer& server) {
        // Descending, so that a word is never older than those behind it.
        for (std::uint64_t number = 1; number <= rounds; ++number) {
          for (std::uint64_t offset = transfer_bytes; offset > 0; offset -= word_bytes) {
            server.block().store(offset - word_bytes, number);
          }
          sleep(server.host, server.host.random(10 * microsecond_ns));
        }
        server.channel.hear();
      });
}

// A ring that a peer fills and the processor empties, as programs that poll memory have them.
TEST_P(WordWaitsTest, ARingOfManyChangesIsFollowed) {
  constexpr std::uint64_t rounds = 10;
  run_pairs(
      {},
      [](Peer& client) {
        for (std::uint64_t round = 1; round <= rounds; ++round) {
          client.block().store(0, round);
          client.succeed(client.write(0, 64, 8));
          EXPECT_EQ(await_change(client.host, client.block(), 128, round - 1), round);
        }
      },
      [](Peer& server) {
        for (std::uint64_t round = 1; round <= rounds; ++round) {
          EXPECT_EQ(await_change(server.host, server.block(), 64, round - 1), round);
          server.block().store(0, round);
          server.succeed(server.write(0, 128, 8));
        }
      });
}

TEST_P(WordWaitsTest, ACancelledFiberUnwinds) {
  run_alone([](Host& host) {
    const auto block = require(host.allocate_memory(block_bytes));
    bool waits = false;
    const FiberId waiting = spawn(host, [&] {
      waits = true;
      block->wait_until_changed(0, 0, never_ns);
      ADD_FAILURE() << "goes on after its end";
    });
    EXPECT_TRUE(wait_until(host, [&] { return waits; }));
    host.cancel(waiting);
    host.join(waiting);
    block->store(0, 1);  // nobody waits any more
  });
}

TEST_P(WordWaitsTest, ACancelledCooperativeFiberReturnsTheOldWord) {
  run_alone([](Host& host) {
    const auto block = require(host.allocate_memory(block_bytes));
    bool waits = false;
    bool ended = false;
    const FiberId waiting = spawn(host, [&] {
      const CooperativeCancellation cooperative(host);
      waits = true;
      EXPECT_EQ(block->wait_until_changed(0, 0, never_ns), 0U);
      ended = host.is_cancelled();
    });
    EXPECT_TRUE(wait_until(host, [&] { return waits; }));
    host.cancel(waiting);
    host.join(waiting);
    EXPECT_TRUE(ended);
  });
}

}  // namespace
}  // namespace falafel::conformance
