// Broken connections: the answers of operations when the server crashes, when the connection
// breaks, and when the server gives up on a silent client. In the last two cases, the store must
// lose nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::RegionState;

// Detects a crashed server after 2 ms.
StoreOptions impatient(std::uint64_t seed) {
  StoreOptions options;
  options.seed = seed;
  options.client.acknowledge_timeout_ns = millisecond_ns;
  options.client.retry_count = 1;
  return options;
}

void expect_disconnected(Client& client) {
  const Bytes key = bytes_of("key");
  EXPECT_EQ(client.get(key).answer, Answer::disconnected);
  EXPECT_EQ(client.set(key, {}).answer, Answer::disconnected);
  EXPECT_EQ(client.remove(key).answer, Answer::disconnected);
  EXPECT_FALSE(client.is_connected());
}

TEST(DeadServer, LeavesClientsDisconnected) {
  fabric::FiberStackPool stacks;
  TestStore store(impatient(1), stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    EXPECT_EQ(client.set(bytes_of("key"), {}).answer, Answer::stored);
    store.simulation().crash("server");
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::disconnected);
    expect_disconnected(client);
    EXPECT_LT(host.now_ns(), second_ns);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

using Harm = std::function<void(TestStore&)>;

// The answer of a SET if the failure occurs `steps` after its start, and whether the SET took
// effect.
struct HarmedSet {
  Answer answer = Answer::disconnected;
  bool is_through = false;  // before the failure
  bool took_effect = false;
  StoreRun run;
};

HarmedSet harm_set(const Harm& harm, std::uint64_t seed, std::uint64_t steps,
                   fabric::FiberStackPool& stacks) {
  HarmedSet harmed;
  bool is_done = false;
  TestStore store(impatient(seed), stacks);
  const Bytes key = bytes_of("key");
  store.add_client([&](fabric::Host& host, Client& client) {
    client.set(key, bytes_of("old"));
    bool is_harmed = false;
    const std::uint64_t harmed_ns = host.now_ns() + steps * 100;
    const fabric::FiberId fiber = host.spawn({.name = "harm"}, [&] {
      host.sleep_until(harmed_ns);
      is_harmed = true;
      harm(store);
    });
    harmed.answer = client.set(key, bytes_of("new")).answer;
    harmed.is_through = !is_harmed;
    host.join(fiber);
    expect_disconnected(client);
    is_done = true;
  });
  harmed.run = store.run();
  EXPECT_TRUE(is_done);
  const auto found = harmed.run.state.contents.find(key);
  harmed.took_effect = found != harmed.run.state.contents.end() && found->second == bytes_of("new");
  return harmed;
}

std::map<Answer, int> harm_set_at_every_step(const Harm& harm, bool server_lives) {
  fabric::FiberStackPool stacks;
  std::map<Answer, int> answers;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    int through = 0;
    for (std::uint64_t steps = 0; through < 5 && steps < 3'000; ++steps) {
      const HarmedSet harmed = harm_set(harm, seed, steps, stacks);
      const std::string where = fmt::format("seed {}, after {} steps", seed, steps);
      EXPECT_TRUE(harmed.run.problems.empty()) << where << ": " << describe(harmed.run);
      through = harmed.is_through ? through + 1 : 0;
      ++answers[harmed.answer];
      if (server_lives && harmed.answer != Answer::unknown_outcome) {
        EXPECT_EQ(harmed.took_effect, harmed.answer == Answer::stored) << where;
      }
      if (testing::Test::HasFailure()) return answers;
    }
    EXPECT_EQ(through, 5);
  }
  return answers;
}

void expect_honest(std::map<Answer, int>& answers) {
  EXPECT_GT(answers[Answer::stored], 0);
  EXPECT_GT(answers[Answer::disconnected], 0);
  EXPECT_GT(answers[Answer::unknown_outcome], 0);
  EXPECT_EQ(answers.size(), 3U) << "there is a fourth answer";
}

TEST(DeadServer, MakesTheOutcomeOfASetUnknownAtMost) {
  auto answers =
      harm_set_at_every_step([](TestStore& store) { store.simulation().crash("server"); }, false);
  expect_honest(answers);
}

TEST(BrokenConnection, MakesTheOutcomeOfASetUnknownAtMost) {
  auto answers = harm_set_at_every_step(
      [](TestStore& store) { store.simulation().break_connection("client 0"); }, true);
  expect_honest(answers);
}

TEST(BrokenConnection, EndsTheOperationsOfAllFibers) {
  fabric::FiberStackPool stacks;
  TestStore store(impatient(1), stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    std::vector<fabric::FiberId> fibers;
    int ended = 0;
    for (int number = 0; number < 20; ++number) {  // more than may be in flight at once
      fibers.push_back(host.spawn({.name = "operation"}, [&, number] {
        const Bytes key = bytes_of(fmt::format("key {}", number));
        Answer answer = Answer::stored;
        while (answer == Answer::stored) answer = client.set(key, key).answer;
        EXPECT_TRUE(answer == Answer::disconnected || answer == Answer::unknown_outcome)
            << to_string(answer);
        ++ended;
      }));
    }
    host.sleep_until(host.now_ns() + 100 * microsecond_ns);
    store.simulation().break_connection("client 0");
    for (const fabric::FiberId fiber : fibers) host.join(fiber);
    EXPECT_EQ(ended, 20);
    expect_disconnected(client);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

// Silent clients

constexpr std::uint64_t heartbeat_timeout_ns = 10 * millisecond_ns;

std::size_t granted_regions(TestStore& store) {
  return static_cast<std::size_t>(std::ranges::count(
      store.server()->inspect().regions, RegionState::granted, &engine::RegionInspection::state));
}

TEST(SilentClient, IsGivenUpAndConnectsAnew) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    StoreOptions options;
    options.seed = seed;
    options.server.heartbeat_timeout_ns = heartbeat_timeout_ns;
    options.client.hears_server_close = seed % 2 == 0;
    TestStore store(options, stacks);
    const Bytes key = bytes_of("key");
    store.add_client([&](fabric::Host& host, Client& client) {
      EXPECT_EQ(client.set(key, bytes_of("before")).answer, Answer::stored);
      store.simulation().pause("client 0", 3 * heartbeat_timeout_ns);
      const Answer answer = client.set(key, bytes_of("meanwhile")).answer;
      EXPECT_TRUE(answer == Answer::disconnected || answer == Answer::unknown_outcome ||
                  answer == Answer::stored)  // it was in flight, and its completion was waiting
          << to_string(answer);
      host.sleep_until(host.now_ns() + microsecond_ns);
      expect_disconnected(client);
      const auto next = store.connect(host);
      ASSERT_TRUE(next) << next.error().detail;
      EXPECT_EQ((*next)->set(key, bytes_of("after")).answer, Answer::stored);
      EXPECT_EQ((*next)->get(key).value, bytes_of("after"));
    });
    store.add_client([&](fabric::Host& host, Client& client) {
      EXPECT_EQ(client.set(bytes_of("other"), {}).answer, Answer::stored);
      host.sleep_until(host.now_ns() + 2 * heartbeat_timeout_ns);
      EXPECT_EQ(granted_regions(store), 1U) << "the silent client's region is not free";
      EXPECT_EQ(client.get(key).answer, Answer::found);
      EXPECT_EQ(client.set(bytes_of("other"), bytes_of("more")).answer, Answer::stored);
    });
    const StoreRun run = store.run();
    EXPECT_TRUE(run.problems.empty()) << describe(run);
    EXPECT_GE(run.inspection.statistics.clients_fenced, 1U);
    EXPECT_EQ(run.state.contents.at(key), bytes_of("after"));
  }
}

// Its own requests would tell it after seconds of retries.
TEST(SilentClient, HearsThatItWasGivenUp) {
  fabric::FiberStackPool stacks;
  for (const bool hears : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(seed);
      StoreOptions options;
      options.seed = seed;
      options.server.heartbeat_timeout_ns = heartbeat_timeout_ns;
      options.client.hears_server_close = hears;
      TestStore store(options, stacks);
      store.add_client([&](fabric::Host& host, Client& client) {
        store.simulation().pause("client 0", 3 * heartbeat_timeout_ns);
        host.sleep_until(host.now_ns() + 3 * heartbeat_timeout_ns);
        host.sleep_until(host.now_ns() + 2 * heartbeat_timeout_ns);
        EXPECT_EQ(client.is_connected(), !hears);
        EXPECT_LT(host.now_ns(), options.client.acknowledge_timeout_ns);
      });
      const StoreRun run = store.run();
      EXPECT_TRUE(run.problems.empty()) << describe(run);
    }
  }
}

// Without Safeguards::heartbeats, the server waits for a silent client indefinitely.
TEST(SilentClient, IsWaitedForWithoutHeartbeats) {
  fabric::FiberStackPool stacks;
  StoreOptions options;
  options.server.heartbeat_timeout_ns = heartbeat_timeout_ns;
  options.server.safeguards.heartbeats = false;
  options.client.safeguards.heartbeats = false;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    store.simulation().pause("client 0", 50 * heartbeat_timeout_ns);
    EXPECT_EQ(client.set(bytes_of("key"), {}).answer, Answer::stored);
    host.sleep_until(host.now_ns() + microsecond_ns);
    EXPECT_EQ(store.server()->inspect().statistics.clients_fenced, 0U);
    client.disconnect();
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

TEST(QuietClient, IsNotGivenUp) {
  fabric::FiberStackPool stacks;
  StoreOptions options;
  options.server.heartbeat_timeout_ns = heartbeat_timeout_ns;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    EXPECT_EQ(client.set(bytes_of("key"), {}).answer, Answer::stored);
    host.sleep_until(host.now_ns() + 50 * heartbeat_timeout_ns);
    EXPECT_EQ(store.server()->inspect().statistics.clients_fenced, 0U);
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::found);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

}  // namespace
}  // namespace falafel::engine_test
