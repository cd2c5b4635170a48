// Explorations whose tree is split: the parts together find what the whole finds, and the counts
// depend neither on the number of processes nor on interruptions.
#include "explorer/exhaustive/jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "explorer/check.h"
#include "explorer/exhaustive/source_dpor.h"
#include "processes/child_process.h"
#include "tests/explorer/exhaustive/toy_program.h"
#include "tests/thoroughness.h"

namespace falafel::explorer {
namespace {

const std::uint64_t split_programs = tests::usual_share(500);
constexpr std::uint64_t start_ns = 1'000'000;

// Three clients increment two counters, by atomics or by READs and WRITEs.
check::WorldProgram counters(bool is_atomic, std::string name = "counters") {
  return {std::move(name), {}, [is_atomic](check::World& world) {
            std::shared_ptr<fabric::MemoryBlock> memory;
            world.server("server", [&](fabric::Host& host) {
              check::MemoryServer server(host, 128);
              memory = server.memory();
              server.serve();
            });
            world.clients(3, [&](fabric::Host& host, std::uint32_t) {
              check::RemoteMemory remote(host, "server");
              host.sleep_until(start_ns);
              for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{64}}) {
                if (is_atomic) {
                  remote.fetch_and_add(offset, 1);
                } else {
                  remote.write(offset, remote.read(offset) + 1);
                }
              }
            });
            world.at_rest([&] {
              world.check(check::word(memory, 0) == 3, "counters.lost-update", "one is lost");
            });
            world.run();
          }};
}

std::unique_ptr<Scenario> scenario_of(const Program& program) {
  std::unique_ptr<Scenario> scenario = program.draw(1);
  scenario->simulation = sim::SimulationOptions{};
  return scenario;
}

const ExhaustiveOptions explored{.explored_from_ns = start_ns};

// Its parts are small, so there are parts of parts.
ExhaustiveResult explore(const Program& program, JobOptions jobs,
                         const ExhaustiveOptions& options) {
  jobs.most_runs_of_part = 100;
  return explore_in_jobs(program, *scenario_of(program), options, jobs).value();
}

std::vector<std::uint64_t> counts_of(const ExhaustiveResult& result) {
  return {result.executions, result.redundant, result.cut_off, result.unknown, result.steps};
}

// The states of the parts of a split tree, and how many executions they have.
ToyResult explore_in_parts(const ToyProgram& program, std::size_t depth) {
  ToyResult result;
  std::vector<Subtree> parts;
  SourceDpor search;
  search.split_at(depth);
  do {
    const auto state = execute(program, search);
    search.end_execution(false);
    if (search.cut()) {
      parts.push_back(*search.cut());
    } else if (state) {
      ++result.executions;
      result.states.insert(*state);
    }
  } while (search.find_next_execution());
  for (const Subtree& part : parts) {
    SourceDpor below;
    below.explore_only(part);
    const ToyResult found = explore(program, below);
    result.executions += found.executions;
    result.states.insert(found.states.begin(), found.states.end());
  }
  return result;
}

class Checkpoints : public testing::Test {
 protected:
  Checkpoints() {
    std::filesystem::create_directories(testing::TempDir());
    std::filesystem::remove(path_);
  }
  const std::string path_ = testing::TempDir() + "jobs_test.checkpoint";
};

TEST(Jobs, ThePartsOfATreeFindWhatTheWholeFinds) {
  for (std::uint64_t seed = 0; seed < split_programs; ++seed) {
    const ToyProgram program = draw_toy_program(seed);
    SourceDpor search;
    const ToyResult whole = explore(program, search);
    for (const std::size_t depth : std::vector<std::size_t>{1, 2, 3, 5}) {
      ASSERT_EQ(explore_in_parts(program, depth).states, whole.states)
          << "program " << seed << ", depth " << depth;
    }
  }
}

TEST(Jobs, SplittingExecutesNoTraceTwiceIfStepsAskNothing) {
  for (std::uint64_t seed = 0; seed < split_programs; ++seed) {
    const ToyProgram program = draw_toy_program(seed, false);
    SourceDpor search;
    ASSERT_EQ(explore_in_parts(program, 3).executions, explore(program, search).executions)
        << "program " << seed;
  }
}

TEST(Jobs, CountsDoNotDependOnTheirNumber) {
  const check::WorldProgram program = counters(true);
  const ExhaustiveResult one = explore(program, {.jobs = 1}, explored);
  const ExhaustiveResult three = explore(program, {.jobs = 3}, explored);
  EXPECT_EQ(one.coverage, Coverage::complete);
  EXPECT_EQ(counts_of(one), counts_of(three));
  EXPECT_EQ(one.executions,
            explore_exhaustively(program, *scenario_of(program), explored)->executions);
}

TEST(Jobs, FindTheSameViolation) {
  const check::WorldProgram program = counters(false);
  const ExhaustiveResult one = explore(program, {.jobs = 1}, explored);
  const ExhaustiveResult three = explore(program, {.jobs = 3}, explored);
  ASSERT_TRUE(one.violation && three.violation);
  EXPECT_EQ(one.violation->run.property(), "counters.lost-update");
  EXPECT_EQ(one.violation->run.result.trace_hash, three.violation->run.result.trace_hash);
  EXPECT_EQ(counts_of(one), counts_of(three));
}

TEST_F(Checkpoints, GoOnAfterALimit) {
  const check::WorldProgram program = counters(true);
  const ExhaustiveResult whole = explore(program, {.jobs = 1}, explored);
  ExhaustiveOptions some = explored;
  some.max_executions = whole.executions / 2;
  const ExhaustiveResult stopped = explore(program, {.jobs = 2, .checkpoint = path_}, some);
  EXPECT_EQ(stopped.coverage, Coverage::stopped);
  EXPECT_LT(stopped.executions, whole.executions);
  EXPECT_TRUE(stopped.explored_share > 0 && stopped.explored_share < 1) << stopped.explored_share;
  const ExhaustiveResult rest = explore(program, {.jobs = 2, .checkpoint = path_}, explored);
  EXPECT_EQ(rest.coverage, Coverage::complete);
  EXPECT_EQ(rest.explored_share, 1);
  EXPECT_EQ(counts_of(rest), counts_of(whole));
}

TEST_F(Checkpoints, GoOnAfterARequestToStop) {
  const check::WorldProgram program = counters(true);
  const ExhaustiveResult whole = explore(program, {.jobs = 1}, explored);
  const auto has_begun = [&] { return std::filesystem::exists(path_); };
  const ExhaustiveResult stopped =
      explore(program, {.jobs = 2, .checkpoint = path_, .should_stop = has_begun}, explored);
  EXPECT_EQ(stopped.coverage, Coverage::stopped);
  const ExhaustiveResult rest = explore(program, {.jobs = 2, .checkpoint = path_}, explored);
  EXPECT_EQ(rest.coverage, Coverage::complete);
  EXPECT_EQ(counts_of(rest), counts_of(whole));
}

TEST_F(Checkpoints, GoOnAfterASignal) {
  const check::WorldProgram program = counters(true);
  const ExhaustiveResult whole = explore(program, {.jobs = 1}, explored);
  processes::ChildProcess interrupted([&] {
    explore(program, {.jobs = 2, .checkpoint = path_}, explored);
    return 0;
  });
  while (!std::filesystem::exists(path_)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  interrupted.send_signal(SIGTERM);
  interrupted.wait();
  const ExhaustiveResult rest = explore(program, {.jobs = 2, .checkpoint = path_}, explored);
  EXPECT_EQ(rest.coverage, Coverage::complete);
  EXPECT_EQ(counts_of(rest), counts_of(whole));
}

TEST_F(Checkpoints, AreRefusedForAnotherExploration) {
  const check::WorldProgram program = counters(true);
  explore(program, {.checkpoint = path_}, explored);
  constexpr std::uint64_t most_runs_of_part = 100;
  const auto refusal = [&](const Program& other, const ExhaustiveOptions& options) {
    const auto result =
        explore_in_jobs(other, *scenario_of(other), options,
                        {.checkpoint = path_, .most_runs_of_part = most_runs_of_part});
    return result ? std::string("none") : result.error();
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal(counters(true, "others"), explored), HasSubstr("another program"));
  EXPECT_THAT(refusal(program, {.explored_from_ns = 5}), HasSubstr("another explored_from_ns"));
  EXPECT_THAT(refusal(program, {.explored_from_ns = start_ns, .max_faults = 1}),
              HasSubstr("another simulation"));
  std::ofstream(path_) << "nonsense";
  EXPECT_THAT(refusal(program, explored), HasSubstr("is no checkpoint"));
}

}  // namespace
}  // namespace falafel::explorer
