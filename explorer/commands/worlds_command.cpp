// `worlds`: explores the small worlds of a program exhaustively (docs/proofs.md).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explorer/commands/commands.h"
#include "explorer/exhaustive/exhaustive.h"
#include "explorer/small_world.h"

namespace falafel::command_line {
namespace {

struct WorldsOptions {
  std::vector<std::string> names;
  double seconds = 60;
  std::optional<std::uint64_t> max_preemptions;
  bool lists = false;
};

void print_header() {
  fmt::print("{:<32}{:>12}{:>11}{:>13}{:>9}  {}\n", "world", "executions", "redundant", "steps",
             "seconds", "result");
}

void print(const std::string& name, const explorer::ExhaustiveResult& result) {
  const std::string verdict =
      result.violation
          ? fmt::format("violated: {}", result.violation->run.violations.front().property)
          : fmt::format("{}, no violation", result.describe_coverage());
  fmt::print("{:<32}{:>12}{:>11}{:>13}{:>9.1f}  {}\n", name, result.executions, result.redundant,
             result.steps, result.seconds, verdict);
  std::fflush(stdout);
}

constexpr int status_of_limit = 4;

// Returns the exit status.
int explore(const explorer::Program& program, const explorer::SmallWorld& world,
            const WorldsOptions& options) {
  explorer::ExhaustiveOptions exploration = world.exploration;
  exploration.max_seconds = options.seconds;
  exploration.max_preemptions = options.max_preemptions;
  const auto result = explorer::explore_exhaustively(program, *world.scenario, exploration);
  if (!result) {
    fmt::print(stderr, "{}: {}\n", world.name, result.error());
    return 2;
  }
  print(world.name, *result);
  if (result->violation) return 1;
  if (result->coverage == explorer::Coverage::empty) {
    fmt::print(stderr, "{}: {}\n", world.name, explorer::explain_emptiness());
    return 2;
  }
  return result->coverage == explorer::Coverage::stopped ? status_of_limit : 0;
}

int explore_worlds(const explorer::Program& program, const WorldsOptions& options) {
  std::vector<explorer::SmallWorld> worlds = program.small_worlds();
  for (const std::string& name : options.names) {
    if (std::ranges::find(worlds, name, &explorer::SmallWorld::name) != worlds.end()) continue;
    fmt::print(stderr, "--world {}: there is no such world; --list prints their names\n", name);
    return 2;
  }
  std::erase_if(worlds, [&](const explorer::SmallWorld& world) {
    return !options.names.empty() &&
           std::ranges::find(options.names, world.name) == options.names.end();
  });
  if (options.lists) {
    for (const explorer::SmallWorld& world : worlds) fmt::print("{}\n", world.name);
    return 0;
  }
  print_header();
  std::vector<int> statuses;
  statuses.reserve(worlds.size());
  for (const explorer::SmallWorld& world : worlds) {
    statuses.push_back(explore(program, world, options));
  }
  for (const int status : {2, 1, status_of_limit}) {
    if (std::ranges::find(statuses, status) != statuses.end()) return status;
  }
  return 0;
}

}  // namespace

void add_worlds_command(CLI::App& app, CommandProgram& program, int& exit_status) {
  CLI::App* command = app.add_subcommand(
      "worlds",
      fmt::format("run the small worlds of {} with all schedules that differ", program.noun()));
  const auto options = std::make_shared<WorldsOptions>();
  command->add_option("--world", options->names, "only this world (may be repeated)");
  command->add_option("--seconds", options->seconds, "time limit of each world, in seconds")
      ->capture_default_str();
  command->add_option("--preemptions", options->max_preemptions,
                      "only schedules that preempt an actor at most so often, without reduction");
  command->add_flag("--list", options->lists, "print the names of the worlds");
  program.add_program_option(*command);
  command->callback([options, &program, &exit_status] {
    exit_status = explore_worlds(program.selected(), *options);
  });
}

}  // namespace falafel::command_line
