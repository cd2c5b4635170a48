// `ablate`: tests whether every safeguard is needed. It switches off one safeguard at a
// time and searches for a failing schedule, which it shrinks and saves.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "explorer/campaign.h"
#include "explorer/commands/chosen_program.h"
#include "explorer/commands/commands.h"
#include "explorer/commands/exhaustive_ablation.h"
#include "explorer/commands/simulation_texts.h"
#include "explorer/record_failure.h"

namespace falafel::command_line {
namespace {

struct AblateOptions {
  double seconds_per_safeguard = 60;
  double shrink_seconds = 40;
  std::uint64_t seed = 1;
  std::uint64_t repeat = 1;
  unsigned jobs = 1;
  std::uint64_t schedules = 0;  // 0: as many as the time allows
  SimulationTexts simulation;
  std::vector<std::string> only;
  std::string output = ".";
  bool json = false;
  bool exhaustive = false;
};

// Exceeds the number of seeds of any search.
constexpr std::uint64_t seeds_between_searches = 1'000'000'000;

// One search that starts at one seed.
struct AblationSearch {
  std::uint64_t seed = 0;
  bool caught = false;
  std::uint64_t schedules = 0;
  double seconds = 0;
  explorer::Finding finding;  // valid if caught
};

struct Row {
  std::string safeguard;
  std::vector<AblationSearch> searches;
  std::string replay_path;  // replay file of the first search
  std::uint64_t steps = 0;

  std::size_t caught() const {
    return static_cast<std::size_t>(std::ranges::count(searches, true, &AblationSearch::caught));
  }
};

// The lower of the two in the middle if the number of values is even.
template <typename Number>
Number median(const std::vector<AblationSearch>& searches, Number AblationSearch::*member) {
  std::vector<Number> numbers;
  numbers.reserve(searches.size());
  for (const AblationSearch& search : searches) numbers.push_back(search.*member);
  std::ranges::sort(numbers);
  return numbers[(numbers.size() - 1) / 2];
}

std::string save(const AblateOptions& options, const explorer::Program& ablated,
                 const explorer::Finding& finding, Row& row) {
  const std::string path =
      (std::filesystem::path(options.output) / fmt::format("without-{}.replay", row.safeguard))
          .string();
  const auto recorded =
      explorer::record_failure(ablated, finding, {.seconds = options.shrink_seconds}, path,
                               [](const explorer::FailingRun&) {});
  if (!recorded) fmt::print(stderr, "{}\n", recorded.error());
  row.steps = recorded ? recorded->steps : finding.steps;
  return recorded ? path : std::string();
}

// Returns the shortest failing run among all violated properties and all workers.
explorer::Finding shortest_finding(const explorer::CampaignResult& result) {
  explorer::Finding shortest;
  for (const auto& [property, finding] : result.findings) {
    if (shortest.property.empty() || finding.steps < shortest.steps) shortest = finding;
  }
  return shortest;
}

// The schedules up to the first failing one. Workers may have run a few more before they stopped.
std::uint64_t schedules_until_found(const explorer::CampaignResult& result,
                                    std::uint64_t first_seed) {
  std::uint64_t schedules = result.schedules;
  for (const auto& [property, finding] : result.findings) {
    schedules = std::min(schedules, finding.seed - first_seed + 1);
  }
  return schedules;
}

AblationSearch search(const AblateOptions& options, const explorer::Program& ablated,
                      std::uint64_t seed) {
  explorer::CampaignOptions campaign;
  campaign.first_seed = seed;
  campaign.schedules = options.schedules;
  campaign.seconds = options.seconds_per_safeguard;
  campaign.jobs = options.jobs;
  campaign.stops_at_violation = true;
  const explorer::CampaignResult result = explorer::run_campaign(ablated, campaign);
  return {.seed = seed,
          .caught = !result.holds(),
          .schedules = schedules_until_found(result, seed),
          .seconds = result.seconds,
          .finding = shortest_finding(result)};
}

Row ablate(const AblateOptions& options, const explorer::Program& program,
           const SimulationChoices& choices, const std::string& safeguard) {
  const auto all_ablated = program.without(safeguard);
  const ChosenProgram ablated(*all_ablated, choices);
  Row row{.safeguard = safeguard, .searches = {}, .replay_path = {}};
  for (std::uint64_t repetition = 0; repetition < options.repeat; ++repetition) {
    row.searches.push_back(
        search(options, ablated, options.seed + repetition * seeds_between_searches));
  }
  const AblationSearch& first = row.searches.front();
  if (first.caught && first.finding.property != explorer::determinism_property) {
    row.replay_path = save(options, ablated, first.finding, row);
  }
  return row;
}

void print(const Row& row) {
  fmt::print("{:<37}{:>3} of {:<3}{:>10}{:>9.1f}{:>9.1f}  {:<26}{:>6}  {}\n", row.safeguard,
             row.caught(), row.searches.size(), median(row.searches, &AblationSearch::schedules),
             median(row.searches, &AblationSearch::seconds),
             std::ranges::max(row.searches, {}, &AblationSearch::seconds).seconds,
             row.searches.front().finding.property, row.steps, row.replay_path);
  std::fflush(stdout);
}

nlohmann::json to_json(const Row& row) {
  nlohmann::json searches = nlohmann::json::array();
  for (const AblationSearch& search : row.searches) {
    searches.push_back({{"seed", search.seed},
                        {"caught", search.caught},
                        {"schedules", search.schedules},
                        {"seconds", search.seconds},
                        {"property", search.finding.property}});
  }
  return {{"safeguard", row.safeguard},
          {"caught", row.caught() == row.searches.size()},
          {"schedules", median(row.searches, &AblationSearch::schedules)},
          {"seconds", median(row.searches, &AblationSearch::seconds)},
          {"searches", std::move(searches)},
          {"property", row.searches.front().finding.property},
          {"replay", row.replay_path},
          {"steps_after", row.steps}};
}

// The safeguards to switch off; an error if there are none.
tl::expected<std::vector<std::string>, std::string> safeguards_of(
    const AblateOptions& options, const explorer::Program& program) {
  std::vector<std::string> all = program.safeguards();
  if (all.empty()) {
    return tl::unexpected(fmt::format(
        "{} has no safeguards to switch off; ask World::safeguard in its body", program.name()));
  }
  for (const std::string& name : options.only) {
    if (std::ranges::find(all, name) == all.end()) {
      return tl::unexpected(fmt::format("--safeguard {}: unknown safeguard; choose one of {}", name,
                                        fmt::join(all, ", ")));
    }
  }
  std::erase_if(all, [&](const std::string& name) {
    return !options.only.empty() && std::ranges::find(options.only, name) == options.only.end();
  });
  return all;
}

int ablate_all(const CommandProgram& programs, const AblateOptions& options) {
  const explorer::Program& program = programs.selected();
  const auto safeguards = safeguards_of(options, program);
  if (!safeguards) {
    fmt::print(stderr, "{}\n", safeguards.error());
    return 2;
  }
  const auto choices = parse_simulation(options.simulation);
  if (!choices) {
    fmt::print(stderr, "{}\n", choices.error());
    return 2;
  }
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  if (error) {
    fmt::print(stderr, "--output {}: {}\n", options.output, error.message());
    return 2;
  }
  if (options.exhaustive) {
    return ablate_exhaustively(
        program,
        {.seconds = options.seconds_per_safeguard, .only = *safeguards, .output = options.output});
  }
  if (!options.json) {
    fmt::print("{:<37}{:<10}{:>10}{:>9}{:>9}  {:<26}{:>6}  {}\n", "safeguard switched off",
               "   caught", "schedules", "seconds", "longest", "property", "steps", "replay file");
  }
  bool all_caught = true;
  nlohmann::json rows = nlohmann::json::array();
  for (const std::string& safeguard : *safeguards) {
    const Row row = ablate(options, program, *choices, safeguard);
    all_caught = all_caught && row.caught() == row.searches.size();
    if (options.json) {
      rows.push_back(to_json(row));
    } else {
      print(row);
    }
  }
  if (options.json) fmt::print("{}\n", rows.dump(2));
  return all_caught ? 0 : 1;
}

}  // namespace

void add_ablate_command(CLI::App& app, CommandProgram& program, int& exit_status) {
  CLI::App* command = app.add_subcommand(
      "ablate", "switch off each safeguard alone and search for a schedule that fails without it");
  const auto options = std::make_shared<AblateOptions>();
  command
      ->add_option("--seconds-per-safeguard", options->seconds_per_safeguard,
                   "time limit of each search, in seconds")
      ->check(CLI::Range(0.001, 1e9))
      ->capture_default_str();
  command
      ->add_option("--shrink-seconds", options->shrink_seconds,
                   "time limit for shrinking a failing schedule, in seconds")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "the first seed")->capture_default_str();
  command
      ->add_option("--repeat", options->repeat,
                   "searches per safeguard, with seeds far apart; reports their medians")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  command->add_option("--jobs", options->jobs, "number of worker processes")
      ->check(CLI::Range(1, 1'024))
      ->capture_default_str();
  command
      ->add_option("--schedules", options->schedules,
                   "limit of schedules of each search (default: as many as the time allows)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000'000'000'000}));
  add_simulation_options(*command, options->simulation);
  command->add_option("--safeguard", options->only, "test only this safeguard (may be repeated)");
  program.add_ablate_options(*command);
  command->add_option("--output", options->output, "directory for replay files")
      ->capture_default_str();
  CLI::Option* json = command->add_flag("--json", options->json, "print the result as JSON");
  command
      ->add_flag("--exhaustive", options->exhaustive,
                 "explore a small world for each safeguard, with it and without it, instead of "
                 "random schedules; save the shortest schedule that fails")
      ->excludes(json);
  command->callback(
      [options, &program, &exit_status] { exit_status = ablate_all(program, *options); });
}

}  // namespace falafel::command_line
