// Exhaustive exploration: runs a program with all schedules that differ, instead of with some that
// are drawn at random. docs/exhaustive.md describes the method and what it assumes of a program.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "explorer/exhaustive/exhaustive_options.h"
#include "explorer/failing_run.h"
#include "explorer/program.h"

namespace falafel::explorer {

class Search;

enum class Coverage : std::uint8_t {
  complete,                    // all executions
  complete_up_to_steps,        // all, but some were cut off at the step limit
  complete_up_to_preemptions,  // all that preempt no more often than asked for
  complete_up_to_faults,       // all with no more faults than asked for
  complete_up_to_deadlines,    // all in which deadlines pass only when nothing else can move
  stopped,                     // not all
  empty,                       // the search could choose nothing, so nothing is proven
};
std::string_view to_string(Coverage coverage);

struct ExhaustiveResult {
  Coverage coverage = Coverage::complete;
  std::uint64_t executions = 0;  // that ran to their end, or to the step limit
  std::uint64_t cut_off = 0;     // of them, those that reached the step limit
  std::uint64_t redundant = 0;   // given up, because all their continuations were known
  std::uint64_t unknown = 0;     // executions that a checker could not judge
  std::uint64_t steps = 0;       // of all executions
  double seconds = 0;
  // An estimate (Search::explored_share); 1 if all is explored.
  double explored_share = 0;
  std::uint64_t violations = 0;  // executions that violate a property
  std::uint64_t executions_until_violation = 0;
  std::optional<FailingRun> violation;  // the first or the shortest of them
  // max_preemptions kept executions from being run.
  bool bounds_preemptions = false;
  // The number of runs that reached each condition of the program before an interruption.
  std::map<std::string, std::uint64_t> earlier_conditions{};
  // The part of the tree that crashed (explore_in_jobs), or empty.
  std::string crash{};
  // The bounds that kept executions from being run, as in "2 preemptions".
  std::vector<std::string> bounds;

  // Deadlines that passed only when nothing else could move, each as a sentence. Runs in which one
  // of them passes earlier were left out.
  std::set<std::string> deadlines{};
  // The most choices of a run that were fixed, because they were outside of the explored part.
  std::uint64_t fixed_choices = 0;
  // The assumptions of the exploration of a program, each as a sentence (assumptions.h).
  std::vector<std::string> assumptions{};
  // True if the search could choose anything.
  bool has_explored = false;

  bool is_complete_up_to_bounds() const {
    return coverage != Coverage::stopped && coverage != Coverage::empty;
  }
  std::string describe_coverage() const;  // "complete", "complete up to 2 preemptions", "stopped"
  std::string describe_share() const;     // "about 12 % of the tree"
  std::string describe() const;           // one line
  std::string describe_limits() const;    // assumptions and deadlines, one in each line
};

// The options with which a scenario is explored: steps take no time, and the schedule chooses when
// at most `max_faults` faults strike; everything else is as it was. Returns a message if a fault
// strikes at steps that are drawn in advance, or only up to a step: such a run depends on how many
// steps there were, so no steps commute.
tl::expected<sim::SimulationOptions, std::string> options_for_exploration(
    sim::SimulationOptions options, std::optional<std::uint64_t> max_faults = std::nullopt);

// Explores `scenario`, with options_for_exploration, until the first violation.
tl::expected<ExhaustiveResult, std::string> explore_exhaustively(const Program& program,
                                                                 const Scenario& scenario,
                                                                 const ExhaustiveOptions& options);

// The same for what is not a Program. An execution runs one simulation, which has
// options_for_exploration, with the strategy that it gets.
struct Execution {
  sim::Outcome outcome{};
  std::uint64_t steps = 0;
  bool is_unknown = false;
  bool is_violation = false;
};
using Execute = std::function<Execution(sim::Strategy& strategy)>;
// Calls `repeat` with a strategy that repeats the first violation, if there is one.
using Repeat = std::function<FailingRun(sim::Strategy& strategy)>;
ExhaustiveResult explore_executions(const ExhaustiveOptions& options, const Execute& execute,
                                    const Repeat& repeat = nullptr);

// The same with a search of the caller's. The result does not name the bounds.
ExhaustiveResult explore_executions(Search& search, const ExhaustiveOptions& options,
                                    const Execute& execute, const Repeat& repeat = nullptr);
// Names the bounds that kept executions from being run. `bounds_preemptions`: one of them is
// max_preemptions. An exploration that could choose nothing is empty.
void describe_bounds(const ExhaustiveOptions& options, bool bounds_preemptions,
                     ExhaustiveResult& result);

// The reason for which an exploration is empty, and the remedy.
std::string explain_emptiness();

// The options for a program: whether it has preparations, as one run shows.
ExhaustiveOptions options_of_program(const ExhaustiveOptions& options, const Execute& execute);

// The scenario as it is explored, and what runs it.
tl::expected<std::unique_ptr<Scenario>, std::string> scenario_for_exploration(
    const Scenario& scenario, const ExhaustiveOptions& options);
Execute executor_of(Runner& runner, const Scenario& scenario);

}  // namespace falafel::explorer
