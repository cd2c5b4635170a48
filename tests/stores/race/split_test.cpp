// Subtables are split while clients go on, also those whose directory is old.
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

StoreOptions growing_store(const Safeguards& safeguards) {
  StoreOptions store;
  store.options.safeguards = safeguards;
  store.options.groups_per_subtable = 2;
  store.options.slots_per_bucket = 2;
  store.options.initial_depth = 0;
  store.options.most_depth = 6;
  return store;
}

std::string key_of(int number) { return "key " + std::to_string(number); }

void store_keys(Client& client, int count) {
  for (int number = 0; number < count; ++number) {
    ASSERT_EQ(client.set(bytes_of(key_of(number)), bytes_of(std::to_string(number))).answer,
              Answer::stored)
        << number;
  }
}

void find_keys(Client& client, int count) {
  for (int number = 0; number < count; ++number) {
    EXPECT_EQ(text_of(client.get(bytes_of(key_of(number))).value), std::to_string(number));
  }
}

std::uint64_t depth_of(const race::NodeInspection& node) {
  return static_cast<std::uint64_t>(node.memory[race::Geometry::depth_offset]);
}

TEST(Split, MakesRoomForMoreKeys) {
  for (const Safeguards& safeguards : {Safeguards::published(), Safeguards::hardened()}) {
    const StoreRun run = run_client(growing_store(safeguards), [](fabric::Host&, Client& client) {
      store_keys(client, 100);
      find_keys(client, 100);
      EXPECT_GT(client.statistics().splits, 5U);
    });
    EXPECT_EQ(describe(run), "");
    EXPECT_GE(depth_of(run.server), 3U);
  }
}

TEST(Split, IsNoticedByAClientWithAnOldDirectory) {
  for (const Safeguards& safeguards : {Safeguards::published(), Safeguards::hardened()}) {
    TestStore store(growing_store(safeguards));
    bool is_stored = false;
    int connected = 0;
    store.add_client([&](fabric::Host& host, Client& client) {
      ++connected;
      while (connected < 2) host.sleep_until(host.now_ns() + microsecond_ns);
      store_keys(client, 50);
      is_stored = true;
    });
    store.add_client([&](fabric::Host& host, Client& client) {
      ++connected;
      while (!is_stored) host.sleep_until(host.now_ns() + microsecond_ns);
      find_keys(client, 50);
      EXPECT_EQ(client.statistics().splits, 0U);
      EXPECT_GT(client.statistics().directory_reads, 0U);
      EXPECT_EQ(client.set(bytes_of(key_of(7)), bytes_of("7")).answer, Answer::stored);
      EXPECT_EQ(client.remove(bytes_of(key_of(8))).answer, Answer::deleted);
    });
    EXPECT_EQ(describe(store.run()), "");
  }
}

TEST(Split, EndsAtTheLargestDepth) {
  StoreOptions store = growing_store(Safeguards::hardened());
  store.options.most_depth = 2;
  const StoreRun run = run_client(store, [](fabric::Host&, Client& client) {
    Answer answer = Answer::stored;
    int stored = 0;
    while (answer == Answer::stored && stored < 200) {
      answer = client.set(bytes_of(key_of(stored)), bytes_of(std::to_string(stored))).answer;
      stored += answer == Answer::stored ? 1 : 0;
    }
    EXPECT_EQ(answer, Answer::table_full);
    find_keys(client, stored);
    EXPECT_LE(client.statistics().splits, 3U);
  });
  EXPECT_EQ(describe(run), "");
  EXPECT_EQ(depth_of(run.server), 2U);
}

}  // namespace
}  // namespace falafel::race_test
