// Explorations whose processes are requests, words of transfers and completions reach the states of
// those whose processes are whole queue pairs, and of a plain search.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "explorer/exhaustive/plain_search.h"
#include "explorer/exhaustive/source_dpor.h"
#include "tests/explorer/exhaustive/queue_program.h"
#include "tests/thoroughness.h"

namespace falafel::explorer {
namespace {

// The environment asks for more programs: FALAFEL_LANES_PROGRAMS=20000.
constexpr std::uint64_t thorough_programs = 300;
constexpr const char* programs_variable = "FALAFEL_LANES_PROGRAMS";
// Programs that need more are left out.
constexpr std::uint64_t most_executions = 2'000;

std::uint64_t program_count() {
  const char* const text = std::getenv(programs_variable);
  return text == nullptr ? tests::usual_share(thorough_programs) : std::stoull(text);
}

struct Explored {
  std::set<QueueState> states;
  std::uint64_t executions = 0;
};

// Nothing if there are more executions.
std::optional<Explored> reached_by(const QueueProgram& program, Search& search, bool tells_lanes,
                                   std::uint64_t most = most_executions) {
  Explored reached;
  explore(program, search, tells_lanes, [&](const QueueState& state) {
    reached.states.insert(state);
    return ++reached.executions <= most;
  });
  if (reached.executions > most) return std::nullopt;
  return reached;
}

std::string difference(const std::set<QueueState>& from, const std::set<QueueState>& without) {
  std::string text;
  for (const QueueState& state : from) {
    if (!without.contains(state)) text += fmt::format("    {}\n", fmt::join(state, " "));
  }
  return text;
}

struct Totals {
  std::uint64_t programs = 0;
  std::uint64_t states = 0;
  std::uint64_t executions = 0;
  std::uint64_t executions_with_lanes = 0;
};

template <typename MakeSearch>
Totals compare(std::uint64_t count, MakeSearch make_reference) {
  Totals totals;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    const QueueProgram program = draw_queue_program(seed);
    auto reference = make_reference();
    const auto expected = reached_by(program, reference, false);
    if (!expected) continue;
    SourceDpor search;
    const auto found = reached_by(program, search, true, std::numeric_limits<std::uint64_t>::max());
    if (found->states != expected->states) {
      ADD_FAILURE() << "program " << seed << ": " << program.describe()
                    << "\n  states that lanes do not reach:\n"
                    << difference(expected->states, found->states)
                    << "  states that only lanes reach:\n"
                    << difference(found->states, expected->states);
      break;
    }
    ++totals.programs;
    totals.states += expected->states.size();
    totals.executions += expected->executions;
    totals.executions_with_lanes += found->executions;
  }
  testing::Test::RecordProperty("programs", std::to_string(totals.programs));
  testing::Test::RecordProperty("states", std::to_string(totals.states));
  testing::Test::RecordProperty("executions", std::to_string(totals.executions));
  testing::Test::RecordProperty("executions_with_lanes",
                                std::to_string(totals.executions_with_lanes));
  return totals;
}

}  // namespace

TEST(Lanes, ReachTheStatesOfWholeQueuePairs) {
  const std::uint64_t count = program_count();
  const Totals totals = compare(count, [] { return SourceDpor(); });
  EXPECT_GT(totals.programs, count / 2);
  EXPECT_LT(totals.executions_with_lanes, totals.executions);
}

TEST(Lanes, ReachTheStatesOfAPlainSearch) {
  const std::uint64_t count = program_count() / 2;
  const Totals totals =
      compare(count, [] { return PlainSearch(PlainSearch::Depth::sufficient_answers); });
  EXPECT_GT(totals.programs, count / 10);
}

// The revocation changes what the CAS touches: a refused one does not access its word. The trace in
// which the WRITE comes before the CAS, and the CAS before the revocation, is one of its own.
TEST(Lanes, AreRevokedAfterWhatARefusedRequestWouldHaveMet) {
  QueueProgram program;
  program.options.atomic_capability = fabric::AtomicCapability::device;
  program.stage.memory_words = 12;
  program.stage.client_count = 2;
  program.clients = {{{.verb = QueueVerb::compare_and_swap, .word = 1},
                      {.verb = QueueVerb::fetch_and_add, .word = 0}},
                     {{.verb = QueueVerb::write, .word = 1}}};
  program.server = {ServerAct::revoke};
  SourceDpor with_lanes;
  SourceDpor without;
  const auto found = reached_by(program, with_lanes, true);
  const auto expected = reached_by(program, without, false);
  ASSERT_TRUE(found && expected);
  EXPECT_EQ(difference(expected->states, found->states), "");
  EXPECT_EQ(found->states.size(), 12U);
}

}  // namespace falafel::explorer
