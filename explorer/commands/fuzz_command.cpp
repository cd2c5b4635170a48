// `fuzz`: runs many schedules of a program on the simulator, judges them, and shrinks the failing
// ones.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explorer/campaign.h"
#include "explorer/commands/campaign_in_parts.h"
#include "explorer/commands/campaign_verdict.h"
#include "explorer/commands/commands.h"
#include "explorer/commands/record_finding.h"
#include "explorer/failing_run.h"
#include "explorer/pages.h"

namespace falafel::command_line {
namespace {

constexpr int status_interrupted = 4;
constexpr std::uint64_t most_schedules = 1'000'000'000'000'000'000;

struct FuzzOptions {
  CampaignPlan plan;
  std::string shard_text = "1/1";
  bool has_schedules = false;
  double shrink_seconds = 40;
  double permitted_unjudged_share = 0;
  std::optional<std::uint64_t> trace_seed;
  std::string perfetto;
  std::string output = ".";
  bool json = false;
};

struct Campaign {
  const CommandProgram& command;
  const explorer::Program& program;
  const FuzzOptions& options;
};

// `done` by earlier parts of the campaign, `part` by the one that is under way.
void print_progress(const Campaign& campaign, const explorer::CampaignResult& done,
                    const explorer::CampaignResult& part) {
  if (isatty(STDERR_FILENO) == 0) return;
  const double rate = static_cast<double>(part.schedules) / std::max(part.seconds, 0.001);
  const explorer::CampaignOptions& options = campaign.options.plan.campaign;
  std::size_t reached = 0;
  for (const auto& [probe, count] : part.probes) {
    reached += explorer::count_of(done.probes, probe) + count > 0 ? 1 : 0;
  }
  const double schedules = static_cast<double>(done.schedules + part.schedules);
  const double seconds_left = options.seconds > 0
                                  ? options.seconds - done.seconds - part.seconds
                                  : (static_cast<double>(options.schedules) - schedules) / rate;
  fmt::print(stderr,
             "\r{} schedules, {:.0f}/s, {} of {} probes reached, {} violations, {:.0f} s left   ",
             schedules, rate, reached, campaign.program.probes().size(),
             done.violations.size() + part.violations.size(), std::max(seconds_left, 0.0));
}

// Runs one seed and writes its page, whether the run fails or not.
int trace_seed(const Campaign& campaign, std::uint64_t seed) {
  const FuzzOptions& options = campaign.options;
  const std::string path = (std::filesystem::path(options.output) / "trace.html").string();
  const auto scenario = campaign.program.draw(seed);
  const auto runner = campaign.program.create_runner();
  const explorer::FailingRun run = explorer::record(
      *runner, *scenario, *explorer::make_seeded_strategy(*scenario, seed, runner.get()));
  const auto page = explorer::write_page({.program = campaign.program,
                                          .scenario = *scenario,
                                          .choices = run.choices,
                                          .property = {},
                                          .path = path,
                                          .perfetto = options.perfetto});
  if (!page) {
    fmt::print(stderr, "{}\n", page.error());
    return 2;
  }
  if (options.json) {
    fmt::print(
        "{}\n",
        nlohmann::json{
            {"seed", seed}, {"steps", page->steps}, {"property", page->property}, {"trace", path}}
            .dump(2));
  } else {
    fmt::print("seed {}: {}; {}\n{}\n", seed, page->title, page->description, path);
    if (!options.perfetto.empty()) fmt::print("{}\n", options.perfetto);
  }
  return page->property.empty() ? 0 : 1;
}

// For a single seed, prints the random choices first, so that they are visible if the program
// hangs.
void print_head(const Campaign& campaign) {
  const explorer::CampaignOptions& options = campaign.options.plan.campaign;
  fmt::print("{}, seeds from {} on, {} jobs\n", campaign.command.title(), options.first_seed,
             options.jobs);
  if (options.schedules == 1) {
    fmt::print("seed {} chooses\n{}", options.first_seed,
               campaign.program.draw(options.first_seed)->describe());
  }
  std::fflush(stdout);
}

// A campaign that has run all its schedules must have reached all conditions. A shard need not.
std::vector<std::string> missed_conditions(const Campaign& campaign,
                                           const explorer::CampaignResult& result) {
  const explorer::CampaignOptions& options = campaign.options.plan.campaign;
  const bool is_whole = options.stride == 1 && result.schedules >= options.schedules;
  return result.holds() && is_whole ? unreached_conditions(result) : std::vector<std::string>();
}

// If the user cannot know from the options which seeds were run, says so, and how to repeat them.
void print_seeds(const Campaign& campaign, const CampaignOutcome& outcome) {
  const explorer::CampaignOptions& options = campaign.options.plan.campaign;
  const std::uint64_t seeds = outcome.result.seed_count();
  if (outcome.is_interrupted) fmt::print("interrupted\n");
  if (seeds == options.schedules || options.stops_at_violation) return;
  fmt::print("seeds {}; repeat them with --schedules {}\n", describe_seeds(outcome.result.seeds),
             seeds * options.stride);
}

void print_outcome(const Campaign& campaign, const CampaignOutcome& outcome,
                   const CampaignVerdict& verdict) {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\n");
  if (!campaign.options.json) {
    print_seeds(campaign, outcome);
    print_text(verdict);
    return;
  }
  nlohmann::json json = to_json(verdict);
  json["interrupted"] = outcome.is_interrupted;
  fmt::print("{}\n", json.dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
}

int run_and_report(const Campaign& campaign) {
  const FuzzOptions& options = campaign.options;
  if (!options.json) print_head(campaign);
  const auto outcome =
      run_in_parts(campaign.program, options.plan,
                   [&](const explorer::CampaignResult& done, const explorer::CampaignResult& part) {
                     print_progress(campaign, done, part);
                   });
  if (!outcome) {
    fmt::print(stderr, "{}\n", outcome.error());
    return status_wrong_usage;
  }
  CampaignVerdict verdict{.result = outcome->result,
                          .findings = {},
                          .missed_conditions = missed_conditions(campaign, outcome->result),
                          .executable = campaign.command.executable(),
                          .permitted_unjudged_share = options.permitted_unjudged_share,
                          .describe_scenario = [&](std::uint64_t seed) {
                            return campaign.program.draw(seed)->describe();
                          }};
  // Whoever interrupts the campaign does not want to wait for small runs.
  const double shrink_seconds = outcome->is_interrupted ? 0 : options.shrink_seconds;
  for (const auto& [property, finding] : outcome->result.findings) {
    verdict.findings.push_back(
        record_finding(campaign.program, finding, shrink_seconds, options.output));
  }
  print_outcome(campaign, *outcome, verdict);
  const int status = exit_status_of(verdict);
  return status == 0 && outcome->is_interrupted ? status_interrupted : status;
}

int fuzz(const CommandProgram& command, FuzzOptions& options) {
  const auto program = command.create();
  if (!program) {
    fmt::print(stderr, "{}\n", program.error());
    return status_wrong_usage;
  }
  const Campaign campaign{.command = command, .program = **program, .options = options};
  explorer::CampaignOptions& campaign_options = options.plan.campaign;
  if (campaign_options.seconds > 0 && !options.has_schedules) campaign_options.schedules = 0;
  const auto shard = parse_shard(options.shard_text);
  if (!shard) {
    fmt::print(stderr, "--shard {}: give a number and how many there are, such as 1/4\n",
               options.shard_text);
    return status_wrong_usage;
  }
  campaign_options = restrict_to(*shard, campaign_options);
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  if (error) {
    fmt::print(stderr, "--output {}: {}\n", options.output, error.message());
    return status_wrong_usage;
  }
  if (options.trace_seed) return trace_seed(campaign, *options.trace_seed);
  return run_and_report(campaign);
}

// The options that were given, of those that determine the scenarios.
std::map<std::string, std::vector<std::string>> given(
    const std::vector<const CLI::Option*>& options) {
  std::map<std::string, std::vector<std::string>> values;
  for (const CLI::Option* option : options) {
    if (option->count() > 0) values[option->get_name()] = option->results();
  }
  return values;
}

}  // namespace

void add_fuzz_command(CLI::App& app, CommandProgram& program, int& exit_status) {
  CLI::App* command = app.add_subcommand(
      "fuzz",
      fmt::format("run many schedules of {} on the simulator and check each one", program.noun()));
  const auto options = std::make_shared<FuzzOptions>();
  program.add_fuzz_options(*command);
  const std::vector<const CLI::Option*> scenario_options = std::as_const(*command).get_options();
  command->add_option("--seed", options->plan.campaign.first_seed, "the first seed")
      ->capture_default_str();
  const CLI::Option* schedules = command
                                     ->add_option("--schedules", options->plan.campaign.schedules,
                                                  "number of schedules to run")
                                     ->check(CLI::Range(std::uint64_t{1}, most_schedules))
                                     ->capture_default_str();
  command
      ->add_option("--seconds", options->plan.campaign.seconds,
                   "duration in seconds (with --schedules: time limit)")
      ->check(CLI::Range(0.001, 1e9));
  command->add_option("--jobs", options->plan.campaign.jobs, "number of worker processes")
      ->check(CLI::Range(1, 1'024))
      ->capture_default_str();
  CLI::Option* stop = command->add_flag("--stop", options->plan.campaign.stops_at_violation,
                                        "stop soon after the first violation");
  command->add_option("--shard", options->shard_text,
                      "I/N: run the I-th of N parts of the seeds, for campaigns on many machines");
  CLI::Option* results = command->add_option(
      "--results", options->plan.results,
      "file for the results, saved every ten seconds; `merge` adds such files up");
  results->excludes(stop);
  command
      ->add_flag("--resume", options->plan.resumes,
                 "continue what --results has of this campaign, if the file exists")
      ->needs(results);
  command
      ->add_option("--shrink-seconds", options->shrink_seconds,
                   "time limit for shrinking each violation; 0: do not shrink")
      ->capture_default_str();
  add_unjudged_option(*command, options->permitted_unjudged_share);
  CLI::Option* trace_seed =
      command->add_option("--trace-seed", options->trace_seed,
                          "run only this seed, and write trace.html, a page that shows the run");
  command
      ->add_option("--perfetto", options->perfetto,
                   "with --trace-seed: also write the run as trace events, for Perfetto and others")
      ->needs(trace_seed);
  command->add_option("--output", options->output, "directory for replay files and pages")
      ->capture_default_str();
  command->add_flag("--json", options->json, "print the result as one JSON object");
  command->callback([options, schedules, scenario_options, &program, &exit_status] {
    options->has_schedules = schedules->count() > 0;
    options->plan.campaign.scenario_options = given(scenario_options);
    exit_status = fuzz(program, *options);
  });
}

}  // namespace falafel::command_line
