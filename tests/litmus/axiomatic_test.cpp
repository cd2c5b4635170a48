// Goes through all small programs. The set of a program's outcomes on the simulator, by exhaustive
// exploration, must equal the set that the axioms allow.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <cstdlib>
#include <sstream>

#include "tests/litmus/small_program_run.h"
#include "tools/command_line/acceptance/rules/axiomatic_model.h"
#include "tools/command_line/acceptance/rules/small_program.h"

namespace falafel::litmus {
namespace {

struct Totals {
  std::uint64_t programs = 0;
  std::uint64_t executions = 0;
  std::uint64_t redundant = 0;
  std::uint64_t outcomes = 0;
};

std::string difference(const std::set<SmallOutcome>& from, const std::set<SmallOutcome>& without) {
  std::string text;
  for (const SmallOutcome& outcome : from) {
    if (!without.contains(outcome)) text += fmt::format("    {:x}\n", fmt::join(outcome, " "));
  }
  return text;
}

// After this number of programs that differ, the others are not compared.
constexpr std::uint64_t most_differences = 10;

// Compares programs one by one, and adds them up.
class Comparison {
 public:
  void compare(const SmallProgram& program) {
    if (differences_ == most_differences) return;
    const ExploredProgram explored = explore(program, stacks_);
    ++totals_.programs;
    totals_.executions += explored.counts.executions;
    totals_.redundant += explored.counts.redundant;
    totals_.outcomes += explored.outcomes.size();
    const std::set<SmallOutcome> allowed = allowed_outcomes(program);
    const bool is_complete = explored.counts.coverage == explorer::Coverage::complete;
    if (is_complete && explored.outcomes == allowed) return;
    ++differences_;
    ADD_FAILURE() << program.describe() << "\n  " << explored.counts.describe()
                  << "\n  on the simulator, and not allowed:\n"
                  << difference(explored.outcomes, allowed)
                  << "  allowed, and not on the simulator:\n"
                  << difference(allowed, explored.outcomes);
  }

  const Totals& totals() const { return totals_; }

 private:
  fabric::FiberStackPool stacks_;
  Totals totals_;
  std::uint64_t differences_ = 0;
};

void report(const Totals& totals) {
  const std::string text =
      fmt::format("{} programs, {} executions, {} redundant, {} outcomes", totals.programs,
                  totals.executions, totals.redundant, totals.outcomes);
  testing::Test::RecordProperty(fmt::format("of_{}_programs", totals.programs), text);
  fmt::print("{}\n", text);
}

}  // namespace

namespace {

struct Size {
  std::size_t first = 0;    // calls of the first client, at most
  std::size_t second = 0;   // calls of the second client, or of the processor
  std::uint64_t parts = 1;  // into which the programs are divided
  std::uint64_t part = 0;   // the one to compare
};

// Larger sets take too long for each run of the tests. The environment asks for them: "3 2" for
// three and two calls, "3 3 100 99" for the last of a hundred parts of the programs of three calls
// each, counted from 0.
Size size_of(const char* variable, Size usual) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return usual;
  std::istringstream(text) >> usual.first >> usual.second >> usual.parts >> usual.part;
  return usual;
}

template <typename ForEach>
void compare_all(const Size& size, ForEach for_each) {
  Comparison comparison;
  std::uint64_t number = 0;
  for_each(size.first, size.second, [&](const SmallProgram& program) {
    if (number++ % size.parts == size.part) comparison.compare(program);
  });
  EXPECT_GT(comparison.totals().programs, 0U);
  report(comparison.totals());
}

}  // namespace

// A simulator that broke one of the axioms would fail the tests below: without it, some program has
// other outcomes.
TEST(Axiomatic, EachAxiomChangesTheOutcomesOfAProgram) {
  for (const Axiom axiom : all_axioms) {
    std::string shown_by;
    const auto try_program = [&](const SmallProgram& program) {
      if (shown_by.empty() && allowed_outcomes(program, axiom) != allowed_outcomes(program)) {
        shown_by = program.describe();
      }
    };
    for_each_program_with_processor(1, 2, try_program);
    for_each_program_of_clients(3, 0, try_program);
    for_each_program_of_clients(2, 2, try_program);
    const auto number = static_cast<int>(axiom);
    EXPECT_FALSE(shown_by.empty()) << "axiom " << number;
    RecordProperty(fmt::format("axiom_{}", number), shown_by);
  }
}

TEST(Axiomatic, TwoClientsOfTwoCalls) { compare_all({2, 2}, for_each_program_of_clients); }

TEST(Axiomatic, ClientsOfThreeCallsAndOne) { compare_all({3, 1}, for_each_program_of_clients); }

TEST(Axiomatic, ClientOfThreeCallsAndProcessorOfTwo) {
  compare_all({3, 2}, for_each_program_with_processor);
}

TEST(Axiomatic, SomeClientsOfThreeCalls) {
  compare_all({3, 2, 1'000, 0}, for_each_program_of_clients);
  compare_all({3, 3, 50'000, 0}, for_each_program_of_clients);
}

TEST(Axiomatic, TwoClientsAsAskedFor) {
  compare_all(size_of("FALAFEL_LITMUS_TWO_CLIENTS", {1, 1}), for_each_program_of_clients);
}

TEST(Axiomatic, ClientAndProcessorAsAskedFor) {
  compare_all(size_of("FALAFEL_LITMUS_WITH_PROCESSOR", {1, 1}), for_each_program_with_processor);
}

}  // namespace falafel::litmus
