// Interleavings in which the published protocol goes wrong, and what prevents them
// (docs/stores/nessie.md). Node 1 runs the slow operation. Node 0 stops it in the middle and acts
// in the meantime. Whether it stops in the right place depends on the schedule, so the tests search
// for one that fits.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "stores/nessie/hashing.h"
#include "tests/stores/nessie/bytes.h"
#include "tests/stores/nessie/cluster.h"

namespace falafel::nessie_test {
namespace {

using nessie::Answer;
using nessie::Bytes;
using nessie::Candidates;
using nessie::Client;
using nessie::Options;
using nessie::Slot;

constexpr std::uint32_t two_nodes = 2;

Options tiny_options(std::uint32_t ways) {
  Options options = small_options();
  options.index_entries = 3;
  options.ways = ways;
  options.cache_entries = 0;
  options.expiration_ns = 1'000'000 * microsecond_ns;
  return options;
}

// A key whose candidates satisfy the condition, and which is none of `others`.
Bytes find_key(const Options& options, const std::vector<Bytes>& others,
               const std::function<bool(const Candidates&)>& fits) {
  for (int number = 0; number < 100'000; ++number) {
    Bytes key = bytes_of(std::to_string(number));
    const Candidates candidates = nessie::candidates_of(key, two_nodes, options);
    if (candidates.size() == options.ways && fits(candidates) &&
        std::ranges::find(others, key) == others.end()) {
      return key;
    }
  }
  ADD_FAILURE() << "no such key";
  return {};
}

// The slow operation of node 1, as node 0 sees it.
class SlowOperation {
 public:
  explicit SlowOperation(TestCluster& cluster) : cluster_(cluster) {}

  // On node 1. `may_start` is set by node 0.
  Answer run(fabric::Host& host, const Client& client, const std::function<Answer()>& operation) {
    while (!may_start) host.sleep_until(host.now_ns() + microsecond_ns);
    client_ = &client;
    const Answer answer = operation();
    client_ = nullptr;
    has_ended_ = true;
    return answer;
  }

  // On node 0: stops node 1 when it has posted this number of READs of ITEs, while its device goes
  // on.
  void stop_at(fabric::Host& host, std::uint64_t index_reads) {
    while (!has_ended_ && posted() < index_reads) host.sleep_until(host.now_ns() + 1);
    cluster_.simulation().pause(TestCluster::name(1), pause_ns);
    is_as_planned &= !has_ended_ && posted() == index_reads;
    // Requests in flight arrive.
    host.sleep_until(host.now_ns() + pause_ns / 4);
  }

  bool may_start = false;
  bool is_as_planned = true;

 private:
  static constexpr std::uint64_t pause_ns = 500 * microsecond_ns;

  std::uint64_t posted() const {
    return client_ == nullptr ? 0 : client_->statistics().index_reads;
  }

  TestCluster& cluster_;
  const Client* client_ = nullptr;
  bool has_ended_ = false;
};

// The answer of the first schedule that goes as planned.
Answer search(const std::function<std::optional<Answer>(std::uint64_t seed)>& try_seed) {
  constexpr std::uint64_t most_seeds = 1'000;
  for (std::uint64_t seed = 1; seed <= most_seeds; ++seed) {
    if (const auto answer = try_seed(seed)) return *answer;
  }
  ADD_FAILURE() << "no schedule goes as planned";
  return Answer::unknown_outcome;
}

// -------------------------------------------------------------------------------------------------
// A key moves away from a GET twice, and the slots look as before.

struct MovingKeys {
  explicit MovingKeys(const Options& options)
      : key(find_key(options, {}, [](const Candidates&) { return true; })),
        slots(nessie::candidates_of(key, two_nodes, options)),
        first(find_key(options, {key}, [&](const auto& own) { return own[0] == slots[0]; })),
        filler(find_key(options, {key, first},
                        [&](const auto& own) { return !slots.contains(own[0]); })),
        third(nessie::candidates_of(filler, two_nodes, options)[0]),
        pusher(find_key(options, {key, first, filler},
                        [&](const auto& own) { return own[0] == slots[1] && own[1] == third; })),
        puller(find_key(options, {key, first, filler, pusher},
                        [&](const auto& own) { return own[0] == slots[0] && own[1] == third; })) {}

  Bytes key;
  Candidates slots;  // of the key
  Bytes first;       // takes the key's first slot
  Bytes filler;      // takes a third slot
  Slot third;
  Bytes pusher;  // moves the key from its second slot to its first one
  Bytes puller;  // and back
};

void move_twice(const MovingKeys& keys, fabric::Host& host, Client& client, SlowOperation& get) {
  get.stop_at(host, 1);  // it reads the first slot
  EXPECT_EQ(client.put(keys.pusher, {}), Answer::stored);
  get.stop_at(host, 3);  // it reads the second slot for the second time
  EXPECT_EQ(client.remove(keys.pusher), Answer::deleted);
  EXPECT_EQ(client.put(keys.puller, {}), Answer::stored);
  EXPECT_EQ(client.remove(keys.puller), Answer::deleted);
  EXPECT_EQ(client.statistics().migrations, 2U);
}

std::optional<Answer> get_while_the_key_moves_twice(nessie::EmptyWord emptied, std::uint64_t seed) {
  ClusterOptions options{.options = tiny_options(2), .nodes = two_nodes, .seed = seed};
  options.options.emptied = emptied;
  const MovingKeys keys(options.options);
  TestCluster cluster(options);
  SlowOperation get(cluster);
  Answer answer = Answer::unknown_outcome;
  cluster.run([&](std::uint32_t node, fabric::Host& host, Client& client) {
    if (node == 1) {
      answer = get.run(host, client, [&] { return client.get(keys.key).answer; });
      return;
    }
    for (const Bytes& key : {keys.first, keys.key, keys.filler}) {
      EXPECT_EQ(client.put(key, {}), Answer::stored);
    }
    EXPECT_EQ(client.remove(keys.first), Answer::deleted);
    get.may_start = true;
    move_twice(keys, host, client, get);
  });
  EXPECT_EQ(cluster.problems(), "");
  return get.is_as_planned ? std::optional(answer) : std::nullopt;
}

TEST(NessieFlaws, AGetMissesAKeyThatMovesTwiceIfEmptySlotsLookAlike) {
  const auto run = [](nessie::EmptyWord emptied) {
    return search([=](auto seed) { return get_while_the_key_moves_twice(emptied, seed); });
  };
  EXPECT_EQ(run(nessie::EmptyWord::constant), Answer::not_found);
  EXPECT_EQ(run(nessie::EmptyWord::keeps_dte), Answer::busy);
}

// -------------------------------------------------------------------------------------------------
// A PUT takes an empty slot, removes the older entry of its key, and then gives up.

std::optional<Answer> get_after_a_put_gave_up(bool whole_forward_pass, std::uint64_t seed) {
  ClusterOptions options{.options = tiny_options(3), .nodes = two_nodes, .seed = seed};
  options.options.abort = nessie::Abort::restore;
  options.options.safeguards.whole_forward_pass = whole_forward_pass;
  const Bytes key = find_key(options.options, {}, [](const Candidates&) { return true; });
  const Candidates slots = nessie::candidates_of(key, two_nodes, options.options);
  const Bytes first =
      find_key(options.options, {key}, [&](const auto& own) { return own[0] == slots[0]; });
  const Bytes third =
      find_key(options.options, {key, first}, [&](const auto& own) { return own[0] == slots[2]; });
  TestCluster cluster(options);
  SlowOperation put(cluster);
  Answer answer = Answer::busy;
  cluster.run([&](std::uint32_t node, fabric::Host& host, Client& client) {
    if (node == 1) {
      const Answer of_put = put.run(host, client, [&] { return client.put(key, bytes_of("new")); });
      put.is_as_planned &= of_put != Answer::stored;
      answer = client.get(key).answer;
      return;
    }
    EXPECT_EQ(client.put(first, {}), Answer::stored);
    EXPECT_EQ(client.put(key, bytes_of("old")), Answer::stored);
    EXPECT_EQ(client.remove(first), Answer::deleted);
    put.may_start = true;
    put.stop_at(host, 3);  // it reads the third slot
    EXPECT_EQ(client.put(third, {}), Answer::stored);
  });
  EXPECT_EQ(cluster.problems(), "");
  return put.is_as_planned ? std::optional(answer) : std::nullopt;
}

TEST(NessieFlaws, APutThatGivesUpHasRemovedItsKey) {
  const auto run = [](bool whole_forward_pass) {
    return search([=](auto seed) { return get_after_a_put_gave_up(whole_forward_pass, seed); });
  };
  EXPECT_EQ(run(false), Answer::not_found);
  EXPECT_EQ(run(true), Answer::found);
}

// -------------------------------------------------------------------------------------------------
// A PUT that gives up leaves its DTE, and no later PUT of the key succeeds.

std::optional<Answer> put_after_a_put_gave_up(nessie::Abort abort, std::uint64_t seed) {
  ClusterOptions options{.options = tiny_options(3), .nodes = two_nodes, .seed = seed};
  options.options.abort = abort;
  const Bytes key = find_key(options.options, {}, [](const Candidates&) { return true; });
  const Candidates slots = nessie::candidates_of(key, two_nodes, options.options);
  const Bytes third =
      find_key(options.options, {key}, [&](const auto& own) { return own[0] == slots[2]; });
  TestCluster cluster(options);
  SlowOperation put(cluster);
  Answer answer = Answer::busy;
  cluster.run([&](std::uint32_t node, fabric::Host& host, Client& client) {
    if (node == 0) {
      put.may_start = true;
      put.stop_at(host, 3);  // it reads the third slot
      EXPECT_EQ(client.put(third, {}), Answer::stored);
      return;
    }
    put.is_as_planned &= put.run(host, client, [&] { return client.put(key, {}); }) == Answer::busy;
    for (int attempt = 0; attempt < 20 && answer == Answer::busy; ++attempt) {
      host.sleep_until(host.now_ns() + 100 * microsecond_ns);
      answer = client.put(key, {});
    }
  });
  return put.is_as_planned ? std::optional(answer) : std::nullopt;
}

TEST(NessieFlaws, APutThatGivesUpBlocksItsKey) {
  const auto run = [](nessie::Abort abort) {
    return search([=](auto seed) { return put_after_a_put_gave_up(abort, seed); });
  };
  EXPECT_EQ(run(nessie::Abort::leave), Answer::busy);
  EXPECT_EQ(run(nessie::Abort::restore), Answer::stored);
}

}  // namespace
}  // namespace falafel::nessie_test
