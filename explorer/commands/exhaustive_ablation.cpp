#include "explorer/commands/exhaustive_ablation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "explorer/exhaustive/exhaustive.h"
#include "explorer/replay.h"
#include "explorer/small_world.h"

namespace falafel::command_line {
namespace {

using explorer::ExhaustiveResult;
using Explored = tl::expected<ExhaustiveResult, std::string>;

std::string describe(const Explored& explored) {
  if (!explored) return explored.error();
  return fmt::format("{}{}: {} executions, {:.1f} s", to_string(explored->coverage),
                     explored->violation ? ", violated" : "", explored->executions,
                     explored->seconds);
}

std::string save(const explorer::Program& program, const std::string& name,
                 const ExhaustiveAblationOptions& options, const explorer::FailingRun& failing) {
  const std::string path =
      (std::filesystem::path(options.output) / fmt::format("exhaustive-without-{}.replay", name))
          .string();
  const auto saved = sim::save_replay_file(explorer::to_replay_file(program, failing), path);
  return saved ? path : saved.error();
}

// Returns whether the world holds with the safeguard, and is violated without it. The replay file
// has the name.
bool ablate(const explorer::Program& program, const explorer::SmallAblation& ablation,
            const std::string& name, const ExhaustiveAblationOptions& options) {
  explorer::ExhaustiveOptions exploration = ablation.world.exploration;
  exploration.max_seconds = options.seconds;
  const Explored with =
      explorer::explore_exhaustively(program, *ablation.world.scenario, exploration);
  fmt::print("{}: {}\n  with the safeguard: {}\n", ablation.safeguard, ablation.world.name,
             describe(with));
  exploration.finds_shortest_violation = true;
  const Explored without =
      explorer::explore_exhaustively(program, *ablation.without_safeguard, exploration);
  fmt::print("  without it: {}\n", describe(without));
  const bool is_violated = without && without->violation;
  if (is_violated) {
    fmt::print(
        "  {} executions violate a property, the first after {} executions. The shortest {} "
        "{} steps and violates {}:\n  {}\n",
        without->violations, without->executions_until_violation,
        without->coverage == explorer::Coverage::stopped ? "found so far has" : "has",
        without->violation->run.result.steps, without->violation->run.property(),
        save(program, name, options, *without->violation));
  }
  std::fflush(stdout);
  return is_violated && with && !with->violation;
}

}  // namespace

int ablate_exhaustively(const explorer::Program& program,
                        const ExhaustiveAblationOptions& options) {
  const auto is_chosen = [&](const std::string& safeguard) {
    return options.only.empty() || std::ranges::find(options.only, safeguard) != options.only.end();
  };
  const std::vector<explorer::SmallAblation> ablations = program.small_ablations();
  bool all_are_needed = true;
  for (const std::string& safeguard : program.safeguards()) {
    if (!is_chosen(safeguard)) continue;
    std::size_t worlds = 0;
    for (const explorer::SmallAblation& ablation : ablations) {
      if (ablation.safeguard != safeguard) continue;
      ++worlds;
      const std::string name = worlds == 1 ? safeguard : fmt::format("{}-{}", safeguard, worlds);
      if (!ablate(program, ablation, name, options)) all_are_needed = false;
    }
    if (worlds > 0) continue;
    fmt::print("{}: no small world\n", safeguard);
    all_are_needed = false;
  }
  return all_are_needed ? 0 : 1;
}

}  // namespace falafel::command_line
