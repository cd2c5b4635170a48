// Prints how many schedules each strategy needs until a program of SCTBench fails.
// docs/fuzzing.md ("Strategies") has the table beside published figures.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "tools/scenarios/sctbench/programs.h"
#include "tools/scenarios/sctbench/search.h"

namespace falafel::sctbench {
namespace {

constexpr std::uint64_t seeds_between_searches = 1'000'000'000;  // as in `falafel ablate --repeat`
constexpr std::array strategies{sim::StrategyKind::random, sim::StrategyKind::pct,
                                sim::StrategyKind::pos, sim::StrategyKind::urw};

struct Arguments {
  std::uint64_t searches = 20;
  std::uint64_t schedules = 20'000;
  std::uint64_t seed = 1;
  std::vector<std::string> programs;
};

std::string text(std::optional<std::uint64_t> schedules) {
  return schedules ? fmt::format("{}", *schedules) : "none";
}

std::string cell(const Subject& subject, sim::StrategyKind strategy, const Arguments& arguments) {
  const auto program = make_program(subject, strategy);
  Searches searches;
  for (std::uint64_t number = 0; number < arguments.searches; ++number) {
    searches.add(schedules_to_failure(*program, arguments.seed + number * seeds_between_searches,
                                      arguments.schedules));
  }
  if (searches.successes() == 0) return "none";
  if (searches.worst()) return fmt::format("{}, {}", text(searches.median()), *searches.worst());
  return fmt::format("{}, {} of {}", text(searches.median()), searches.successes(),
                     arguments.searches);
}

bool is_chosen(const Subject& subject, const Arguments& arguments) {
  return arguments.programs.empty() ||
         std::ranges::find(arguments.programs, subject.name) != arguments.programs.end();
}

void print_table(const Arguments& arguments) {
  fmt::print("| Program |");
  for (const sim::StrategyKind strategy : strategies) fmt::print(" {} |", to_string(strategy));
  fmt::print("\n| --- |");
  for (std::size_t column = 0; column < strategies.size(); ++column) fmt::print(" --: |");
  fmt::print("\n");
  for (const Subject& subject : subjects()) {
    if (!is_chosen(subject, arguments)) continue;
    fmt::print("| {} |", subject.name);
    for (const sim::StrategyKind strategy : strategies) {
      fmt::print(" {} |", cell(subject, strategy, arguments));
      std::fflush(stdout);
    }
    fmt::print("\n");
  }
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Subject& subject : subjects()) names.push_back(subject.name);
  return names;
}

int run_program(int argc, char** argv) {
  CLI::App app{
      "How many schedules each strategy needs until a program of SCTBench fails: the median of the "
      "searches, and the largest number or, if some searches found nothing, how many did."};
  Arguments arguments;
  app.add_option("--searches", arguments.searches, "searches per program and strategy")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--schedules", arguments.schedules, "limit of schedules of each search")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", arguments.seed, "the first seed")->capture_default_str();
  app.add_option("--programs", arguments.programs, "only these; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(names()));
  CLI11_PARSE(app, argc, argv);
  print_table(arguments);
  return 0;
}

}  // namespace
}  // namespace falafel::sctbench

int main(int argc, char** argv) { return falafel::sctbench::run_program(argc, argv); }
