// Source-DPOR against a plain search of the same programs: the same final states, each of them.
#include "explorer/exhaustive/source_dpor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "explorer/exhaustive/plain_search.h"
#include "explorer/exhaustive/preemption_bound.h"
#include "tests/explorer/exhaustive/toy_program.h"
#include "tests/thoroughness.h"

namespace falafel::explorer {
namespace {

constexpr std::uint64_t most_toy_programs = 2'000;
const std::uint64_t toy_programs = tests::usual_share(most_toy_programs);

ToyResult explore_plainly(const ToyProgram& program) {
  PlainSearch search(PlainSearch::Depth::all_answers);
  return explore(program, search);
}

ToyProgram threads_of(std::size_t threads, const std::vector<ToyOperation>& operations) {
  return {.threads = std::vector(threads, operations), .variables = 3};
}

// The first program of the seeds for which a search with this dependence misses a state.
std::optional<std::uint64_t> find_missed_state(const Dependence& dependence) {
  for (std::uint64_t seed = 0; seed < most_toy_programs; ++seed) {
    const ToyProgram program = draw_toy_program(seed);
    SourceDpor search(dependence);
    if (explore(program, search).states != explore_plainly(program).states) return seed;
  }
  return std::nullopt;
}

}  // namespace

TEST(SourceDpor, FindsTheStatesThatAPlainSearchFinds) {
  std::uint64_t plain_executions = 0;
  std::uint64_t executions = 0;
  std::uint64_t redundant = 0;
  for (std::uint64_t seed = 0; seed < toy_programs; ++seed) {
    const ToyProgram program = draw_toy_program(seed);
    const ToyResult plain = explore_plainly(program);
    SourceDpor search;
    const ToyResult reduced = explore(program, search);
    ASSERT_EQ(reduced.states, plain.states) << "program " << seed;
    ASSERT_LE(reduced.executions, plain.executions) << "program " << seed;
    plain_executions += plain.executions;
    executions += reduced.executions;
    redundant += reduced.redundant;
  }
  RecordProperty("plain_executions", std::to_string(plain_executions));
  RecordProperty("executions", std::to_string(executions));
  RecordProperty("redundant", std::to_string(redundant));
  EXPECT_LT(executions * 2, plain_executions);
}

TEST(SourceDpor, ExecutesNoTraceTwiceIfStepsAskNothing) {
  for (std::uint64_t seed = 0; seed < toy_programs; ++seed) {
    const ToyProgram program = draw_toy_program(seed, false);
    SourceDpor search;
    std::set<std::uint64_t> traces;
    do {
      const bool is_complete = execute(program, search).has_value();
      search.end_execution(false);
      if (is_complete) {
        ASSERT_TRUE(traces.insert(search.identify_trace()).second) << "program " << seed;
      }
    } while (search.find_next_execution());
  }
}

// With nothing but sleep sets, a search tries every process that can move.
TEST(SourceDpor, ExecutesEachTraceThatSleepSetsAloneFind) {
  constexpr std::size_t beyond_the_end = 100;
  for (std::uint64_t seed = 0; seed < toy_programs; ++seed) {
    const ToyProgram program = draw_toy_program(seed, false);
    SourceDpor search;
    SourceDpor with_sleep_sets;
    with_sleep_sets.split_at(beyond_the_end);
    ASSERT_EQ(explore(program, search).executions, explore(program, with_sleep_sets).executions)
        << "program " << seed;
  }
}

// The waiting thread can move after either addition, and additions commute: the second one can
// come after the thread as well as the first one.
TEST(SourceDpor, AStepThatTwoStepsMakePossibleFollowsEachOfThem) {
  const ToyProgram program{.threads = {{{ToyAction::await, 0, 0}, {ToyAction::load, 0, 0}},
                                       {{ToyAction::add, 0, 2}},
                                       {{ToyAction::add, 0, 4}}},
                           .variables = 1};
  SourceDpor search;
  EXPECT_EQ(explore(program, search).states, explore_plainly(program).states);
}

TEST(SourceDpor, IndependentThreadsNeedOneExecution) {
  ToyProgram program = threads_of(3, {});
  for (std::uint32_t thread = 0; thread < 3; ++thread) {
    program.threads[thread] = {{ToyAction::store, thread, 1}, {ToyAction::load, thread, 0}};
  }
  SourceDpor search;
  const ToyResult result = explore(program, search);
  EXPECT_EQ(result.executions, 1U);
  EXPECT_EQ(result.redundant, 0U);
}

// 9! / (3! * 3! * 3!) orders.
TEST(SourceDpor, ThreeThreadsWithThreeFetchAddsHave1680Traces) {
  const ToyOperation add{ToyAction::fetch_add, 0, 1};
  SourceDpor search;
  const ToyResult result = explore(threads_of(3, {add, add, add}), search);
  EXPECT_EQ(result.executions, 1'680U);
  EXPECT_EQ(result.redundant, 0U);
}

TEST(SourceDpor, AdditionsThatNobodyReadsCommute) {
  const ToyOperation add{ToyAction::add, 0, 1};
  SourceDpor search;
  EXPECT_EQ(explore(threads_of(3, {add, add, add}), search).executions, 1U);
}

// The example of the paper's introduction: three readers of one variable and a writer.
TEST(SourceDpor, WriterAndReaders) {
  ToyProgram program;
  program.variables = 3;
  program.threads = {{{ToyAction::store, 0, 1}},
                     {{ToyAction::load, 1, 0}, {ToyAction::load, 0, 0}},
                     {{ToyAction::load, 2, 0}, {ToyAction::load, 0, 0}}};
  SourceDpor search;
  const ToyResult result = explore(program, search);
  EXPECT_EQ(result.executions, 4U);
  EXPECT_EQ(explore_plainly(program).states, result.states);
}

// A step that disables another process: the waiting thread may step only between the two stores.
TEST(SourceDpor, FindsStepsThatOthersDisable) {
  ToyProgram program;
  program.threads = {{{ToyAction::store, 0, 1}, {ToyAction::store, 0, 0}},
                     {{ToyAction::await, 0, 0}}};
  SourceDpor search;
  EXPECT_EQ(explore(program, search).states.size(), 2U);
}

// Two threads with two steps each: 6 orders, 2 of them without preemption, 2 with one.
TEST(PreemptionBound, LimitsHowOftenAThreadIsPreempted) {
  const ToyOperation add{ToyAction::fetch_add, 0, 1};
  const ToyProgram program = threads_of(2, {add, add});
  for (std::uint64_t most = 0; most <= 3; ++most) {
    PlainSearch plain(PlainSearch::Depth::all_answers);
    PreemptionBound search(plain, most);
    EXPECT_EQ(explore(program, search).executions, std::min<std::uint64_t>(2 * (most + 1), 6));
    EXPECT_EQ(search.has_bound(), most < 2) << most;
  }
}

// Without a dependence that exists, states are missed: the comparison above would notice.
TEST(SourceDpor, MissesStatesIfWritersAndReadersAreTakenForIndependent) {
  const auto reads = [](const Step& step) {
    Footprint reader;
    for (std::uint32_t variable = 0; variable < 3; ++variable) {
      reader.add({sim::Touchable::shared, variable, sim::Access::reads});
    }
    return step.footprint.commutes_with(reader);
  };
  EXPECT_TRUE(find_missed_state([&](const Step& left, const Step& right) {
    return dependent(left, right) && !(reads(left) || reads(right));
  }));
}

TEST(SourceDpor, MissesStatesIfNothingIsDependent) {
  EXPECT_TRUE(find_missed_state(
      [](const Step& left, const Step& right) { return left.process == right.process; }));
}

}  // namespace falafel::explorer
