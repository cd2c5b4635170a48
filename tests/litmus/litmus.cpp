#include "tests/litmus/litmus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <algorithm>
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
  std::string explanation;  // empty if the run ended normally
};

RunOutcome run_once(const Litmus& litmus, const sim::SimulationOptions& options, std::uint64_t seed,
                    fabric::FiberStackPool& stacks) {
  const std::unique_ptr<sim::Strategy> strategy = sim::make_strategy(options, seed);
  sim::Simulation simulation(options, *strategy, stacks);
  Trial trial(simulation, litmus.stage, litmus.server, litmus.clients);
  trial.result = simulation.run();
  if (trial.result.outcome != sim::Outcome::completed) {
    return {incomplete_outcome,
            fmt::format("{}: {}", sim::to_string(trial.result.outcome), trial.result.explanation)};
  }
  return {litmus.outcome(trial), {}};
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

void verify(const Litmus& litmus) {
  const OutcomeTable table =
      run_litmus(litmus, litmus.forbidden.empty() ? reach_schedules : never_schedules);
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
  if (!problems.empty()) ADD_FAILURE() << problems << describe(litmus, table);
}

std::uint64_t seen_digits(const Trial& trial, std::size_t count, std::size_t first) {
  std::uint64_t packed = 0;
  for (std::size_t index = first; index < first + count; ++index) {
    packed = packed << 4U | digits(trial.seen.at(index));
  }
  return packed;
}

}  // namespace falafel::litmus
