// Answers and costs of single operations.
#include <gtest/gtest.h>

#include <string>

#include "tests/stores/bytes.h"
#include "tests/stores/race/store.h"

namespace falafel::race_test {
namespace {

using race::Answer;
using race::Client;
using race::Safeguards;
using stores_test::bytes_of;
using stores_test::text_of;

StoreOptions with(const Safeguards& safeguards) {
  StoreOptions store;
  store.options.safeguards = safeguards;
  return store;
}

void store_read_and_delete(Client& client) {
  EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
  EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::stored);
  EXPECT_EQ(text_of(client.get(bytes_of("key")).value), "value");
  EXPECT_EQ(client.set(bytes_of("key"), {}).answer, Answer::stored);
  const auto empty = client.get(bytes_of("key"));
  EXPECT_EQ(empty.answer, Answer::found);
  EXPECT_TRUE(empty.value.empty());
  EXPECT_EQ(client.remove(bytes_of("key")).answer, Answer::deleted);
  EXPECT_EQ(client.remove(bytes_of("key")).answer, Answer::not_found);
  EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
}

TEST(Operations, StoreReadAndDelete) {
  for (const Safeguards& safeguards : {Safeguards::published(), Safeguards::hardened()}) {
    const StoreRun run = run_client(
        with(safeguards), [](fabric::Host&, Client& client) { store_read_and_delete(client); });
    EXPECT_EQ(describe(run), "");
    EXPECT_EQ(run.server.statistics.allocations, 1U);
  }
}

TEST(Operations, RefuseKeysAndValuesThatDoNotFit) {
  const StoreRun run = run_client(with(Safeguards::hardened()), [](fabric::Host&, Client& client) {
    EXPECT_EQ(client.get({}).answer, Answer::invalid_key);
    EXPECT_EQ(client.set({}, bytes_of("value")).answer, Answer::invalid_key);
    EXPECT_EQ(client.remove({}).answer, Answer::invalid_key);
    const std::string largest(512 - 24 - 3, 'v');
    EXPECT_EQ(client.set(bytes_of("key"), bytes_of(largest)).answer, Answer::stored);
    EXPECT_EQ(text_of(client.get(bytes_of("key")).value), largest);
    EXPECT_EQ(client.set(bytes_of("key"), bytes_of(largest + "v")).answer, Answer::value_too_large);
  });
  EXPECT_EQ(describe(run), "");
}

// Two doorbells for a GET, and the confirmation of a tentative insert.
TEST(Operations, CostRoundTrips) {
  for (const bool is_hardened : {false, true}) {
    const auto safeguards = is_hardened ? Safeguards::hardened() : Safeguards::published();
    const StoreRun run = run_client(with(safeguards), [&](fabric::Host&, Client& client) {
      client.set(bytes_of("first"), bytes_of("value"));  // requests the segment
      // Another READ of the headers confirms that a key is absent.
      const std::uint64_t absent = is_hardened ? 2 : 1;
      EXPECT_EQ(client.get(bytes_of("absent")).statistics.round_trips, absent);
      EXPECT_EQ(client.get(bytes_of("first")).statistics.round_trips, 2U);
      // Block and buckets, CAS, buckets again, the own block; and the confirmation.
      EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).statistics.round_trips,
                is_hardened ? 5U : 4U);
      EXPECT_EQ(client.set(bytes_of("key"), bytes_of("other")).statistics.round_trips, 3U);
      EXPECT_EQ(client.remove(bytes_of("key")).statistics.round_trips, 3U);
      EXPECT_EQ(client.remove(bytes_of("key")).statistics.round_trips, absent);
    });
    EXPECT_EQ(describe(run), "");
  }
}

TEST(Operations, FillTheTableAndTheHeap) {
  StoreOptions store = with(Safeguards::hardened());
  store.options.groups_per_subtable = 1;
  store.options.initial_depth = 0;
  store.options.slots_per_bucket = 1;
  store.options.most_depth = 0;
  const StoreRun full = run_client(store, [](fabric::Host&, Client& client) {
    int stored = 0;
    Answer answer = Answer::stored;
    for (int key = 0; answer == Answer::stored && key < 20; ++key) {
      answer = client.set(bytes_of("key " + std::to_string(key)), bytes_of("value")).answer;
      stored += answer == Answer::stored ? 1 : 0;
    }
    EXPECT_EQ(answer, Answer::table_full);
    EXPECT_GE(stored, 2);
    EXPECT_LE(stored, 3);
    EXPECT_EQ(text_of(client.get(bytes_of("key 0")).value), "value");
  });
  EXPECT_EQ(describe(full), "");

  StoreOptions small = with(Safeguards::hardened());
  small.options.heap_bytes = 16 << 10;
  const StoreRun exhausted = run_client(small, [](fabric::Host&, Client& client) {
    Answer answer = Answer::stored;
    for (int key = 0; answer == Answer::stored && key < 1'000; ++key) {
      answer = client.set(bytes_of("key " + std::to_string(key)), bytes_of("value")).answer;
    }
    EXPECT_EQ(answer, Answer::out_of_memory);
  });
  EXPECT_EQ(describe(exhausted), "");
  EXPECT_GT(exhausted.server.statistics.refused_allocations, 0U);
}

TEST(Operations, UseFreedBlocksAgainIfAskedTo) {
  StoreOptions store = with(Safeguards::hardened());
  store.options.block_reuse = race::BlockReuse::at_once;
  const StoreRun run = run_client(store, [](fabric::Host&, Client& client) {
    for (int round = 0; round < 500; ++round) {
      ASSERT_EQ(client.set(bytes_of("key"), bytes_of(std::to_string(round))).answer,
                Answer::stored);
    }
    EXPECT_EQ(text_of(client.get(bytes_of("key")).value), "499");
    EXPECT_EQ(client.statistics().allocations, 1U);
    EXPECT_GT(client.statistics().reused_blocks, 490U);
  });
  EXPECT_EQ(describe(run), "");
}

// As published, updates use up the heap.
TEST(Operations, UseNoFreedBlockAgainOtherwise) {
  const StoreRun run = run_client(with(Safeguards::published()), [](fabric::Host&, Client& client) {
    Answer answer = Answer::stored;
    std::uint64_t updates = 0;
    for (; answer == Answer::stored && updates < 10'000; ++updates) {
      answer = client.set(bytes_of("key"), bytes_of(std::to_string(updates))).answer;
    }
    EXPECT_EQ(answer, Answer::out_of_memory);
    EXPECT_GT(updates, 1'000U);
    EXPECT_EQ(client.statistics().reused_blocks, 0U);
  });
  EXPECT_EQ(describe(run), "");
}

TEST(Operations, TellThatTheNodeIsGone) {
  TestStore store(with(Safeguards::hardened()));
  store.add_client([&](fabric::Host&, Client& client) {
    EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::stored);
    store.stop_server();
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::disconnected);
  });
  EXPECT_EQ(describe(store.run()), "");
}

}  // namespace
}  // namespace falafel::race_test
