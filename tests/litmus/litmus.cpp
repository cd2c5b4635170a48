#include "tests/litmus/litmus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>

#include "fabric/fiber_stack.h"
#include "fabric/sim/strategies/make_strategy.h"

namespace falafel::litmus {
namespace {

// A litmus program ends after about a hundred steps; one that takes this many is in an endless
// loop.
constexpr std::uint64_t step_limit = 20'000;
constexpr std::uint64_t usual_steps = 64;
// An exploration gives up at a longer run, because it would have to run it again and again.
constexpr std::uint64_t explored_step_limit = 1'000;
// A proof gives up beyond that.
constexpr std::uint64_t most_proven_executions = 100'000;
// Set in the environment, it makes all tests try random schedules.
constexpr const char* random_variable = "FALAFEL_LITMUS_RANDOM";

const AllowedOutcome* find(const std::vector<AllowedOutcome>& outcomes, std::uint64_t digits) {
  const auto found = std::ranges::find(outcomes, digits, &AllowedOutcome::digits);
  return found == outcomes.end() ? nullptr : &*found;
}

bool is_listed(const Litmus& litmus, std::uint64_t digits) {
  return find(litmus.allowed, digits) != nullptr || find(litmus.tolerated, digits) != nullptr;
}

sim::SimulationOptions options_for(const Litmus& litmus, std::uint64_t seed) {
  sim::SimulationOptions options = litmus.options;
  options.strategy = seed % 2 == 0 ? sim::StrategyKind::random : sim::StrategyKind::pct;
  options.pct_steps = usual_steps;
  options.step_limit = step_limit;
  return options;
}

struct RunOutcome {
  std::uint64_t digits = 0;
  sim::Outcome end{};
  std::string explanation;  // empty if the run ended normally
};

RunOutcome run_once(const Litmus& litmus, sim::Simulation& simulation) {
  Trial trial(simulation, litmus.stage, litmus.server, litmus.clients);
  trial.result = simulation.run();
  const sim::Outcome end = trial.result.outcome;
  if (end != sim::Outcome::completed) {
    return {incomplete_outcome, end,
            fmt::format("{}: {}", sim::to_string(end), trial.result.explanation)};
  }
  return {litmus.outcome(trial), end, {}};
}

RunOutcome run_once(const Litmus& litmus, const sim::SimulationOptions& options,
                    sim::Strategy& strategy, fabric::FiberStackPool& stacks) {
  sim::Simulation simulation(options, strategy, stacks);
  return run_once(litmus, simulation);
}

RunOutcome run_once(const Litmus& litmus, const sim::SimulationOptions& options, std::uint64_t seed,
                    fabric::FiberStackPool& stacks) {
  return run_once(litmus, options, *sim::make_strategy(options, seed), stacks);
}

std::string describe(const Litmus& litmus, std::uint64_t digits, const Tally& tally) {
  std::string meaning = "NOT ALLOWED";
  if (digits == incomplete_outcome) {
    const sim::SimulationOptions options = options_for(litmus, tally.first_seed);
    fabric::FiberStackPool stacks;
    meaning = "NOT ALLOWED, " + run_once(litmus, options, tally.first_seed, stacks).explanation;
  } else if (const AllowedOutcome* allowed = find(litmus.allowed, digits)) {
    meaning = allowed->meaning;
  } else if (const AllowedOutcome* tolerated = find(litmus.tolerated, digits)) {
    meaning = tolerated->meaning;
  }
  return fmt::format("  {:>10x}  {:>10} times, first with seed {:>7}  {}\n", digits, tally.count,
                     tally.first_seed, meaning);
}

std::string describe(const Litmus& litmus, const OutcomeTable& table) {
  std::string text = "outcomes seen:\n";
  for (const auto& [digits, tally] : table) text += describe(litmus, digits, tally);
  for (const AllowedOutcome& outcome : litmus.allowed) {
    if (table.contains(outcome.digits)) continue;
    text += fmt::format("  {:>10x}       never                           {}\n", outcome.digits,
                        outcome.meaning);
  }
  return text;
}

}  // namespace

OutcomeTable run_litmus(const Litmus& litmus, std::uint64_t schedules) {
  OutcomeTable table;
  fabric::FiberStackPool stacks;
  const sim::SimulationOptions options[] = {options_for(litmus, 0), options_for(litmus, 1)};
  for (std::uint64_t seed = 0; seed < schedules; ++seed) {
    const std::uint64_t digits = run_once(litmus, options[seed % 2], seed, stacks).digits;
    Tally& tally = table.try_emplace(digits, Tally{.first_seed = seed}).first->second;
    ++tally.count;
    if (tally.count == 1 && !is_listed(litmus, digits)) break;
    if (seed + 1 == reach_schedules && table.size() < litmus.allowed.size()) break;
  }
  return table;
}

std::optional<Proof> prove(const Litmus& litmus, std::uint64_t most_executions) {
  sim::SimulationOptions options = litmus.options;
  options.step_limit = explored_step_limit;
  const auto explored = explorer::options_for_exploration(options);
  if (!explored) return std::nullopt;
  Litmus explored_litmus = litmus;
  explored_litmus.stage.is_explored = true;
  Proof proof;
  fabric::FiberStackPool stacks;
  proof.result = explorer::explore_executions(
      {.explored_from_ns = programs_start_ns, .max_executions = most_executions},
      [&](sim::Strategy& strategy) {
        const RunOutcome run = run_once(explored_litmus, *explored, strategy, stacks);
        // An execution that the exploration gives up was stopped.
        if (run.end != sim::Outcome::stopped) ++proof.table[run.digits].count;
        return explorer::Execution{.outcome = run.end,
                                   .is_violation = run.end == sim::Outcome::step_limit};
      });
  if (proof.result.coverage == explorer::Coverage::stopped) return std::nullopt;
  return proof;
}

namespace {

// The expectations that the proof contradicts.
std::string find_problems(const Litmus& litmus, const Proof& proof) {
  std::string problems;
  for (const AllowedOutcome& outcome : litmus.allowed) {
    if (proof.table.contains(outcome.digits)) continue;
    problems += fmt::format("{:x} never appears: {}\n", outcome.digits, outcome.meaning);
  }
  for (const auto& [digits, tally] : proof.table) {
    if (is_listed(litmus, digits)) continue;
    problems +=
        fmt::format("{:x} must not appear, and does in {} executions\n", digits, tally.count);
  }
  return problems;
}

// The expectations that a campaign of random schedules contradicts.
std::string find_problems(const Litmus& litmus, const OutcomeTable& table) {
  std::string problems;
  for (const AllowedOutcome& outcome : litmus.allowed) {
    const auto found = table.find(outcome.digits);
    if (found != table.end() && found->second.first_seed < reach_schedules) continue;
    problems += fmt::format("{:x} was not reached within {} schedules: {}\n", outcome.digits,
                            reach_schedules, outcome.meaning);
  }
  for (const auto& [digits, tally] : table) {
    if (is_listed(litmus, digits)) continue;
    problems += fmt::format("{:x} must not appear, and does with seed {}; forbidden is {}\n",
                            digits, tally.first_seed,
                            litmus.forbidden.empty() ? "what is not listed" : litmus.forbidden);
  }
  return problems;
}

void verify_at_random(const Litmus& litmus) {
  const OutcomeTable table =
      run_litmus(litmus, litmus.forbidden.empty() ? reach_schedules : never_schedules);
  const std::string problems = find_problems(litmus, table);
  if (!problems.empty()) ADD_FAILURE() << problems << describe(litmus, table);
}

// A timed run ends in one of the listed outcomes, too.
void verify_timed(const Litmus& litmus) {
  constexpr std::uint64_t timed_schedules = 10;
  const auto profile = sim::timing::find_profile("connectx3-qdr").value();
  const sim::SimulationOptions options = options_for(litmus, 0);
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 0; seed < timed_schedules; ++seed) {
    const auto strategy = sim::make_strategy(options, seed);
    sim::Simulation simulation(options, *strategy, stacks, profile);
    const RunOutcome run = run_once(litmus, simulation);
    EXPECT_TRUE(is_listed(litmus, run.digits)) << fmt::format(
        "a timed run ends in {:x} with seed {} {}", run.digits, seed, run.explanation);
  }
}

}  // namespace

void verify(const Litmus& litmus) {
  verify_timed(litmus);
  const bool is_random = std::getenv(random_variable) != nullptr || !litmus.unproven.empty();
  const std::optional<Proof> proof =
      is_random ? std::nullopt : prove(litmus, most_proven_executions);
  testing::Test::RecordProperty("proof", proof ? proof->result.describe() : "none");
  if (!proof) {
    if (!is_random) {
      ADD_FAILURE() << "more than " << most_proven_executions
                    << " executions, or a fault at steps that are drawn in advance: make the test "
                       "smaller, or let it say why it is `unproven`";
    }
    verify_at_random(litmus);
    return;
  }
  const std::string problems = find_problems(litmus, *proof);
  if (!problems.empty()) {
    ADD_FAILURE() << problems << proof->result.describe() << '\n' << describe(litmus, proof->table);
  }
}

std::uint64_t seen_digits(const Trial& trial, std::size_t count, std::size_t first) {
  std::uint64_t packed = 0;
  for (std::size_t index = first; index < first + count; ++index) {
    packed = packed << 4U | digits(trial.seen.at(index));
  }
  return packed;
}

}  // namespace falafel::litmus
