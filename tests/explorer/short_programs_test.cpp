// Programs of users take 50 to 150 steps. Their mistakes are found with the default network in a
// few hundred schedules, also those that only a fault at the right step shows, and the story of a
// run that makes no progress is short.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explorer/campaign.h"
#include "explorer/check.h"
#include "explorer/failing_run.h"
#include "explorer/shrink.h"

namespace falafel::check::short_programs_test {
namespace {

constexpr std::uint64_t first_lock = 0;
constexpr std::uint64_t second_lock = 8;
constexpr std::uint64_t value = 16;
constexpr std::uint64_t memory_bytes = 64;
constexpr std::uint64_t poll_interval_ns = 20'000;

void serve_memory(World& world) {
  world.server("server", [](fabric::Host& host) { MemoryServer(host, memory_bytes).serve(); });
}

void acquire(fabric::Host& host, RemoteMemory& memory, std::uint64_t lock) {
  while (memory.compare_and_swap(lock, 0, 1) != 0) {
    host.sleep_until(host.now_ns() + poll_interval_ns);
  }
}

// The mistake: nobody takes the lock from a client that died.
void lock_without_lease(World& world) {
  serve_memory(world);
  world.clients(2, [](fabric::Host& host, std::uint32_t) {
    RemoteMemory memory(host, "server");
    acquire(host, memory, first_lock);
    memory.write(value, memory.read(value) + 1);
    memory.compare_and_swap(first_lock, 1, 0);
  });
  world.run();
}

// The mistake: the clients take the locks in different orders.
void locks_in_different_orders(World& world) {
  serve_memory(world);
  world.clients(2, [](fabric::Host& host, std::uint32_t client) {
    RemoteMemory memory(host, "server");
    std::array<std::uint64_t, 2> locks{first_lock, second_lock};
    if (client == 1) std::ranges::reverse(locks);
    for (const std::uint64_t lock : locks) acquire(host, memory, lock);
    for (const std::uint64_t lock : locks) memory.compare_and_swap(lock, 1, 0);
  });
  world.run();
}

// The mistake: a client relies on what it has written, although a server that restarts is empty.
void trust_in_the_memory(World& world) {
  serve_memory(world);
  world.client("client", [&](fabric::Host& host) {
    std::optional<RemoteMemory> memory;
    for (bool is_written = false; true;) {
      try {
        if (!memory) memory.emplace(host, "server");
        if (!is_written) memory->write(value, 7);
        is_written = true;
        world.check(memory->read(value) == 7, "value.lost", "the value is gone");
        return;
      } catch (const Disconnected&) {
        memory.reset();
      }
    }
  });
  world.run();
}

WorldProgram program_of(std::string name, Body body,
                        std::optional<sim::FaultKind> fault = std::nullopt) {
  Network network;
  if (fault) network.faults.push_back(*fault);
  return {std::move(name), std::move(network), std::move(body)};
}

// The median of several searches, with seeds far apart.
std::uint64_t schedules_to_first_failure(const explorer::Program& program) {
  constexpr std::uint64_t searches = 5;
  constexpr std::uint64_t most = 1'000;
  std::vector<std::uint64_t> schedules;
  for (std::uint64_t search = 0; search < searches; ++search) {
    const std::uint64_t first_seed = 1 + search * 1'000'000;
    const explorer::CampaignResult result = explorer::run_campaign(
        program, {.first_seed = first_seed, .schedules = most, .stops_at_violation = true});
    schedules.push_back(most);
    for (const auto& [property, finding] : result.findings) {
      schedules.back() = std::min(schedules.back(), finding.seed - first_seed + 1);
    }
  }
  std::ranges::nth_element(schedules, schedules.begin() + searches / 2);
  return schedules.at(searches / 2);
}

TEST(ShortProgram, IsFoundToKeepTheLockOfAClientThatDied) {
  const auto program = program_of("lock", lock_without_lease, sim::FaultKind::client_crash);
  EXPECT_LT(schedules_to_first_failure(program), 200U);
}

TEST(ShortProgram, IsFoundToLoseDataInARestart) {
  const auto program = program_of("restart", trust_in_the_memory, sim::FaultKind::server_restart);
  EXPECT_LT(schedules_to_first_failure(program), 200U);
}

TEST(ShortProgram, HasAShortStoryOfADeadlock) {
  const Options options{.name = "deadlock",
                        .schedules = 1'000,
                        .shrink_seconds = 600,
                        .critical_tries = 3,
                        .output = testing::TempDir() + "short_programs_test"};
  const Result result =
      run_campaign(program_of(options.name, locks_in_different_orders), options, {});
  ASSERT_FALSE(result.holds());
  const Failure& failure = result.failures.front();
  EXPECT_EQ(failure.property, progress_property);
  EXPECT_LE(failure.steps_before, 40'000U);
  EXPECT_LT(failure.steps_after, 300U);
  EXPECT_LT(std::ranges::count(result.text, '\n'), 100);
  const Result replayed = run_campaign(program_of(options.name, locks_in_different_orders), options,
                                       {.replay = failure.replay_path});
  ASSERT_EQ(replayed.failures.size(), 1U) << replayed.story();
  EXPECT_EQ(replayed.failures.front().property, progress_property);
}

// A run that is only slow does not become endless by a lower step limit.
TEST(ShortProgram, IsNotCutOffWhileItsFailureIsShrunk) {
  const auto body = [](World& world) {
    const bool is_endless = world.choose(3) == 2;
    world.client("client", [is_endless](fabric::Host& host) {
      for (int yielded = 0; is_endless || yielded < 5'000; ++yielded) host.yield();
    });
    world.run();
  };
  const WorldProgram program("slow", {.usual_steps = 20}, body);
  const auto runner = program.create_runner();
  const std::string property(progress_property);
  std::optional<explorer::FailingRun> failing;
  for (std::uint64_t seed = 1; !failing; ++seed) {
    const auto scenario = program.draw(seed);
    const auto strategy = explorer::make_seeded_strategy(*scenario, seed);
    explorer::FailingRun run = explorer::record(*runner, *scenario, *strategy);
    if (run.run.violates(property)) failing = std::move(run);
  }
  const explorer::FailingRun small =
      explorer::shrink(*runner, std::move(*failing), property, {.seconds = 600, .tries = 20},
                       [](const explorer::FailingRun&) {});
  EXPECT_EQ(world_scenario(*small.scenario).chosen, std::vector<std::uint64_t>{2});
  EXPECT_LT(small.run.result.steps, 100U);
}

}  // namespace
}  // namespace falafel::check::short_programs_test
