// Test bodies whose runs do not end, or only seem not to: schedules are fair to fibers that wait,
// and the report names runs without end, stuck runs, and loops that never wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "explorer/campaign.h"
#include "explorer/check.h"

namespace falafel::check::endless_runs_test {
namespace {

using testing::HasSubstr;

Options options_of(std::string name) {
  return {.name = std::move(name),
          .schedules = 2'000,
          .shrink_seconds = 3,
          .output = testing::TempDir() + "endless_runs_test"};
}

Result run(const Body& body, const Options& options) {
  return run_campaign(WorldProgram(options.name, options.network, body), options, {});
}

// Fibers that poll do not starve the others for ever. Strict priorities would let them: there are
// more of them than changes of priority.
TEST(Check, IsFairToThoseWhoWait) {
  const auto body = [](World& world) {
    constexpr std::uint32_t last = 11;
    bool is_set = false;
    world.clients(last + 1, [&](fabric::Host& host, std::uint32_t client) {
      if (client == last) is_set = true;
      while (!is_set) host.yield();
    });
    world.run();
  };
  Options options = options_of("polling");
  options.schedules = 300;
  const Result result = run(body, options);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(Check, ReportsRunsThatNeverEnd) {
  const auto body = [](World& world) {
    world.clients(2, [&](fabric::Host& host, std::uint32_t) {
      while (true) host.yield();
    });
    world.run();
  };
  Options options = options_of("endless");
  options.schedules = 1;
  options.shrink_seconds = 0.5;
  const Result result = run(body, options);
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failures.front().property, progress_property);
}

TEST(Check, ReportsRunsThatAreStuck) {
  const auto body = [](World& world) {
    world.client("client", [](fabric::Host& host) { host.create_event()->wait(fabric::never_ns); });
    world.run();
  };
  const Result result = run(body, options_of("stuck"));
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failures.front().property, stuck_property);
}

// A loop around a call that does not wait never ends, because nothing else moves meanwhile. The
// limit counts calls, so the same seed gives the same report.
void expect_spinning(const std::string& name, const std::string& looks_at,
                     const std::function<void(fabric::Host&, fabric::MemoryBlock&)>& spin) {
  const auto body = [&](World& world) {
    world.client("poller", [&](fabric::Host& host) {
      const auto memory = host.allocate_memory(64).value();
      host.yield();
      spin(host, *memory);
    });
    world.client("other", [](fabric::Host& host) { host.yield(); });
    world.run();
  };
  Options options = options_of(name);
  options.schedules = 1;
  options.shrink_seconds = 0.1;
  options.critical_tries = 1;
  options.network.adjust = [](sim::SimulationOptions& network) {
    network.processor_preemption = false;
  };
  const Result result = run(body, options);
  ASSERT_EQ(result.failures.size(), 1U) << result.story();
  EXPECT_EQ(result.failures.front().property, spinning_property);
  EXPECT_THAT(result.failures.front().explanation, HasSubstr("'poller' of poller"));
  EXPECT_THAT(result.failures.front().explanation, HasSubstr(looks_at));
  // Reports run the schedule many times, and each run makes millions of calls.
  const WorldProgram program(options.name, options.network, body);
  EXPECT_EQ(explorer::run_campaign(program, {.schedules = 1}).hash, result.hash);
}

TEST(Check, ReportsALoopThatLoadsAWord) {
  expect_spinning("loads", "the word at offset 8 of memory",
                  [](fabric::Host&, fabric::MemoryBlock& memory) {
                    while (memory.load(8) == 0) continue;
                  });
}

TEST(Check, ReportsALoopThatPollsAQueue) {
  expect_spinning("polls", "completion queue", [](fabric::Host& host, fabric::MemoryBlock&) {
    const auto queue = host.device(0).create_completion_queue(1).value();
    fabric::WorkCompletion completion;
    while (queue->poll({&completion, 1}) == 0) continue;
  });
}

TEST(Check, ReportsALoopThatReadsTheClock) {
  expect_spinning("clock", "the clock", [](fabric::Host& host, fabric::MemoryBlock&) {
    const std::uint64_t until_ns = host.now_ns() + 1'000'000'000;
    while (host.now_ns() < until_ns) continue;
  });
}

// Many calls in one step are no loop without end.
TEST(Check, LetsAFiberLookThroughItsMemory) {
  const auto body = [](World& world) {
    world.client("reader", [](fabric::Host& host) {
      const auto memory = host.allocate_memory(8'192).value();
      for (int round = 0; round < 100; ++round) {
        for (std::uint64_t offset = 0; offset < 8'192; offset += 8) memory->load(offset);
      }
    });
    world.run();
  };
  Options options = options_of("looks");
  options.schedules = 1;
  EXPECT_TRUE(run(body, options).holds());
}

}  // namespace
}  // namespace falafel::check::endless_runs_test
