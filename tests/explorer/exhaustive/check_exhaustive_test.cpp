// Proofs of test bodies: a counter by atomics is proven, a lost update is found, recorded and
// replayed, and histories and conditions are judged over all schedules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "explorer/check.h"

namespace falafel::check {
namespace {

constexpr std::uint64_t counter = 64;          // its offset
constexpr std::uint64_t start_ns = 1'000'000;  // all clients are connected
constexpr std::uint32_t clients = 2;

enum class Start : std::uint8_t { at_once, at_time, when_ready };

void increment(World& world, bool is_atomic, Start start = Start::at_time) {
  std::shared_ptr<fabric::MemoryBlock> memory;
  world.server("server", [&](fabric::Host& host) {
    MemoryServer server(host, 128);
    memory = server.memory();
    server.serve();
  });
  world.clients(clients, [&](fabric::Host& host, std::uint32_t) {
    RemoteMemory remote(host, "server");
    if (start == Start::at_time) host.sleep_until(start_ns);
    if (start == Start::when_ready) world.ready(host);
    if (is_atomic) {
      remote.fetch_and_add(counter, 1);
    } else {
      remote.write(counter, remote.read(counter) + 1);
    }
  });
  world.at_rest([&] {
    world.check(word(memory, counter) == clients, "counter.lost-update", "an increment is lost");
  });
  world.run();
}

ExhaustiveOptions options_of(std::string name) {
  return {.name = std::move(name),
          .shrink_seconds = 1,
          .critical_tries = 5,
          .output = testing::TempDir() + "check_exhaustive_test",
          .explored_from_ns = start_ns};
}

Proof run(const Body& body, const ExhaustiveOptions& options, const Environment& environment = {}) {
  return prove(WorldProgram(options.name, {}, body), options, environment);
}

// An operation writes a value, or reads; both answer the value of the register afterwards.
struct Register {
  using State = std::uint64_t;
  using Operation = std::optional<std::uint64_t>;
  using Result = std::uint64_t;
  static State initial() { return 0; }
  static bool apply(State& state, const Operation& operation, const Result* result) {
    if (operation) state = *operation;
    return result == nullptr || *result == state;
  }
  static std::string describe(const Operation& operation, const Result*) {
    return operation ? "write" : "read";
  }
};

}  // namespace

TEST(CheckExhaustive, ProvesACounterOfAtomics) {
  const Proof proof =
      run([](World& world) { increment(world, true); }, options_of("counter of atomics"));
  EXPECT_TRUE(proof.holds() && proof.is_complete()) << proof.story();
  EXPECT_GE(proof.schedules, 2U);
  EXPECT_LT(proof.schedules, 100U);
}

TEST(CheckExhaustive, FindsALostUpdateAndReplaysIt) {
  const Body body = [](World& world) { increment(world, false); };
  const ExhaustiveOptions options = options_of("counter of words");
  const Proof proof = run(body, options);
  ASSERT_FALSE(proof.holds());
  EXPECT_EQ(proof.failures.front().property, "counter.lost-update");
  EXPECT_EQ(proof.coverage, explorer::Coverage::stopped);
  const Proof replayed = run(body, options, {.replay = proof.failures.front().replay_path});
  ASSERT_FALSE(replayed.holds()) << replayed.story();
  EXPECT_EQ(replayed.failures.front().property, "counter.lost-update");
}

// Nothing in the body takes time, so all of it comes before `explored_from_ns`.
TEST(CheckExhaustive, RefusesAProofThatExploredNothing) {
  for (const bool is_atomic : {false, true}) {
    const Proof proof = run([&](World& world) { increment(world, is_atomic, Start::at_once); },
                            options_of("nothing explored"));
    EXPECT_FALSE(proof.is_complete()) << proof.story();
    ASSERT_FALSE(proof.holds()) << proof.story();
    EXPECT_EQ(proof.failures.front().property, nothing_explored_property);
    EXPECT_THAT(proof.story(), testing::HasSubstr("World::ready"));
  }
}

TEST(CheckExhaustive, ExploresFromWhereAllClientsAreReady) {
  ExhaustiveOptions options = options_of("ready");
  options.explored_from_ns = 0;
  const Proof atomics =
      run([](World& world) { increment(world, true, Start::when_ready); }, options);
  EXPECT_TRUE(atomics.holds() && atomics.is_complete()) << atomics.story();
  EXPECT_GE(atomics.schedules, 2U);
  EXPECT_LT(atomics.schedules, 100U);

  const Body lossy = [](World& world) { increment(world, false, Start::when_ready); };
  const Proof words = run(lossy, options);
  ASSERT_FALSE(words.holds());
  EXPECT_EQ(words.failures.front().property, "counter.lost-update");
  const Proof replayed = run(lossy, options, {.replay = words.failures.front().replay_path});
  ASSERT_FALSE(replayed.holds()) << replayed.story();
  EXPECT_EQ(replayed.failures.front().property, "counter.lost-update");
}

TEST(CheckExhaustive, IsStuckIfAClientIsNeverReady) {
  ExhaustiveOptions options = options_of("one is not ready");
  options.explored_from_ns = 0;
  const Proof proof = run(
      [](World& world) {
        world.server("server", [](fabric::Host& host) { MemoryServer(host, 128).serve(); });
        world.clients(clients, [&](fabric::Host& host, std::uint32_t client) {
          if (client == 0) world.ready(host);
        });
        world.run();
      },
      options);
  ASSERT_FALSE(proof.holds()) << proof.story();
  EXPECT_EQ(proof.failures.front().property, stuck_property);
}

// The data is in memory before the flag, but a processor may see it late.
void send_flag_after_data(World& world) {
  constexpr std::uint64_t data = 0;
  constexpr std::uint64_t flag = 8;
  world.server("server", [&](fabric::Host& host) {
    MemoryServer server(host, 128);
    host.spawn({.name = "reader"}, [&world, memory = server.memory()] {
      memory->wait_until_changed(flag, 0, fabric::never_ns);
      world.check(memory->load(data) == 7, "flag.early", "the flag is there, and the data is not");
    });
    server.serve();
  });
  world.clients(1, [&](fabric::Host& host, std::uint32_t) {
    RemoteMemory remote(host, "server");
    world.ready(host);
    remote.write(data, 7);
    remote.write(flag, 1);
  });
  world.run();
}

TEST(CheckExhaustive, ExploresTheWeakestNetwork) {
  ExhaustiveOptions options = options_of("flag after data");
  options.explored_from_ns = 0;
  const Proof proof = run(send_flag_after_data, options);
  ASSERT_FALSE(proof.holds()) << proof.story();
  EXPECT_EQ(proof.failures.front().property, "flag.early");
}

TEST(CheckExhaustive, NamesWhatTheDeviceIsAssumedToPromise) {
  ExhaustiveOptions options = options_of("flag after data, seen at once");
  options.explored_from_ns = 0;
  options.adjust = [](sim::SimulationOptions& network) { network.late_visibility = false; };
  const Proof proof = run(send_flag_after_data, options);
  EXPECT_TRUE(proof.holds() && proof.is_complete()) << proof.story();
  const std::string promise = "processors see the words of a WRITE as soon as they are placed";
  EXPECT_THAT(proof.assumptions, testing::Contains(promise));
  EXPECT_THAT(proof.story(), testing::HasSubstr(promise));
  EXPECT_THAT(proof.assumptions, testing::Contains(testing::HasSubstr("hosts do not crash")));
}

TEST(CheckExhaustive, SeedOfAProofDoesNotWeakenItsNetwork) {
  const auto promise = [](sim::SimulationOptions& network) { network.address_order = true; };
  const WorldProgram program("seeds", {.adjust = promise}, send_flag_after_data);
  const sim::SimulationOptions network = program.draw_for_proof(1)->simulation;
  EXPECT_EQ(network.granularity, sim::Granularity::word);
  EXPECT_TRUE(network.late_visibility && network.store_buffers && network.processor_preemption);
  EXPECT_TRUE(network.address_order);
  for (std::uint64_t seed = 2; seed <= 20; ++seed) {
    EXPECT_EQ(program.draw_for_proof(seed)->simulation, network);
  }
}

// The second client sleeps, so without a race of its deadline it always comes last.
void increment_in_turn(World& world) {
  std::shared_ptr<fabric::MemoryBlock> memory;
  world.server("server", [&](fabric::Host& host) {
    MemoryServer server(host, 128);
    memory = server.memory();
    server.serve();
  });
  world.clients(clients, [&](fabric::Host& host, std::uint32_t client) {
    RemoteMemory remote(host, "server");
    world.ready(host);
    if (client == 1) host.sleep_until(host.now_ns() + start_ns);
    remote.write(counter, remote.read(counter) + 1);
  });
  world.at_rest([&] {
    world.check(word(memory, counter) == clients, "counter.lost-update", "an increment is lost");
  });
  world.run();
}

TEST(CheckExhaustive, ListsDeadlinesWhoseRacesAreLeftOut) {
  ExhaustiveOptions options = options_of("increments in turn");
  options.explored_from_ns = 0;
  const Proof proof = run(increment_in_turn, options);
  EXPECT_TRUE(proof.holds()) << proof.story();
  EXPECT_FALSE(proof.is_complete()) << proof.story();
  EXPECT_EQ(proof.coverage, explorer::Coverage::complete_up_to_deadlines);
  EXPECT_THAT(proof.deadlines, testing::ElementsAre("fiber 'client 1' of client 1 sleeps"));
  EXPECT_THAT(proof.story(), testing::HasSubstr("fiber 'client 1' of client 1 sleeps"));
}

TEST(CheckExhaustive, LetsDeadlinesRaceUpToABound) {
  ExhaustiveOptions options = options_of("racing increments");
  options.explored_from_ns = 0;
  options.max_faults = 1;
  options.adjust = [](sim::SimulationOptions& network) {
    network.set_fault_rate(sim::FaultKind::latency_spike, 1);
  };
  const Proof proof = run(increment_in_turn, options);
  ASSERT_FALSE(proof.holds()) << proof.story();
  EXPECT_EQ(proof.failures.front().property, "counter.lost-update");
}

TEST(CheckExhaustive, FindsAConditionThatNoScheduleReaches) {
  const Proof proof = run(
      [](World& world) {
        Condition& always_one = world.sometimes("the counter is 1");
        Condition& never_three = world.sometimes("the counter is 3");
        world.server("server", [](fabric::Host& host) { MemoryServer(host, 128).serve(); });
        world.clients(clients, [&](fabric::Host& host, std::uint32_t) {
          RemoteMemory remote(host, "server");
          host.sleep_until(start_ns);
          const std::uint64_t seen = remote.fetch_and_add(counter, 1);
          always_one.reached_if(seen == 1);
          never_three.reached_if(seen == 3);
        });
        world.run();
      },
      options_of("conditions"));
  EXPECT_TRUE(proof.is_complete()) << proof.story();
  ASSERT_EQ(proof.failures.size(), 1U) << proof.story();
  EXPECT_EQ(proof.failures.front().property, "sometimes");
  EXPECT_THAT(proof.failures.front().explanation, testing::HasSubstr("the counter is 3"));
}

// Client 0 reads another word than client 1 writes, so nothing but the order of calls and returns
// tells that the read came too late for its answer.
TEST(CheckExhaustive, ExploresTheOrderOfCallsAndReturns) {
  const Proof proof = run(
      [](World& world) {
        world.server("server", [](fabric::Host& host) { MemoryServer(host, 128).serve(); });
        auto& history = world.history<Register>();
        world.clients(clients, [&](fabric::Host& host, std::uint32_t client) {
          RemoteMemory remote(host, "server");
          host.sleep_until(start_ns);
          if (client == 0) {
            history.call(client, std::nullopt, [&] { return remote.read(0); });
          } else {
            history.call(client, 1, [&] {
              remote.write(counter, 1);
              return std::uint64_t{1};
            });
          }
        });
        world.run();
      },
      options_of("history"));
  ASSERT_FALSE(proof.holds()) << proof.story();
  EXPECT_EQ(proof.failures.front().property, linearizability_property);
}

}  // namespace falafel::check
