// Memory held by others, and full memory: no client starves while memory is available, and existing
// keys can always be overwritten.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "engine/layout/container.h"
#include "tests/engine/schedules.h"
#include "tests/engine/store.h"
#include "tools/scenarios/store/raw_client.h"

namespace falafel::engine_test {
namespace {

using engine::ControlMessage;
using engine::MessageKind;
using engine::RegionNeed;
using store_scenario::RawClient;

constexpr std::uint64_t sharing_timeout_ns = 10 * millisecond_ns;

Bytes shared_key(int number) { return bytes_of(fmt::format("key {}", number)); }

StoreOptions options_of_few_regions(std::uint64_t regions, std::uint64_t seed = 1) {
  StoreOptions options;
  options.seed = seed;
  options.server.heartbeat_timeout_ns = sharing_timeout_ns;
  options.server.geometry = {.table_entries = 64,
                             .region_bytes = 1'024,
                             .region_count = regions,
                             .mature_bytes = (regions + 2) * 1'024};
  return options;
}

// Regions held by others

TEST(IdleClients, GiveTheirRegionsBackToOneThatNeedsThem) {
  for_each_seed(20, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(options_of_few_regions(2, seed), stacks);
    int idle = 0;
    bool is_over = false;
    for (int number = 0; number < 2; ++number) {
      store.add_client([&, number](fabric::Host& host, Client& client) {
        ASSERT_EQ(client.set(shared_key(number), bytes_of("1")).answer, Answer::stored);
        ++idle;
        while (!is_over) host.sleep_until(host.now_ns() + millisecond_ns);
        EXPECT_EQ(client.get(shared_key(number)).value, bytes_of("1"));
        EXPECT_EQ(client.set(shared_key(number), bytes_of("3")).answer, Answer::stored);
      });
    }
    store.add_client([&](fabric::Host& host, Client& client) {
      while (idle < 2) host.sleep_until(host.now_ns() + millisecond_ns);
      const std::uint64_t start_ns = host.now_ns();
      EXPECT_EQ(client.set(shared_key(2), bytes_of("2")).answer, Answer::stored);
      EXPECT_LE(host.now_ns() - start_ns, sharing_timeout_ns) << "the idle ones were given up";
      is_over = true;
    });
    const StoreRun run = run_without_problems(store);
    EXPECT_EQ(run.state.contents.size(), 3U);
  });
}

// Room in the mature space for their regions counts as used until the regions return.
TEST(IdleClients, GiveTheRoomForTheirRegionsBack) {
  fabric::FiberStackPool stacks;
  StoreOptions options = options_of_few_regions(4);
  options.server.geometry.mature_bytes = 2 * 1'024;
  options.server.keeps_overwrite_reserve = false;
  TestStore store(options, stacks);
  int idle = 0;
  bool is_over = false;
  for (int number = 0; number < 2; ++number) {
    store.add_client([&, number](fabric::Host& host, Client& client) {
      ASSERT_EQ(client.set(shared_key(number), bytes_of("1")).answer, Answer::stored);
      ++idle;
      while (!is_over) host.sleep_until(host.now_ns() + millisecond_ns);
    });
  }
  store.add_client([&](fabric::Host& host, Client& client) {
    while (idle < 2) host.sleep_until(host.now_ns() + millisecond_ns);
    EXPECT_EQ(client.set(shared_key(2), bytes_of("2")).answer, Answer::stored);
    is_over = true;
  });
  run_without_problems(store);
}

TEST(ActiveClients, ShareASingleRegion) {
  for_each_seed(20, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(options_of_few_regions(1, seed), stacks);
    for (int number = 0; number < 3; ++number) {
      store.add_client([number](fabric::Host&, Client& client) {
        for (int round = 0; round < 20; ++round) {
          EXPECT_EQ(client.set(shared_key(number), Bytes(100)).answer, Answer::stored) << round;
        }
      });
    }
    const StoreRun run = run_without_problems(store);
    EXPECT_EQ(run.inspection.statistics.clients_fenced, 3U) << "they said goodbye, no one else did";
  });
}

// The requests of its last SET complete without the fiber, so its region can be returned.
TEST(CancelledFiber, KeepsNoRegion) {
  for_each_seed(30, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(options_of_few_regions(1, seed), stacks);
    bool is_cancelled = false;
    bool is_over = false;
    store.add_client([&](fabric::Host& host, Client& client) {
      const fabric::FiberId fiber = host.spawn({.name = "setter"}, [&] {
        for (;;) client.set(shared_key(0), Bytes(100));
      });
      host.sleep_until(host.now_ns() + 100 * microsecond_ns + seed * 700);
      host.cancel(fiber);
      host.join(fiber);
      is_cancelled = true;
      while (!is_over) host.sleep_until(host.now_ns() + millisecond_ns);
      EXPECT_EQ(client.set(shared_key(0), Bytes(100)).answer, Answer::stored);
    });
    store.add_client([&](fabric::Host& host, Client& client) {
      while (!is_cancelled) host.sleep_until(host.now_ns() + millisecond_ns);
      EXPECT_EQ(client.set(shared_key(1), bytes_of("1")).answer, Answer::stored);
      EXPECT_EQ(store.server()->inspect().statistics.clients_fenced, 0U);
      is_over = true;
    });
    run_without_problems(store);
  });
}

// The client holds a region, answers every quiescence request, and returns nothing.
TEST(ClientThatKeepsItsRegion, IsGivenUpWithinTheHeartbeatTimeout) {
  fabric::FiberStackPool stacks;
  TestStore store(options_of_few_regions(1), stacks);
  bool holds = false;
  bool is_over = false;
  store.add_host("keeper", [&](fabric::Host& host) {
    const auto keeper = RawClient::connect(host, store.address());
    ASSERT_NE(keeper, nullptr);
    keeper->send({.kind = MessageKind::request_region});
    std::uint64_t epoch = 0;
    while (keeper->send({.kind = MessageKind::heartbeat, .epoch = epoch}) && !is_over) {
      const auto message = keeper->receive(host.now_ns() + sharing_timeout_ns / 5);
      if (!message) continue;
      holds = holds || message->kind == MessageKind::grant_region;
      if (message->kind == MessageKind::ask_for_quiescence) epoch = message->epoch;
    }
  });
  store.add_client([&](fabric::Host& host, Client& client) {
    while (!holds) host.sleep_until(host.now_ns() + millisecond_ns);
    const std::uint64_t start_ns = host.now_ns();
    EXPECT_EQ(client.set(shared_key(0), bytes_of("1")).answer, Answer::stored);
    EXPECT_LE(host.now_ns() - start_ns, 2 * sharing_timeout_ns);
    is_over = true;
  });
  run_without_problems(store);
}

TEST(ClientWhoseRequestHasNoSuchNeed, IsExpelled) {
  fabric::FiberStackPool stacks;
  TestStore store(options_of_few_regions(2), stacks);
  store.add_host("babbler", [&](fabric::Host& host) {
    const auto babbler = RawClient::connect(host, store.address());
    ASSERT_NE(babbler, nullptr);
    babbler->send({.kind = MessageKind::request_region, .need = static_cast<RegionNeed>(3)});
    host.sleep_until(host.now_ns() + millisecond_ns);
    EXPECT_EQ(store.server()->inspect().last_breach, engine::Breach::malformed_message);
  });
  run_without_problems(store);
}

// Full memory

// Returns the number of keys that fit.
int fill(Client& client, const Bytes& value) {
  for (int number = 0;; ++number) {
    const Answer answer = client.set(shared_key(number), value).answer;
    if (answer == Answer::stored && number < 64) continue;
    EXPECT_EQ(answer, Answer::out_of_memory);
    return number;
  }
}

TEST(FullMemory, CanBeOverwrittenForEver) {
  for_each_seed(10, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(options_of_few_regions(3, seed), stacks);
    int fitted = 0;
    store.add_client([&](fabric::Host&, Client& client) {
      fitted = fill(client, Bytes(100, std::byte{1}));
      ASSERT_GT(fitted, 10);
      for (int round = 2; round < 8; ++round) {
        for (int number = 0; number < fitted; ++number) {
          const Bytes value(100, static_cast<std::byte>(round));
          ASSERT_EQ(client.set(shared_key(number), value).answer, Answer::stored) << number;
          ASSERT_EQ(client.get(shared_key(number)).value, value) << number;
        }
        EXPECT_EQ(client.set(bytes_of("new"), Bytes(100)).answer, Answer::out_of_memory);
      }
    });
    const StoreRun run = run_without_problems(store);
    EXPECT_EQ(run.state.contents.size(), static_cast<std::size_t>(fitted));
  });
}

TEST(FullMemory, IsNotForLongerValuesOrKeysThatWereDeleted) {
  fabric::FiberStackPool stacks;
  TestStore store(options_of_few_regions(3), stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    const int fitted = fill(client, Bytes(100));
    EXPECT_EQ(client.set(shared_key(0), Bytes(200)).answer, Answer::out_of_memory);
    EXPECT_EQ(client.get(shared_key(0)).value, Bytes(100));
    EXPECT_EQ(client.set(shared_key(fitted), Bytes(100)).answer, Answer::out_of_memory);
    EXPECT_EQ(client.set(shared_key(1), Bytes(50)).answer, Answer::stored);
    EXPECT_EQ(client.get(shared_key(1)).value, Bytes(50));
  });
  run_without_problems(store);
}

TEST(FullMemory, CanBeOverwrittenBySeveralAtOnce) {
  for_each_seed(10, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(options_of_few_regions(3, seed), stacks);
    int fitted = 0;
    for (int party = 0; party < 3; ++party) {
      store.add_client([&, party](fabric::Host& host, Client& client) {
        if (party == 0) fitted = fill(client, Bytes(100));
        while (fitted == 0) host.sleep_until(host.now_ns() + millisecond_ns);
        for (int number = 0; number < fitted; ++number) {
          const Bytes value(100, static_cast<std::byte>(party));
          EXPECT_EQ(client.set(shared_key(number), value).answer, Answer::stored) << number;
        }
      });
    }
    run_without_problems(store);
  });
}

// A measurement of the live data examines all of it.
TEST(FullMemory, IsNotMeasuredForEachRefusal) {
  fabric::FiberStackPool stacks;
  StoreOptions options = options_of_few_regions(3);
  options.server.measurement_interval_ns = 5 * millisecond_ns;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    fill(client, Bytes(100));
    const auto measurements = [&] {
      return store.server()->inspect().statistics.mature_measurements;
    };
    const std::uint64_t before = measurements();
    const std::uint64_t start_ns = host.now_ns();
    int refusals = 0;
    while (host.now_ns() < start_ns + 20 * millisecond_ns) {
      EXPECT_EQ(client.set(bytes_of("new"), Bytes(100)).answer, Answer::out_of_memory);
      ++refusals;
    }
    EXPECT_GT(refusals, 50);
    EXPECT_LE(measurements() - before, 5U);
  });
  run_without_problems(store);
}

// Stops the server as soon as it starts a measurement beyond `measurements`, which is set later.
// Returns whether this interrupted a measurement; overwrites all keys after it.
bool overwrite_after_stop_in_measurement(std::uint64_t seed, fabric::FiberStackPool& stacks) {
  StoreOptions options = options_of_few_regions(3, seed);
  options.simulation.processor_preemption = true;
  options.server.measurement_interval_ns = 0;
  TestStore store(options, stacks);
  const auto measurements = [&] {
    return store.server()->inspect().statistics.mature_measurements;
  };
  constexpr std::uint64_t pause_ns = 20 * millisecond_ns;
  std::uint64_t before = ~std::uint64_t{0};
  bool is_hit = false;
  store.add_host("stopper", [&](fabric::Host& host) {
    while (before == ~std::uint64_t{0}) host.sleep_until(host.now_ns() + millisecond_ns);
    while (measurements() == before) host.yield();
    store.simulation().pause("server", pause_ns);
  });
  store.add_client([&](fabric::Host& host, Client& client) {
    const int fitted = fill(client, Bytes(100));
    before = measurements();
    host.sleep_until(host.now_ns() + 2 * millisecond_ns);
    const std::uint64_t start_ns = host.now_ns();
    EXPECT_EQ(client.set(bytes_of("new"), Bytes(100)).answer, Answer::out_of_memory);
    is_hit = host.now_ns() - start_ns >= pause_ns;
    for (int number = 0; number < fitted; ++number) {
      const std::uint64_t call_ns = host.now_ns();
      EXPECT_EQ(client.set(shared_key(number), Bytes(100)).answer, Answer::stored);
      EXPECT_LE(host.now_ns() - call_ns, pause_ns + 2 * sharing_timeout_ns) << "key " << number;
    }
  });
  run_without_problems(store);
  return is_hit;
}

// The duration of a measurement does not reflect its cost if the server process was stopped in the
// meantime.
TEST(FullMemory, ThatWasMeasuredByAServerThatStoodStillIsMeasuredAgainSoon) {
  int hits = 0;
  for_each_seed(20, [&](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    if (overwrite_after_stop_in_measurement(seed, stacks)) ++hits;
  });
  EXPECT_GT(hits, 0);
}

}  // namespace
}  // namespace falafel::engine_test
