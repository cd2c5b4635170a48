// Subtables are split while clients go on, also those whose directory is old.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stores/race/hashing.h"
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

// The directory has entries for a subtable beyond the two that a split begins with.
TEST(Split, HidesNoKeyFromAClientWithADeeperDirectory) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    StoreOptions options = growing_store(Safeguards::hardened());
    options.seed = seed;
    const auto is_odd = [&](int number) {
      return race::hash_of(bytes_of(key_of(number)), *options.options.hash_seed).first % 2 == 1;
    };
    TestStore store(options);
    std::vector<int> stored;
    bool is_filled = false;
    store.add_client([&](fabric::Host&, Client& client) {
      std::uint64_t splits_of_even = 0;
      for (int number = 0; number < 100; ++number) {
        if (!is_odd(number)) client.set(bytes_of(key_of(number)), bytes_of("even"));
      }
      splits_of_even = client.statistics().splits;
      EXPECT_GE(splits_of_even, 3U);
      for (int number = 0; number < 100; ++number) {
        if (!is_odd(number)) continue;
        EXPECT_EQ(client.set(bytes_of(key_of(number)), bytes_of("odd")).answer, Answer::stored);
        stored.push_back(number);
      }
      EXPECT_GE(client.statistics().splits, splits_of_even + 2);
      is_filled = true;
    });
    store.add_client([&](fabric::Host& host, Client& client) {
      while (!is_filled) {
        for (std::size_t at = 0; at < stored.size(); ++at) {
          EXPECT_EQ(client.get(bytes_of(key_of(stored[at]))).answer, Answer::found) << stored[at];
        }
        host.sleep_until(host.now_ns() + microsecond_ns);
      }
    });
    EXPECT_EQ(describe(store.run()), "");
  }
}

// A key that moves at each split, and keys that make its subtable split and stay behind.
class MovingKey {
 public:
  static constexpr int most_depth = 6;

  explicit MovingKey(std::uint64_t hash_seed) : hash_seed_(hash_seed) {
    key_ = next(most_depth, (1U << most_depth) - 1);
  }
  std::string key() const { return key_; }
  // Three keys of its subtable of this depth.
  std::vector<std::string> others(int depth) {
    std::vector<std::string> keys;
    for (int count = 0; count < 3; ++count) keys.push_back(next(depth + 1, (1U << depth) - 1));
    return keys;
  }

 private:
  std::string next(int bits, std::uint64_t suffix) {
    while (true) {
      std::string key = key_of(number_++);
      const auto hash = race::hash_of(bytes_of(key), hash_seed_);
      if (hash.suffix(static_cast<std::uint64_t>(bits)) == suffix) return key;
    }
  }

  std::uint64_t hash_seed_;
  int number_ = 0;
  std::string key_;
};

// GETs of a key that moves, by a client whose READs are slow, that do not find it.
std::uint64_t misses(const Safeguards& safeguards, std::uint64_t seed) {
  StoreOptions options = growing_store(safeguards);
  options.options.groups_per_subtable = 1;
  options.options.slots_per_bucket = 1;
  options.options.most_depth = MovingKey::most_depth;
  options.simulation.longest_stall_ns = 500 * microsecond_ns;
  options.simulation.set_fault_rate(sim::FaultKind::late_packets, 20);
  options.seed = seed;
  MovingKey moving(*options.options.hash_seed);
  TestStore store(options);
  bool is_stored = false;
  bool is_over = false;
  std::uint64_t missed = 0;
  store.add_client([&](fabric::Host&, Client& client) {
    client.set(bytes_of(moving.key()), bytes_of("value"));
    is_stored = true;
    for (int depth = 0; depth < MovingKey::most_depth; ++depth) {
      for (const std::string& key : moving.others(depth)) client.set(bytes_of(key), bytes_of("v"));
    }
    is_over = true;
  });
  store.add_client([&](fabric::Host& host, Client& client) {
    while (!is_stored) host.sleep_until(host.now_ns() + microsecond_ns);
    while (!is_over) {
      missed += client.get(bytes_of(moving.key())).answer == Answer::not_found ? 1 : 0;
    }
  });
  EXPECT_EQ(describe(store.run()), "");
  return missed;
}

TEST(Split, HidesNoKeyFromAReadThatTakesItsHeaderEarly) {
  Safeguards without = Safeguards::hardened();
  without.absence_validation = false;
  std::uint64_t missed = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    EXPECT_EQ(misses(Safeguards::hardened(), seed), 0U);
    missed += misses(without, seed);
  }
  EXPECT_GT(missed, 0U);
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
