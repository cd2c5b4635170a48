// `falafel fuzz`: runs many schedules of the store on the simulator, judges them, and shrinks the
// failing ones.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/probes.h"
#include "explorer/campaign.h"
#include "explorer/replay.h"
#include "explorer/shrink.h"
#include "explorer/timeline/record.h"
#include "tools/falafel/campaign_options.h"
#include "tools/falafel/commands.h"
#include "tools/falafel/progress.h"
#include "tools/store_scenario/program.h"
#include "tools/store_scenario/run.h"

namespace falafel::command_line {
namespace {

struct FuzzOptions {
  CampaignTexts texts;
  store_scenario::ScenarioChoices choices;
  bool paranoid = false;
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

store_scenario::StoreProgram program_of(const FuzzOptions& options) {
  return store_scenario::StoreProgram(options.choices, options.paranoid);
}

bool is_about_the_run(const std::string& property) {
  return property == explorer::crash_property || property == explorer::hang_property ||
         property == explorer::determinism_property;
}

void print_progress(const explorer::CampaignOptions& options,
                    const explorer::CampaignResult& result) {
  if (isatty(STDERR_FILENO) == 0) return;
  const double rate = static_cast<double>(result.schedules) / std::max(result.seconds, 0.001);
  std::size_t reached = 0;
  for (const fabric::Probe& probe : engine::probes::all) {
    reached += result.probes[probe.index] > 0 ? 1 : 0;
  }
  const double seconds_left =
      options.seconds > 0 ? options.seconds - result.seconds
                          : static_cast<double>(options.schedules - result.schedules) / rate;
  fmt::print(stderr,
             "\r{} schedules, {:.0f}/s, {} of {} probes reached, {} violations, {:.0f} s left   ",
             result.schedules, rate, reached, engine::probes::all.size(), result.violations.size(),
             std::max(seconds_left, 0.0));
}

std::string replay_path(const std::string& folder, const explorer::Finding& finding) {
  return (std::filesystem::path(folder) /
          fmt::format("{}-{}.replay", finding.property, finding.seed))
      .string();
}

std::string save(const FuzzOptions& options, const explorer::Finding& finding,
                 const explorer::FailingRun& failing) {
  const std::string path = replay_path(options.output, finding);
  const auto saved = sim::save_replay_file(
      explorer::to_replay_file(store_scenario::StoreProgram(), failing), path);
  if (!saved) fmt::print(stderr, "{}\n", saved.error());
  return saved ? path : std::string();
}

// Saves the page next to the replay file.
std::string save_page(const FuzzOptions& options, const explorer::Finding& finding,
                      const explorer::FailingRun& failing, store_scenario::Runner& runner) {
  const std::string path = std::filesystem::path(replay_path(options.output, finding))
                               .replace_extension(".html")
                               .string();
  const auto recorded = timeline::record_timeline(runner, *failing.scenario, failing.choices,
                                                  {.property = finding.property});
  const auto saved = timeline::write_page(recorded.timeline, path);
  if (!saved) fmt::print(stderr, "{}\n", saved.error());
  return saved ? path : std::string();
}

// Records and shrinks runs that end the process in separate processes. If two runs of one seed
// differ, there is no schedule to record; the seed repeats them.
Report report_failed_run(const FuzzOptions& options, const explorer::Finding& finding) {
  if (finding.property == explorer::determinism_property)
    return {.finding = finding, .replay_path = {}};
  const store_scenario::StoreProgram program = program_of(options);
  const auto scenario = program.draw(finding.seed);
  const auto strategy = explorer::make_seeded_strategy(*scenario, finding.seed);
  const auto failing = explorer::shrink_crash(program, *scenario, *strategy,
                                              {.seconds = options.shrink_seconds}, print_shrinking);
  if (!failing) return {.finding = finding, .replay_path = {}};
  Report report{.finding = finding,
                .replay_path = save(options, finding, *failing),
                .steps_after = failing->run.result.steps};
  report.finding.explanation = failing->run.violations.front().explanation;
  return report;
}

Report report(const FuzzOptions& options, const explorer::Finding& finding) {
  if (is_about_the_run(finding.property)) return report_failed_run(options, finding);
  store_scenario::Runner runner(options.paranoid);
  const store_scenario::Scenario scenario =
      store_scenario::draw_scenario(options.choices, finding.seed);
  explorer::FailingRun failing =
      explorer::record(runner, scenario, *explorer::make_seeded_strategy(scenario, finding.seed));
  if (options.shrink_seconds > 0) {
    failing = explorer::shrink(runner, std::move(failing), finding.property,
                               {.seconds = options.shrink_seconds}, print_shrinking);
  }
  return {.finding = finding,
          .replay_path = save(options, finding, failing),
          .trace_path = save_page(options, finding, failing, runner),
          .steps_after = failing.run.result.steps};
}

nlohmann::json to_json(const explorer::CampaignResult& result, const std::vector<Report>& reports) {
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
  for (const fabric::Probe& probe : engine::probes::all) {
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
  return {{"schedules", result.schedules},
          {"seconds", result.seconds},
          {"schedules_per_second", static_cast<double>(result.schedules) / result.seconds},
          {"steps", result.steps},
          {"unknown", result.unknown},
          {"campaign_hash", fmt::format("{:016x}", result.hash)},
          {"violations", std::move(violations)},
          {"probes", std::move(probes)},
          {"faults", std::move(faults)}};
}

void print_text(const FuzzOptions& options, const explorer::CampaignResult& result,
                const std::vector<Report>& reports) {
  fmt::print("{} schedules, {} steps in {:.1f} s: {:.0f} schedules per second\n", result.schedules,
             result.steps, result.seconds, static_cast<double>(result.schedules) / result.seconds);
  fmt::print("campaign hash {:016x}; {} schedules not judged\n", result.hash, result.unknown);
  fmt::print("probes:");
  for (const fabric::Probe& probe : engine::probes::all) {
    fmt::print(" {} {}", probe.name, result.probes[probe.index]);
  }
  fmt::print("\nprobes of the simulator:");
  for (std::size_t index = 0; index < sim::simulator_probe_count; ++index) {
    fmt::print("{} {} {}", index == 0 ? "" : ",",
               to_string(static_cast<sim::SimulatorProbe>(index)), result.simulator_probes[index]);
  }
  fmt::print("\nfaults:");
  for (std::size_t index = 0; index < sim::fault_kind_count; ++index) {
    fmt::print(" {} {}", to_string(static_cast<sim::FaultKind>(index)), result.faults[index]);
  }
  fmt::print("\n");
  for (const Report& report : reports) {
    const explorer::Finding& finding = report.finding;
    fmt::print("\nVIOLATED {} in {} schedules, first with seed {}, which chose\n{}{}\n",
               finding.property, result.violations.at(finding.property), finding.seed,
               store_scenario::draw_scenario(options.choices, finding.seed).describe(),
               finding.explanation);
    if (!report.replay_path.empty()) {
      if (report.steps_after > 0) {
        fmt::print("{} steps, {} after shrinking. ", finding.steps, report.steps_after);
      }
      if (!report.trace_path.empty()) fmt::print("View it:\n  {}\n", report.trace_path);
      fmt::print("Replay it with:\n  falafel replay {}\n", report.replay_path);
    } else {
      fmt::print("Repeat it with --seed {} --schedules 1 and the same options.\n", finding.seed);
    }
  }
  if (reports.empty()) fmt::print("all properties held\n");
}

// Runs one seed and writes its page, whether the run fails or not.
int trace_seed(const FuzzOptions& options, std::uint64_t seed) {
  store_scenario::Runner runner(options.paranoid);
  const store_scenario::Scenario scenario = store_scenario::draw_scenario(options.choices, seed);
  const explorer::FailingRun run =
      explorer::record(runner, scenario, *explorer::make_seeded_strategy(scenario, seed));
  const std::string path = (std::filesystem::path(options.output) / "trace.html").string();
  const auto recorded = timeline::record_timeline(runner, scenario, run.choices);
  auto saved = timeline::write_page(recorded.timeline, path);
  if (saved && !options.perfetto.empty()) {
    saved = timeline::write_chrome_trace(recorded.timeline, options.perfetto);
  }
  if (!saved) {
    fmt::print(stderr, "{}\n", saved.error());
    return 2;
  }
  if (options.json) {
    fmt::print("{}\n", nlohmann::json{{"seed", seed},
                                      {"steps", recorded.timeline.steps},
                                      {"property", recorded.run.property()},
                                      {"trace", path}}
                           .dump(2));
  } else {
    fmt::print("seed {}: {}; {}\n{}\n", seed, recorded.timeline.title,
               recorded.timeline.description, path);
    if (!options.perfetto.empty()) fmt::print("{}\n", options.perfetto);
  }
  return recorded.run.violations.empty() ? 0 : 1;
}

// For a single seed, prints the random choices first, so that they are visible if the program
// hangs.
void print_head(const FuzzOptions& options) {
  const explorer::CampaignOptions& campaign = options.campaign;
  fmt::print("{} protocol, seeds from {} on, {} jobs\n", options.texts.protocol,
             campaign.first_seed, campaign.jobs);
  if (campaign.schedules == 1) {
    fmt::print("seed {} chooses\n{}", campaign.first_seed,
               store_scenario::draw_scenario(options.choices, campaign.first_seed).describe());
  }
  std::fflush(stdout);
}

int fuzz(FuzzOptions& options) {
  auto choices = parse_campaign(options.texts);
  if (!choices) {
    fmt::print(stderr, "{}\n", choices.error());
    return 2;
  }
  options.choices = std::move(*choices);
  if (options.campaign.seconds > 0 && !options.has_schedules) options.campaign.schedules = 0;
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  if (error) {
    fmt::print(stderr, "--output {}: {}\n", options.output, error.message());
    return 2;
  }
  if (options.trace_seed) return trace_seed(options, *options.trace_seed);
  if (!options.json) {
    print_head(options);
  }
  const explorer::CampaignResult result = explorer::run_campaign(
      program_of(options), options.campaign,
      [&](const explorer::CampaignResult& so_far) { print_progress(options.campaign, so_far); });
  std::vector<Report> reports;
  for (const auto& [property, finding] : result.findings) {
    reports.push_back(report(options, finding));
  }
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\n");
  if (options.json) {
    fmt::print(
        "{}\n",
        to_json(result, reports).dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
  } else {
    print_text(options, result, reports);
  }
  const bool run_failed = std::ranges::any_of(
      result.findings, [](const auto& found) { return is_about_the_run(found.first); });
  if (run_failed) return 3;
  return result.holds() ? 0 : 1;
}

}  // namespace

void add_fuzz_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand(
      "fuzz", "run many schedules of the store on the simulator and check each one");
  const auto options = std::make_shared<FuzzOptions>();
  add_campaign_options(*command, options->texts);
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
  command->add_flag("--paranoid", options->paranoid, "check the memory whenever an entry changes");
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
  command->callback([options, schedules, &exit_status] {
    options->has_schedules = schedules->count() > 0;
    exit_status = fuzz(*options);
  });
}

}  // namespace falafel::command_line
