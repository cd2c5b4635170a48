// Searches in a chain with keys that change constantly: a miss and an insertion complete although
// another key of the chain is overwritten continuously.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "tests/engine/planted.h"
#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

constexpr std::uint64_t hot_home = 20;
constexpr int hot_chain_length = 8;
constexpr int patience = 400;  // number of SETs per overwriting client

// Reads one entry and one container at a time, so that others certainly overwrite the hot key in
// between.
StoreOptions options_of_hot_chain(std::uint64_t entry_count) {
  StoreOptions options;
  options.server.geometry.table_entries = entry_count;
  options.server.cleanup_percent = 100;
  options.client.readahead = {.chunk_entries = 1, .containers = 1, .validation = false};
  return options;
}

struct HotChain {
  TestStore store;
  std::uint64_t entry_count;
  bool is_hot = false;
  bool is_over = false;
  int exhausted = 0;  // clients that have finished their SETs

  HotChain(const StoreOptions& options, fabric::FiberStackPool& stacks)
      : store(options, stacks), entry_count(options.server.geometry.table_entries) {}

  Bytes key(int number) const {
    return engine_test::key_at(hot_home % entry_count, number, entry_count);
  }

  void add_overwriter(int index) {
    store.add_client([this, index](fabric::Host& host, Client& client) {
      if (index == 0) {
        for (int number = 0; number < hot_chain_length; ++number) {
          EXPECT_EQ(client.set(key(number), bytes_of("cold")).answer, Answer::stored);
        }
        is_hot = true;
      }
      while (!is_hot) host.sleep_until(host.now_ns() + microsecond_ns);
      for (int round = 0; round < patience && !is_over; ++round) {
        EXPECT_EQ(client.set(key(0), bytes_of(fmt::format("hot {}", round))).answer,
                  Answer::stored);
      }
      if (!is_over) ++exhausted;
    });
  }

  void add_searcher(const ClientBody& body) {
    store.add_client([this, body](fabric::Host& host, Client& client) {
      while (!is_hot) host.sleep_until(host.now_ns() + microsecond_ns);
      body(host, client);
      is_over = true;
    });
  }

  void run() {
    const StoreRun result = store.run();
    EXPECT_TRUE(result.problems.empty()) << describe(result);
    EXPECT_EQ(exhausted, 0) << "the search did not end before the others did";
  }
};

// The first attempt restarts because a word has changed; the second one verifies that the key is
// the same.
constexpr std::uint64_t restarts_at_a_hot_key = 1;

// Runs `search` beside two clients that overwrite the first key of the chain.
void search_beside_a_hot_key(std::uint64_t entry_count,
                             const std::function<void(HotChain&, Client&)>& search) {
  for_each_seed(5, [&](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options = options_of_hot_chain(entry_count);
    options.seed = seed;
    HotChain chain(options, stacks);
    chain.add_overwriter(0);
    chain.add_overwriter(1);
    chain.add_searcher([&](fabric::Host&, Client& client) { search(chain, client); });
    chain.run();
  });
}

TEST(HotKey, DoesNotHoldUpAMissBehindIt) {
  search_beside_a_hot_key(64, [](HotChain& chain, Client& client) {
    for (int round = 0; round < 3; ++round) {
      const engine::GetResult result = client.get(chain.key(hot_chain_length));
      EXPECT_EQ(result.answer, Answer::not_found);
      EXPECT_LE(result.statistics.restarts, restarts_at_a_hot_key);
    }
  });
}

TEST(HotKey, DoesNotHoldUpAnInsertionBehindIt) {
  search_beside_a_hot_key(64, [](HotChain& chain, Client& client) {
    for (int number = hot_chain_length; number < hot_chain_length + 3; ++number) {
      const engine::SetResult result = client.set(chain.key(number), bytes_of("new"));
      EXPECT_EQ(result.answer, Answer::stored);
      EXPECT_LE(result.statistics.restarts, restarts_at_a_hot_key);
    }
  });
}

TEST(HotKey, DoesNotHoldUpASearchOfAFullTable) {
  search_beside_a_hot_key(hot_chain_length, [](HotChain& chain, Client& client) {
    EXPECT_EQ(client.get(chain.key(hot_chain_length)).answer, Answer::not_found);
    EXPECT_EQ(client.set(chain.key(hot_chain_length), {}).answer, Answer::table_full);
  });
}

// A malicious client gives one slot new words continuously. An operation that needs the slot to
// remain unchanged gives up after it has been restarting for server_timeout_ns, which here is at
// its second restart.

constexpr std::uint64_t most_restarts = 2;

struct Outcome {
  Answer answer;
  std::uint64_t restarts;
};
using AttackedOperation = std::function<Outcome(Client&)>;

template <typename Result>
Outcome outcome_of(const Result& result) {
  return {result.answer, result.statistics.restarts};
}

void attack(fabric::Host& host, HotChain& chain, std::uint64_t slot) {
  while (!chain.is_hot) host.sleep_until(host.now_ns() + microsecond_ns);
  Server& server = *chain.store.server();
  for (engine::Entry word = load_entry(server, slot); !chain.is_over;) {
    word = word.with_next_tag(30);
    store_entry(server, slot, word);
    host.sleep_until(host.now_ns() + 100);
  }
}

// Puts more into the table than the chain's first key.
using Setting = std::function<void(HotChain&, Client&)>;

// Returns whether the operation timed out. The first key of the chain is in the table; `operation`
// receives a client with a time-out of zero.
bool times_out(std::uint64_t slot, std::uint64_t seed, const Setting& set_up,
               const AttackedOperation& operation) {
  fabric::FiberStackPool stacks;
  StoreOptions options = options_of_hot_chain(64);
  options.seed = seed;
  HotChain chain(options, stacks);
  bool timed_out = false;
  chain.store.add_client([&](fabric::Host& host, Client& client) {
    engine::ClientOptions impatient = options.client;
    impatient.server_timeout_ns = 1;
    const auto attacked = Client::connect(host, chain.store.address(), impatient);
    ASSERT_TRUE(attacked);
    EXPECT_EQ(client.set(chain.key(0), bytes_of("old")).answer, Answer::stored);
    set_up(chain, client);
    chain.is_hot = true;
    host.sleep_until(host.now_ns() + 10 * microsecond_ns);
    const Outcome outcome = operation(**attacked);
    chain.is_over = true;
    EXPECT_LE(outcome.restarts, most_restarts);
    timed_out = outcome.answer == Answer::timed_out;
    host.sleep_until(host.now_ns() + 10 * microsecond_ns);
    client.remove(chain.key(1));  // which may be damaged
    if (!timed_out) return;
    EXPECT_EQ(client.get(chain.key(0)).value, bytes_of("old")) << "nothing was to be changed";
  });
  chain.store.add_host("attacker", [&](fabric::Host& host) { attack(host, chain, slot); });
  chain.run();
  return timed_out;
}

int count_time_outs(
    std::uint64_t slot, const AttackedOperation& operation,
    const Setting& set_up = [](HotChain&, Client&) {}) {
  int count = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    count += times_out(slot, seed, set_up, operation) ? 1 : 0;
  }
  return count;
}

TEST(HostileWords, OfItsOwnEntryDoNotHoldUpAChange) {
  const Bytes key = engine_test::key_at(hot_home, 0, 64);
  const auto remove = [&](Client& client) { return outcome_of(client.remove(key)); };
  EXPECT_GT(count_time_outs(hot_home, remove), 0);
}

TEST(HostileWords, AtTheEndOfItsChainDoNotHoldUpASearch) {
  const Bytes key = engine_test::key_at(hot_home, 1, 64);
  const auto get = [&](Client& client) { return outcome_of(client.get(key)); };
  EXPECT_GT(count_time_outs(hot_home + 1, get), 0);
}

// SET and DELETE of a key that may be in a damaged container remove that container first.
TEST(HostileWords, OfADamagedEntryDoNotHoldUpItsRemoval) {
  const Bytes key = engine_test::key_at(hot_home, 1, 64);
  const Setting damage = [&](HotChain& chain, Client& client) {
    EXPECT_EQ(client.set(key, bytes_of("damaged")).answer, Answer::stored);
    const std::uint64_t word = find_planted(*chain.store.server(), key)->container_offset + 8;
    fabric::MemoryBlock& memory = chain.store.server()->memory();
    memory.store(word, ~memory.load(word));
  };
  const auto set = [&](Client& client) { return outcome_of(client.set(key, bytes_of("new"))); };
  const auto remove = [&](Client& client) { return outcome_of(client.remove(key)); };
  EXPECT_GT(count_time_outs(hot_home + 1, set, damage), 0);
  EXPECT_GT(count_time_outs(hot_home + 1, remove, damage), 0);
}

}  // namespace
}  // namespace falafel::engine_test
