// Exhaustive exploration of programs on the simulator against a plain search of the same programs.
#include "explorer/exhaustive/exhaustive.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "explorer/exhaustive/plain_search.h"
#include "explorer/exhaustive/source_dpor.h"
#include "tests/explorer/exhaustive/verbs_program.h"
#include "tests/thoroughness.h"

namespace falafel::explorer {
namespace {

const std::uint64_t programs = tests::usual_share(2'000);
// Programs for which a plain search takes longer are left out.
constexpr std::uint64_t most_plain_executions = 300;
const std::uint64_t faulty_programs = tests::usual_share(1'000);
constexpr std::uint64_t most_plain_executions_with_faults = 400;

VerbsProgram clients_of(std::size_t clients, const std::vector<VerbCall>& calls) {
  return {.clients = std::vector(clients, calls), .server = {}};
}

const VerbCall fetch_add{.verb = Verb::fetch_and_add};

std::set<VerbsState> states_of(const VerbsProgram& program, Search& search) {
  std::set<VerbsState> states;
  explore(program, search, [&](const VerbsExecution& execution) {
    states.insert(execution.state);
    return true;
  });
  return states;
}

// Nothing if a plain search takes too long.
std::optional<std::set<VerbsState>> states_of_plain_search(const VerbsProgram& program,
                                                           PlainSearch::Depth depth,
                                                           std::uint64_t most_executions) {
  PlainSearch search(depth);
  std::set<VerbsState> states;
  std::uint64_t executions = 0;
  explore(program, search, [&](const VerbsExecution& execution) {
    states.insert(execution.state);
    return ++executions < most_executions;
  });
  if (executions == most_executions) return std::nullopt;
  return states;
}

// A mutant: it does not see the accesses to one kind of object.
class WithoutTouches final : public Search {
 public:
  explicit WithoutTouches(sim::Touchable object) : object_(object) {}
  std::optional<Process> next(std::span<const Process> enabled) override {
    return search_.next(enabled);
  }
  std::uint64_t choose(std::uint64_t bound, sim::Answers sufficient) override {
    return search_.choose(bound, sufficient);
  }
  void touch(const sim::Touch& touch) override {
    if (touch.object != object_) search_.touch(touch);
  }
  void end_execution(bool is_cut_off) override { search_.end_execution(is_cut_off); }
  bool find_next_execution() override { return search_.find_next_execution(); }
  double explored_share() const override { return search_.explored_share(); }

 private:
  sim::Touchable object_;
  SourceDpor search_;
};

using Draw = VerbsProgram (*)(std::uint64_t seed);

bool misses_states_without(sim::Touchable object, Draw draw = draw_verbs_program) {
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    const VerbsProgram program = draw(seed);
    SourceDpor search;
    WithoutTouches mutant(object);
    if (states_of(program, mutant) != states_of(program, search)) return true;
  }
  return false;
}

// Returns how many programs were compared.
std::uint64_t compare_with_plain_search(Draw draw) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    const VerbsProgram program = draw(seed);
    const auto plain = states_of_plain_search(program, PlainSearch::Depth::sufficient_answers,
                                              most_plain_executions);
    if (!plain) continue;
    SourceDpor search;
    EXPECT_EQ(states_of(program, search), *plain) << "program " << seed;
    ++compared;
  }
  return compared;
}

}  // namespace

// 9! / (3! * 3! * 3!) orders of the atomics; all other steps of different clients commute.
TEST(Exhaustive, ThreeClientsWithThreeFetchAddsHave1680Traces) {
  const VerbsResult result = explore(clients_of(3, {fetch_add, fetch_add, fetch_add}));
  EXPECT_EQ(result.counts.executions, 1'680U);
  EXPECT_EQ(result.counts.redundant, 0U);
  EXPECT_EQ(result.states.size(), 1'680U);
  EXPECT_EQ(result.counts.coverage, Coverage::complete);
  RecordProperty("result", result.counts.describe());
}

TEST(Exhaustive, ClientsOfDifferentWordsNeedOneExecution) {
  VerbsProgram program = clients_of(2, {fetch_add, fetch_add, fetch_add});
  for (VerbCall& call : program.clients[1]) call.word = 1;
  const VerbsResult result = explore(program);
  EXPECT_EQ(result.counts.executions, 1U);
  EXPECT_EQ(result.counts.redundant, 0U);
}

TEST(Exhaustive, LookingAtMemoryIsNoAccessOfTheStepThatIsObserved) {
  VerbsProgram program = clients_of(2, {fetch_add, fetch_add});
  for (VerbCall& call : program.clients[1]) call.word = 1;
  program.is_observed = true;
  EXPECT_EQ(explore(program).counts.executions, 1U);
}

TEST(Exhaustive, FindsTheStatesThatAPlainSearchFinds) {
  EXPECT_GT(compare_with_plain_search(draw_verbs_program), programs / 5);
}

TEST(Exhaustive, FindsTheStatesOfProgramsWithMessages) {
  EXPECT_GT(compare_with_plain_search(draw_messages_program), programs / 5);
}

TEST(Exhaustive, FindsTheStatesOfProgramsWhoseFibersTakeTurns) {
  EXPECT_GT(compare_with_plain_search(draw_fibers_program), programs / 6);
}

// The queue pair takes the first request while the server posts the second one.
TEST(Exhaustive, PostingAReceiveRequestCommutesWithAMessageThatTakesAnOlderOne) {
  VerbsProgram program = clients_of(1, {{.verb = Verb::send}});
  program.offered_receives = 1;
  program.server = {{.verb = Verb::post_receive}};
  const VerbsResult result = explore(program);
  EXPECT_EQ(result.counts.executions, 1U);
  EXPECT_EQ(result.counts.redundant, 0U);
}

// The answers that the simulator declares sufficient.
TEST(Exhaustive, FindsTheStatesOfAllAnswers) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 0; seed < programs / 25; ++seed) {
    const VerbsProgram program = draw_verbs_program(seed);
    const auto plain = states_of_plain_search(program, PlainSearch::Depth::all_answers, 5'000);
    if (!plain) continue;
    SourceDpor search;
    ASSERT_EQ(states_of(program, search), *plain) << "program " << seed;
    ++compared;
  }
  EXPECT_GT(compared, programs / 200);
  RecordProperty("compared", std::to_string(compared));
}

TEST(Exhaustive, MissesStatesWithoutTheAccessesToMemory) {
  EXPECT_TRUE(misses_states_without(sim::Touchable::memory));
}

TEST(Exhaustive, MissesStatesWithoutTheReceiveRequests) {
  EXPECT_TRUE(misses_states_without(sim::Touchable::receives, draw_messages_program));
}

TEST(Exhaustive, MissesStatesWithoutTheOrderOfFibers) {
  EXPECT_TRUE(misses_states_without(sim::Touchable::turns, draw_fibers_program));
}

TEST(Exhaustive, StopsAtItsLimits) {
  const VerbsProgram program = clients_of(2, {fetch_add, fetch_add});
  const VerbsResult result = explore(program, {.max_executions = 3});
  EXPECT_EQ(result.counts.coverage, Coverage::stopped);
  EXPECT_EQ(result.counts.executions + result.counts.redundant, 3U);
  EXPECT_GT(result.counts.explored_share, 0);
  EXPECT_NE(result.counts.describe().find("% of the tree"), std::string::npos);
  EXPECT_EQ(explore(program).counts.explored_share, 1);
}

TEST(Exhaustive, BoundsThePreemptions) {
  const VerbsProgram program = clients_of(2, {fetch_add});
  const VerbsResult none = explore(program, {.max_preemptions = 0});
  const VerbsResult many = explore(program, {.max_preemptions = 100});
  EXPECT_EQ(none.counts.coverage, Coverage::complete_up_to_preemptions);
  EXPECT_EQ(many.counts.coverage, Coverage::complete);
  EXPECT_LT(none.counts.executions, many.counts.executions);
  EXPECT_EQ(many.states, explore(program).states);
}

TEST(Exhaustive, FindsTheStatesWithFaultsThatAPlainSearchFinds) {
  std::uint64_t compared = 0;
  std::uint64_t plain_states = 0;
  for (std::uint64_t seed = 0; seed < faulty_programs; ++seed) {
    const VerbsProgram program = draw_faulty_program(seed);
    const auto plain = states_of_plain_search(program, PlainSearch::Depth::sufficient_answers,
                                              most_plain_executions_with_faults);
    if (!plain) continue;
    SourceDpor search;
    ASSERT_EQ(states_of(program, search), *plain) << "program " << seed;
    ++compared;
    plain_states += plain->size();
  }
  EXPECT_GT(compared, faulty_programs / 5);
  EXPECT_GT(plain_states, 2 * compared);
  RecordProperty("compared", std::to_string(compared));
}

// The clock can jump before the server's load only if the client, which sets the timer, moves
// first. The load and the client's step commute otherwise.
TEST(Exhaustive, TheClockJumpsWhileOthersCanMoveIfOneMoreStepSetsATimer) {
  const VerbsProgram program{
      .clients = {{{.verb = Verb::write, .word = 1, .is_late = true}, {.verb = Verb::read}}},
      .server = {{.verb = Verb::fetch_and_add}},
      .faults = {sim::FaultKind::latency_spike},
      .max_faults = 1};
  SourceDpor search;
  PlainSearch plain(PlainSearch::Depth::sufficient_answers);
  EXPECT_EQ(states_of(program, search), states_of(program, plain));
}

// A crash between two requests, and before, within and after each.
TEST(Exhaustive, FaultsStrikeAtAnyStepButNoMoreThanAskedFor) {
  VerbsProgram program = clients_of(2, {fetch_add});
  program.faults = {sim::FaultKind::client_crash};
  program.max_faults = 1;
  const auto sums = [&] {
    std::set<std::uint64_t> words;
    for (const VerbsState& state : explore(program).states) words.insert(state[1]);
    return words;
  };
  EXPECT_EQ(sums(), (std::set<std::uint64_t>{20, 30, 50}));
  EXPECT_EQ(explore(program).counts.describe_coverage(), "complete up to 1 fault");
  program.max_faults = 2;
  EXPECT_EQ(sums(), (std::set<std::uint64_t>{0, 20, 30, 50}));
}

TEST(Exhaustive, FaultsPreemptNobody) {
  VerbsProgram program = clients_of(1, {fetch_add, fetch_add});
  program.faults = {sim::FaultKind::client_crash};
  program.max_faults = 1;
  EXPECT_EQ(explore(program, {.max_preemptions = 0}).states, explore(program).states);
}

TEST(Exhaustive, RefusesCompletionsThatWaitForPlacement) {
  sim::SimulationOptions options;
  options.placed_before_completed = true;
  const auto refused = options_for_exploration(options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("placed_before_completed"), std::string::npos) << refused.error();
}

TEST(Exhaustive, RefusesFaultsThatDependOnTheNumberOfSteps) {
  sim::SimulationOptions options;
  options.set_fault_rate(sim::FaultKind::client_crash, 100);
  const auto refused = options_for_exploration(options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("client_crash"), std::string::npos) << refused.error();
  EXPECT_TRUE(options_for_exploration(options, 1));
}

}  // namespace falafel::explorer
