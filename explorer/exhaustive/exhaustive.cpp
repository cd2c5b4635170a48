#include "explorer/exhaustive/exhaustive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "explorer/exhaustive/assumptions.h"
#include "explorer/exhaustive/plain_search.h"
#include "explorer/exhaustive/preemption_bound.h"
#include "explorer/exhaustive/search_strategy.h"
#include "explorer/exhaustive/source_dpor.h"
#include "explorer/wall_clock.h"
#include "fabric/sim/options/fault_kinds.h"

namespace falafel::explorer {
namespace {

constexpr double seconds_between_reports = 1;

// A preemption bound counts actors, and equivalent runs can differ in their preemptions.
bool is_reduced(const ExhaustiveOptions& options) {
  return !options.without_reduction && !options.max_preemptions;
}

std::unique_ptr<Search> make_search(const ExhaustiveOptions& options) {
  if (!is_reduced(options)) {
    return std::make_unique<PlainSearch>(PlainSearch::Depth::sufficient_answers);
  }
  return std::make_unique<SourceDpor>();
}

void count(ExhaustiveResult& result, const Execution& execution, bool is_redundant) {
  result.steps += execution.steps;
  if (is_redundant) {
    ++result.redundant;
    return;
  }
  ++result.executions;
  if (execution.is_unknown) ++result.unknown;
  if (execution.outcome != sim::Outcome::step_limit) return;
  ++result.cut_off;
  result.coverage = Coverage::complete_up_to_steps;
}

std::string count_of(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

void describe_bounds(const ExhaustiveOptions& options, bool bounds_preemptions,
                     ExhaustiveResult& result) {
  const auto lower = [&](Coverage coverage) {
    if (result.coverage == Coverage::complete) result.coverage = coverage;
  };
  result.bounds_preemptions = bounds_preemptions;
  if (bounds_preemptions) {
    lower(Coverage::complete_up_to_preemptions);
    result.bounds.push_back(count_of(*options.max_preemptions, "preemption"));
  }
  if (options.max_faults) {
    lower(Coverage::complete_up_to_faults);
    result.bounds.push_back(count_of(*options.max_faults, "fault"));
  }
  if (!result.deadlines.empty()) {
    lower(Coverage::complete_up_to_deadlines);
    result.bounds.push_back("races of " + count_of(result.deadlines.size(), "deadline"));
  }
  if (result.cut_off > 0) result.bounds.emplace_back("the step limit");
  if (!result.has_explored && result.violations == 0 && result.coverage != Coverage::stopped) {
    result.coverage = Coverage::empty;
    result.bounds.clear();
  }
}

std::string explain_emptiness() {
  return "the exploration had nothing to choose, so it proves nothing. Either nothing in this "
         "program "
         "runs concurrently, or all of it came before the explored part. Steps take no time during "
         "an exploration, so a run without sleeps is over at time 0. To leave out connecting, do "
         "not "
         "name a time, but let each client call World::ready when it is connected";
}

std::string_view to_string(Coverage coverage) {
  switch (coverage) {
    case Coverage::complete: return "complete";
    case Coverage::complete_up_to_steps: return "complete up to the step limit";
    case Coverage::complete_up_to_preemptions: return "complete up to the preemptions";
    case Coverage::complete_up_to_faults: return "complete up to the faults";
    case Coverage::complete_up_to_deadlines: return "complete up to races of deadlines";
    case Coverage::stopped: return "stopped";
    case Coverage::empty: return "empty";
  }
  return "unknown coverage";
}

std::string ExhaustiveResult::describe_coverage() const {
  if (violation) return "stopped at a violation";
  if (coverage == Coverage::stopped || bounds.empty()) return std::string(to_string(coverage));
  return fmt::format("complete up to {}", fmt::join(bounds, " and "));
}

std::string ExhaustiveResult::describe_share() const {
  return fmt::format("about {:.2g} % of the tree", 100 * explored_share);
}

std::string ExhaustiveResult::describe() const {
  std::string text = fmt::format("{}: {} executions, {} redundant, {} steps, {:.1f} s",
                                 describe_coverage(), executions, redundant, steps, seconds);
  if (coverage == Coverage::stopped && !violation) text += "; " + describe_share();
  if (cut_off > 0) text += fmt::format("; {} reached the step limit", cut_off);
  if (unknown > 0) text += fmt::format("; {} could not be judged", unknown);
  if (violation) text += fmt::format("; violated: {}", violation->run.property());
  return text;
}

std::string ExhaustiveResult::describe_limits() const {
  std::string text;
  if (!assumptions.empty()) text += "assumed:\n";
  for (const std::string& assumption : assumptions) text += fmt::format("  {}\n", assumption);
  if (deadlines.empty()) return text;
  text +=
      "left out, because a deadline passes only when nothing else can move (--max-faults or "
      "max_faults with latency_spike explores earlier passing):\n";
  for (const std::string& deadline : deadlines) text += fmt::format("  {}\n", deadline);
  return text;
}

tl::expected<sim::SimulationOptions, std::string> options_for_exploration(
    sim::SimulationOptions options, std::optional<std::uint64_t> max_faults) {
  options.step_duration_ns = 0;
  options.max_chosen_faults = max_faults.value_or(options.max_chosen_faults);
  if (options.placed_before_completed) {
    return tl::unexpected(
        std::string("placed_before_completed: an exploration does not know which steps such a "
                    "completion waits for; explore without this promise, which is weaker"));
  }
  for (std::size_t index = 0; index < sim::fault_kind_count; ++index) {
    const auto kind = static_cast<sim::FaultKind>(index);
    if (max_faults == 0) options.set_fault_rate(kind, 0);
    if (options.fault_rate(kind) == 0) continue;
    if (kind == sim::FaultKind::clock_step) {
      return tl::unexpected(
          std::string("clock_step: too many times to choose from; explore with rate 0"));
    }
    if (sim::strikes_at_steps(kind) && options.max_chosen_faults == 0) {
      return tl::unexpected(
          fmt::format("{}: this fault strikes at steps drawn in advance; explore with rate 0, or "
                      "limit the number of faults",
                      to_string(kind)));
    }
    if (options.last_fault_step != ~std::uint64_t{0}) {
      return tl::unexpected(
          std::string("last_fault_step: faults that end at a step; explore without a last step"));
    }
  }
  return options;
}

ExhaustiveResult explore_executions(const ExhaustiveOptions& options, const Execute& execute,
                                    const Repeat& repeat) {
  const std::unique_ptr<Search> search = make_search(options);
  PreemptionBound bounded(*search, options.max_preemptions.value_or(0));
  ExhaustiveResult result = explore_executions(
      options.max_preemptions ? static_cast<Search&>(bounded) : *search, options, execute, repeat);
  describe_bounds(options, bounded.has_bound(), result);
  return result;
}

ExhaustiveResult explore_executions(Search& search, const ExhaustiveOptions& options,
                                    const Execute& execute, const Repeat& repeat) {
  SearchStrategy strategy(search, {.explored_from_ns = options.explored_from_ns,
                                   .explored_until_ns = options.explored_until_ns,
                                   .has_preparations = options.has_preparations,
                                   .draws_numbers = options.draws_numbers,
                                   .tells_lanes = is_reduced(options)});
  ExhaustiveResult result;
  std::uint64_t shortest_steps = 0;
  const double start_seconds = now_seconds();
  double next_report_seconds = seconds_between_reports;
  do {
    result.seconds = now_seconds() - start_seconds;
    if (options.progress && result.seconds >= next_report_seconds) {
      result.explored_share = search.explored_share();
      options.progress(result);
      next_report_seconds = result.seconds + seconds_between_reports;
    }
    if (result.executions + result.redundant >= options.max_executions ||
        result.seconds >= options.max_seconds) {
      result.coverage = Coverage::stopped;
      result.explored_share = search.explored_share();
      return result;
    }
    strategy.begin_run();
    const Execution execution = execute(strategy);
    count(result, execution, strategy.is_ended());
    search.end_execution(execution.outcome == sim::Outcome::step_limit);
    result.has_explored = strategy.has_explored();
    if (result.deadlines.size() < strategy.deadlines().size()) {
      result.deadlines = strategy.deadlines();
    }
    result.fixed_choices = strategy.fixed_choices();
    if (execution.is_violation && !strategy.is_ended()) {
      if (++result.violations == 1) result.executions_until_violation = result.executions;
      const bool is_shortest = result.violations == 1 || execution.steps < shortest_steps;
      if (is_shortest) {
        shortest_steps = execution.steps;
        strategy.begin_run();
        if (repeat) result.violation = repeat(strategy);
        search.end_execution(execution.outcome == sim::Outcome::step_limit);
      }
      if (!options.finds_shortest_violation) {
        result.coverage = Coverage::stopped;
        break;
      }
    }
  } while (search.find_next_execution());
  result.explored_share = result.coverage == Coverage::stopped ? search.explored_share() : 1;
  result.seconds = now_seconds() - start_seconds;
  return result;
}

tl::expected<std::unique_ptr<Scenario>, std::string> scenario_for_exploration(
    const Scenario& scenario, const ExhaustiveOptions& options) {
  const auto simulation = options_for_exploration(scenario.simulation, options.max_faults);
  if (!simulation) return tl::unexpected(simulation.error());
  std::unique_ptr<Scenario> explored = scenario.clone();
  explored->simulation = *simulation;
  explored->prepare_for_exploration();
  return explored;
}

ExhaustiveOptions options_of_program(const ExhaustiveOptions& options, const Execute& execute) {
  PlainSearch search(PlainSearch::Depth::sufficient_answers);
  SearchStrategy strategy(search, {.explored_from_ns = fabric::never_ns});
  strategy.begin_run();
  execute(strategy);
  ExhaustiveOptions of_program = options;
  of_program.has_preparations = strategy.has_ended_preparations();
  return of_program;
}

Execute executor_of(Runner& runner, const Scenario& scenario) {
  return [&runner, &scenario](sim::Strategy& strategy) {
    const Run run = runner.run(scenario, strategy);
    return Execution{.outcome = run.result.outcome,
                     .steps = run.result.steps,
                     .is_unknown = !run.unknown.empty(),
                     .is_violation = !run.violations.empty()};
  };
}

tl::expected<ExhaustiveResult, std::string> explore_exhaustively(const Program& program,
                                                                 const Scenario& scenario,
                                                                 const ExhaustiveOptions& options) {
  const auto explored = scenario_for_exploration(scenario, options);
  if (!explored) return tl::unexpected(explored.error());
  const std::unique_ptr<Runner> runner = program.create_runner();
  const Execute execute = executor_of(*runner, **explored);
  ExhaustiveResult result = explore_executions(
      options_of_program(options, execute), execute,
      [&](sim::Strategy& strategy) { return record(*runner, **explored, strategy); });
  result.assumptions = assumptions_of((*explored)->simulation, result.fixed_choices);
  return result;
}

}  // namespace falafel::explorer
