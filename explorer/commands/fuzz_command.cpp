// `fuzz`: runs many schedules of a program on the simulator, judges them, and shrinks the failing
// ones.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "explorer/campaign.h"
#include "explorer/commands/commands.h"
#include "explorer/commands/progress.h"
#include "explorer/failing_run.h"
#include "explorer/pages.h"
#include "explorer/record_failure.h"
#include "explorer/replay.h"

namespace falafel::command_line {
namespace {

struct FuzzOptions {
  explorer::CampaignOptions campaign;
  bool has_schedules = false;
  double shrink_seconds = 40;
  std::optional<std::uint64_t> trace_seed;
  std::string perfetto;
  std::string output = ".";
  bool json = false;
};

// A finding for the report. It has a replay file if a schedule could be recorded, and an HTML page
// unless the run ends the process.
struct Report {
  explorer::Finding finding;
  std::string replay_path;
  std::string trace_path{};
  std::uint64_t steps_after = 0;
};

struct Campaign {
  const CommandProgram& command;
  const explorer::Program& program;
  const FuzzOptions& options;
};

bool is_about_the_run(const std::string& property) {
  return explorer::ends_the_process(property) || property == explorer::determinism_property;
}

void print_progress(const Campaign& campaign, const explorer::CampaignResult& result) {
  if (isatty(STDERR_FILENO) == 0) return;
  const double rate = static_cast<double>(result.schedules) / std::max(result.seconds, 0.001);
  const explorer::CampaignOptions& options = campaign.options.campaign;
  std::size_t reached = 0;
  for (const fabric::Probe& probe : campaign.program.probes()) {
    reached += result.probes[probe.index] > 0 ? 1 : 0;
  }
  const double seconds_left =
      options.seconds > 0 ? options.seconds - result.seconds
                          : static_cast<double>(options.schedules - result.schedules) / rate;
  fmt::print(stderr,
             "\r{} schedules, {:.0f}/s, {} of {} probes reached, {} violations, {:.0f} s left   ",
             result.schedules, rate, reached, campaign.program.probes().size(),
             result.violations.size(), std::max(seconds_left, 0.0));
}

std::string replay_path(const std::string& folder, const explorer::Finding& finding) {
  return (std::filesystem::path(folder) /
          fmt::format("{}-{}.replay", finding.property, finding.seed))
      .string();
}

// Next to the replay file. Returns its path, or nothing if there is none.
std::string save_page(const explorer::Program& program, const std::string& replay_path) {
  const std::string path = std::filesystem::path(replay_path).replace_extension(".html").string();
  const auto replay = explorer::load_replay(program, replay_path);
  if (!replay) {
    fmt::print(stderr, "{}\n", replay.error());
    return {};
  }
  const auto page = explorer::write_page({.program = program,
                                          .scenario = *replay->scenario,
                                          .choices = replay->file.choices,
                                          .property = replay->property,
                                          .path = path,
                                          .perfetto = {}});
  if (!page) fmt::print(stderr, "{}\n", page.error());
  return page ? path : std::string();
}

// Saves the run and its page. There is nothing to record if two runs of one seed differ; the seed
// repeats them.
Report report(const Campaign& campaign, const explorer::Finding& finding) {
  Report report{.finding = finding, .replay_path = {}};
  if (finding.property == explorer::determinism_property) return report;
  const std::string path = replay_path(campaign.options.output, finding);
  const auto recorded =
      explorer::record_failure(campaign.program, finding,
                               {.seconds = campaign.options.shrink_seconds}, path, print_shrinking);
  if (!recorded) {
    fmt::print(stderr, "{}\n", recorded.error());
    return report;
  }
  report.replay_path = path;
  report.steps_after = recorded->steps;
  if (explorer::ends_the_process(finding.property)) {
    report.finding.explanation = recorded->explanation;
  } else {
    report.trace_path = save_page(campaign.program, path);
  }
  return report;
}

// A campaign that has run all its schedules must have reached all conditions.
std::vector<std::string> missed_conditions(const Campaign& campaign,
                                           const explorer::CampaignResult& result) {
  std::vector<std::string> missed;
  if (!result.holds() || result.schedules < campaign.options.campaign.schedules) return missed;
  for (const auto& [name, count] : campaign.program.conditions()) {
    if (count == 0) missed.push_back(name);
  }
  return missed;
}

nlohmann::json to_json(const Campaign& campaign, const explorer::CampaignResult& result,
                       const std::vector<Report>& reports) {
  nlohmann::json violations = nlohmann::json::array();
  for (const Report& report : reports) {
    violations.push_back({{"property", report.finding.property},
                          {"schedules", result.violations.at(report.finding.property)},
                          {"seed", report.finding.seed},
                          {"explanation", report.finding.explanation},
                          {"replay", report.replay_path},
                          {"trace", report.trace_path},
                          {"steps_before", report.finding.steps},
                          {"steps_after", report.steps_after}});
  }
  nlohmann::json probes = nlohmann::json::object();
  for (const fabric::Probe& probe : campaign.program.probes()) {
    probes[std::string(probe.name)] = result.probes[probe.index];
  }
  for (std::size_t index = 0; index < sim::simulator_probe_count; ++index) {
    probes[std::string(to_string(static_cast<sim::SimulatorProbe>(index)))] =
        result.simulator_probes[index];
  }
  nlohmann::json faults = nlohmann::json::object();
  for (std::size_t index = 0; index < sim::fault_kind_count; ++index) {
    faults[std::string(to_string(static_cast<sim::FaultKind>(index)))] = result.faults[index];
  }
  nlohmann::json json = {
      {"schedules", result.schedules},
      {"seconds", result.seconds},
      {"schedules_per_second", static_cast<double>(result.schedules) / result.seconds},
      {"steps", result.steps},
      {"unknown", result.unknown},
      {"campaign_hash", fmt::format("{:016x}", result.hash)},
      {"violations", std::move(violations)},
      {"probes", std::move(probes)},
      {"faults", std::move(faults)}};
  const auto conditions = campaign.program.conditions();
  if (!conditions.empty()) json["conditions"] = conditions;
  return json;
}

void print_probes(const Campaign& campaign, const explorer::CampaignResult& result) {
  if (!campaign.program.probes().empty()) {
    fmt::print("probes:");
    for (const fabric::Probe& probe : campaign.program.probes()) {
      fmt::print(" {} {}", probe.name, result.probes[probe.index]);
    }
    fmt::print("\n");
  }
  fmt::print("probes of the simulator:");
  for (std::size_t index = 0; index < sim::simulator_probe_count; ++index) {
    fmt::print("{} {} {}", index == 0 ? "" : ",",
               to_string(static_cast<sim::SimulatorProbe>(index)), result.simulator_probes[index]);
  }
  fmt::print("\nfaults:");
  for (std::size_t index = 0; index < sim::fault_kind_count; ++index) {
    fmt::print(" {} {}", to_string(static_cast<sim::FaultKind>(index)), result.faults[index]);
  }
  fmt::print("\n");
  for (const auto& [name, count] : campaign.program.conditions()) {
    fmt::print("sometimes \"{}\": {} runs\n", name, count);
  }
}

void print_report(const Campaign& campaign, const explorer::CampaignResult& result,
                  const Report& report) {
  const explorer::Finding& finding = report.finding;
  fmt::print("\nVIOLATED {} in {} schedules, first with seed {}, which chose\n{}{}\n",
             finding.property, result.violations.at(finding.property), finding.seed,
             campaign.program.draw(finding.seed)->describe(), finding.explanation);
  if (report.replay_path.empty()) {
    fmt::print("Repeat it with --seed {} --schedules 1 and the same options.\n", finding.seed);
    return;
  }
  if (report.steps_after > 0) {
    fmt::print("{} steps, {} after shrinking. ", finding.steps, report.steps_after);
  }
  if (!report.trace_path.empty()) fmt::print("View it:\n  {}\n", report.trace_path);
  fmt::print("Replay it with:\n  {} replay {}\n", campaign.command.executable(),
             report.replay_path);
}

void print_text(const Campaign& campaign, const explorer::CampaignResult& result,
                const std::vector<Report>& reports) {
  fmt::print("{} schedules, {} steps in {:.1f} s: {:.0f} schedules per second\n", result.schedules,
             result.steps, result.seconds, static_cast<double>(result.schedules) / result.seconds);
  fmt::print("campaign hash {:016x}; {} schedules not judged\n", result.hash, result.unknown);
  print_probes(campaign, result);
  for (const Report& report : reports) print_report(campaign, result, report);
  const std::vector<std::string> missed = missed_conditions(campaign, result);
  for (const std::string& name : missed) {
    fmt::print("\nVIOLATED sometimes: no run reached the condition \"{}\"\n", name);
  }
  if (reports.empty() && missed.empty()) fmt::print("all properties held\n");
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
  const explorer::CampaignOptions& options = campaign.options.campaign;
  fmt::print("{}, seeds from {} on, {} jobs\n", campaign.command.title(), options.first_seed,
             options.jobs);
  if (options.schedules == 1) {
    fmt::print("seed {} chooses\n{}", options.first_seed,
               campaign.program.draw(options.first_seed)->describe());
  }
  std::fflush(stdout);
}

int fuzz(const CommandProgram& command, FuzzOptions& options) {
  const auto program = command.create();
  if (!program) {
    fmt::print(stderr, "{}\n", program.error());
    return 2;
  }
  const Campaign campaign{.command = command, .program = **program, .options = options};
  if (options.campaign.seconds > 0 && !options.has_schedules) options.campaign.schedules = 0;
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  if (error) {
    fmt::print(stderr, "--output {}: {}\n", options.output, error.message());
    return 2;
  }
  if (options.trace_seed) return trace_seed(campaign, *options.trace_seed);
  if (!options.json) print_head(campaign);
  const explorer::CampaignResult result = explorer::run_campaign(
      **program, options.campaign,
      [&](const explorer::CampaignResult& so_far) { print_progress(campaign, so_far); });
  const bool reached_all = missed_conditions(campaign, result).empty();
  std::vector<Report> reports;
  reports.reserve(result.findings.size());
  for (const auto& [property, finding] : result.findings) {
    reports.push_back(report(campaign, finding));
  }
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\n");
  if (options.json) {
    fmt::print("{}\n", to_json(campaign, result, reports)
                           .dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
  } else {
    print_text(campaign, result, reports);
  }
  const bool run_failed = std::ranges::any_of(
      result.findings, [](const auto& found) { return is_about_the_run(found.first); });
  if (run_failed) return 3;
  return result.holds() && reached_all ? 0 : 1;
}

}  // namespace

void add_fuzz_command(CLI::App& app, CommandProgram& program, int& exit_status) {
  CLI::App* command = app.add_subcommand(
      "fuzz",
      fmt::format("run many schedules of {} on the simulator and check each one", program.noun()));
  const auto options = std::make_shared<FuzzOptions>();
  program.add_fuzz_options(*command);
  command->add_option("--seed", options->campaign.first_seed, "the first seed")
      ->capture_default_str();
  const CLI::Option* schedules =
      command->add_option("--schedules", options->campaign.schedules, "number of schedules to run")
          ->capture_default_str();
  command->add_option("--seconds", options->campaign.seconds,
                      "duration in seconds (with --schedules: time limit)");
  command->add_option("--jobs", options->campaign.jobs, "number of worker processes")
      ->check(CLI::Range(1, 1'024))
      ->capture_default_str();
  command->add_flag("--stop", options->campaign.stops_at_violation,
                    "stop soon after the first violation");
  command
      ->add_option("--shrink-seconds", options->shrink_seconds,
                   "time limit for shrinking each violation; 0: do not shrink")
      ->capture_default_str();
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
  command->callback([options, schedules, &program, &exit_status] {
    options->has_schedules = schedules->count() > 0;
    exit_status = fuzz(program, *options);
  });
}

}  // namespace falafel::command_line
