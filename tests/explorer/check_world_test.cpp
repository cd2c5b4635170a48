// The declarations of a test body take effect: choices, names, faults and limits of the network,
// several histories, and the errors of calls that come too late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkers/specifications/register.h"
#include "explorer/check.h"

namespace falafel::check::world_test {
namespace {

using checkers::specifications::Register;
using testing::HasSubstr;

Options options_of(std::string name) {
  return {.name = std::move(name),
          .schedules = 300,
          .shrink_seconds = 3,
          .output = testing::TempDir() + "check_world_test"};
}

Result run(const Body& body, const Options& options) {
  return run_campaign(WorldProgram(options.name, options.network, body), options, {});
}

void serve_memory(World& world) {
  world.server("server", [](fabric::Host& host) { MemoryServer(host, 128).serve(); });
}

// The body is called in other processes, so what it finds wrong is a violation.
std::string explanation_of(const Body& body, const Options& options) {
  const Result result = run(body, options);
  return result.holds() ? "" : result.failures.front().explanation;
}

TEST(World, ShrinksItsChoices) {
  const auto body = [](World& world) {
    world.choose(1'000);
    const std::uint64_t chosen = world.choose(1'000);
    world.client("client", [](fabric::Host&) {});
    world.run();
    world.check(chosen < 10, "chosen.small", "chose " + std::to_string(chosen));
  };
  const Result result = run(body, options_of("choices"));
  ASSERT_FALSE(result.holds());
  EXPECT_THAT(result.story(), HasSubstr("choices 0, 1"));
  EXPECT_LT(result.failures.front().explanation, "chose 20");  // halved as long as it fails
  const Result replayed = run_campaign(WorldProgram("choices", {}, body), options_of("choices"),
                                       {.replay = result.failures.front().replay_path});
  ASSERT_EQ(replayed.failures.size(), 1U) << replayed.story();
  EXPECT_EQ(replayed.failures.front().explanation, result.failures.front().explanation);
}

TEST(World, NamesPlacesAndWords) {
  const auto body = [](World& world) {
    serve_memory(world);
    world.name(0, 8, "the head");
    world.name(8, 24, "ring");
    world.describe_words([](std::uint64_t word) { return "<" + std::to_string(word) + ">"; });
    world.client("client", [](fabric::Host& host) {
      RemoteMemory memory(host, "server");
      memory.write(0, 7);
      memory.write(24, 8);
    });
    world.run();
    world.fail("always.fails", "on purpose");
  };
  const Result result = run(body, options_of("names"));
  EXPECT_THAT(result.story(), HasSubstr("WRITE places the head: <7>"));
  EXPECT_THAT(result.story(), HasSubstr("WRITE places ring[2]: <8>"));
}

TEST(World, NumbersItsClients) {
  const auto body = [](World& world) {
    std::vector<std::string> names(3);
    const auto keep = [&](fabric::Host& host, std::uint32_t client) {
      names.at(client) = host.name();
    };
    world.clients(2, keep);
    world.clients(1, keep);
    world.run();
    world.check(names == std::vector<std::string>{"client 0", "client 1", "client 2"}, "numbers");
  };
  EXPECT_TRUE(run(body, options_of("numbers")).holds());
}

TEST(World, SuffersDelaysOnlyUnlessTheNetworkSaysMore) {
  const auto body = [](World& world) {
    serve_memory(world);
    std::uint32_t returned = 0;
    world.clients(2, [&](fabric::Host& host, std::uint32_t) {
      RemoteMemory memory(host, "server");
      for (int times = 0; times < 100; ++times) memory.fetch_and_add(0, 1);
      ++returned;
    });
    world.run();
    world.check(returned == 2, "clients.return", "a client was lost");
  };
  Options options = options_of("faults");
  options.schedules = 1'000;
  options.shrink_seconds = 0;
  EXPECT_EQ(explanation_of(body, options), "");
  options.network.faults = {sim::FaultKind::client_crash};
  EXPECT_EQ(explanation_of(body, options), "a client was lost");
  // No fault strikes in a run that is fair from its first step on.
  options.network.fair_after_steps = 0;
  EXPECT_EQ(explanation_of(body, options), "");
}

TEST(World, RunsOnTheAdjustedNetwork) {
  const auto body = [](World& world) {
    world.client("client", [&](fabric::Host& host) {
      world.check(host.device(0).attributes().max_inline_bytes == 17, "inline.adjusted");
    });
    world.run();
  };
  Options options = options_of("adjusted");
  options.network.adjust = [](sim::SimulationOptions& simulation) {
    simulation.max_inline_bytes = 17;
  };
  EXPECT_TRUE(run(body, options).holds());
}

TEST(World, EndsAtTheStepLimitOfTheNetwork) {
  const auto body = [](World& world) {
    world.client("client", [](fabric::Host& host) {
      while (true) host.yield();
    });
    world.run();
  };
  Options options = options_of("limit");
  options.schedules = 1;
  options.shrink_seconds = 0;
  options.network.fair_after_steps = 100;
  options.network.step_limit = 700;
  EXPECT_THAT(explanation_of(body, options), HasSubstr("has not ended after 700 steps"));
  options.network.step_limit = 0;  // at least twice the step from which it is fair
  EXPECT_THAT(explanation_of(body, options), HasSubstr("has not ended after 200 steps"));
}

// The first violation of a property counts, and ends the run.
TEST(World, EndsWithTheFirstViolation) {
  const auto body = [](World& world) {
    world.client("client", [&](fabric::Host& host) {
      world.fail("broken", "first");
      host.yield();
      world.fail("broken", "second");
      world.fail("later", "the run has not ended");
    });
    world.run();
  };
  const Result result = run(body, options_of("first violation"));
  ASSERT_EQ(result.failures.size(), 1U) << result.story();
  EXPECT_THAT(result.failures.front().explanation, HasSubstr("first"));
}

TEST(World, RefusesTwoHostsOfOneName) {
  const auto body = [](World& world) {
    world.client("same", [](fabric::Host&) {});
    world.client("same", [](fabric::Host&) {});
    world.run();
  };
  Options options = options_of("same");
  options.shrink_seconds = 0;
  EXPECT_THAT(explanation_of(body, options), HasSubstr("there is a host 'same' already"));
}

TEST(World, AsksForItsDeclarationsBeforeTheRun) {
  const auto late = [](const std::function<void(World&)>& call) {
    return [call](World& world) {
      world.client("client", [](fabric::Host&) {});
      world.run();
      call(world);
    };
  };
  Options options = options_of("late");
  options.shrink_seconds = 0;
  options.schedules = 1;
  const std::array<std::function<void(World&)>, 6> calls = {
      [](World& world) { world.client("another", [](fabric::Host&) {}); },
      [](World& world) { world.choose(2); },
      [](World& world) { world.sometimes("late"); },
      [](World& world) { world.always("late", [] { return true; }); },
      [](World& world) { world.at_rest([] {}); },
      [](World& world) { world.run(); }};
  for (const auto& call : calls) {
    EXPECT_THAT(explanation_of(late(call), options), HasSubstr("after World::run"));
  }
}

// Each object has a property of its own.
TEST(History, HasAName) {
  const auto body = [](World& world) {
    auto& right = world.history<Register>("right");
    auto& wrong = world.history<Register>("wrong");
    world.client("client", [&](fabric::Host&) {
      right.call(0, Register::Write{1}, [] {});
      right.call(0, Register::Read{}, [] { return std::uint64_t{1}; });
      wrong.call(0, Register::Read{}, [] { return std::uint64_t{7}; });
    });
    world.run();
  };
  const Result result = run(body, options_of("named"));
  ASSERT_EQ(result.failures.size(), 1U) << result.story();
  EXPECT_EQ(result.failures.front().property, "linearizability.wrong");
}

// Without an answer, a write may have taken effect or not; with one, it has.
TEST(History, TakesEmptyAnswersForUnknownOutcomes) {
  const auto body = [](bool is_answered) {
    return [is_answered](World& world) {
      auto& history = world.history<Register>();
      world.client("client", [&](fabric::Host&) {
        history.call(0, Register::Write{1},
                     [&] { return is_answered ? std::optional<std::uint64_t>(0) : std::nullopt; });
        history.call(0, Register::Read{}, [] { return std::uint64_t{0}; });
      });
      world.run();
    };
  };
  EXPECT_TRUE(run(body(false), options_of("unanswered")).holds());
  EXPECT_FALSE(run(body(true), options_of("answered")).holds());
}

TEST(RemoteMemory, NamesWhatIsOutsideOfTheMemory) {
  const auto body = [](const std::function<void(RemoteMemory&)>& call) {
    return [call](World& world) {
      serve_memory(world);
      world.client("client", [call](fabric::Host& host) {
        RemoteMemory memory(host, "server");
        call(memory);
      });
      world.run();
    };
  };
  Options options = options_of("outside");
  options.shrink_seconds = 0;
  EXPECT_THAT(explanation_of(body([](RemoteMemory& memory) { memory.read(128); }), options),
              HasSubstr("READ of 8 bytes at byte 128 of server's 'memory' is outside of it"));
  std::array<std::byte, RemoteMemory::buffer_bytes + 1> large{};
  EXPECT_THAT(explanation_of(body([&](RemoteMemory& memory) {
                               memory.write(0, std::as_bytes(std::span(large)));
                             }),
                             options),
              HasSubstr("WRITE of 4097 bytes is longer than buffer_bytes, 4096"));
  EXPECT_THAT(explanation_of(body([&](RemoteMemory& memory) { memory.read(0, std::span(large)); }),
                             options),
              HasSubstr("READ of 4097 bytes is longer than buffer_bytes, 4096"));
}

}  // namespace
}  // namespace falafel::check::world_test
