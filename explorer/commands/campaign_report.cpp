#include "explorer/commands/campaign_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "explorer/crash_recorder.h"
#include "explorer/record_failure.h"

namespace falafel::command_line {
namespace {

bool is_about_the_run(const std::string& property) {
  return explorer::ends_the_process(property) || property == explorer::determinism_property;
}

double schedules_per_second(const explorer::CampaignResults& results) {
  return static_cast<double>(results.schedules) / std::max(results.seconds, 1e-9);
}

void print_counts(const explorer::CampaignResults& results) {
  if (!results.probes.empty()) {
    fmt::print("probes:");
    for (const auto& [name, count] : results.probes) fmt::print(" {} {}", name, count);
    fmt::print("\n");
  }
  fmt::print("probes of the simulator:");
  std::string_view separator;
  for (const auto& [name, count] : results.simulator_probes) {
    fmt::print("{} {} {}", separator, name, count);
    separator = ",";
  }
  fmt::print("\nfaults:");
  for (const auto& [name, count] : results.faults) fmt::print(" {} {}", name, count);
  fmt::print("\n");
  for (const auto& [name, count] : results.conditions) {
    fmt::print("sometimes \"{}\": {} runs\n", name, count);
  }
}

void print_finding(const CampaignReport& report, const FindingReport& found) {
  const explorer::Finding& finding = found.finding;
  const std::string scenario =
      report.describe_scenario ? ", which chose\n" + report.describe_scenario(finding.seed) : "\n";
  fmt::print("\nVIOLATED {} in {} schedules, first with seed {}{}{}\n", finding.property,
             report.results.violations.at(finding.property), finding.seed, scenario,
             finding.explanation);
  if (found.replay_path.empty()) {
    fmt::print("Repeat it with --seed {} --schedules 1 and the same options.\n", finding.seed);
    return;
  }
  if (found.steps_after > 0) {
    fmt::print("{} steps, {} after shrinking. ", finding.steps, found.steps_after);
  }
  if (!found.trace_path.empty()) fmt::print("View it:\n  {}\n", found.trace_path);
  fmt::print("Replay it with:\n  {} replay {}\n", report.executable, found.replay_path);
}

// Returns whether more schedules than permitted ended without a verdict.
bool leaves_too_many(const CampaignReport& report) {
  const explorer::CampaignResults& results = report.results;
  return results.unknown > 0 &&
         static_cast<double>(results.unknown) >
             report.permitted_unjudged_share * static_cast<double>(results.schedules);
}

bool holds(const CampaignReport& report) {
  return report.findings.empty() && report.missed_conditions.empty() && !leaves_too_many(report);
}

}  // namespace

std::string describe_seeds(const std::vector<explorer::SeedRange>& seeds) {
  std::string text;
  for (const explorer::SeedRange& range : seeds) {
    const std::uint64_t last = range.first + (range.count - 1) * range.stride;
    text += text.empty() ? "" : "; ";
    if (range.count == 1) {
      text += fmt::format("{}", range.first);
    } else if (range.stride == 1) {
      text += fmt::format("{} to {}", range.first, last);
    } else {
      text += fmt::format("{}, {} ... {} ({} seeds)", range.first, range.first + range.stride, last,
                          range.count);
    }
  }
  return text.empty() ? "none" : text;
}

void add_unjudged_option(CLI::App& command, double& permitted_unjudged_share) {
  command
      .add_option(
          "--permit-unjudged", permitted_unjudged_share,
          "share of the schedules that may end without a verdict, because a checker reached "
          "a limit")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
}

void print_text(const CampaignReport& report) {
  const explorer::CampaignResults& results = report.results;
  fmt::print("{} schedules, {} steps in {:.1f} s: {:.0f} schedules per second\n", results.schedules,
             results.steps, results.seconds, schedules_per_second(results));
  fmt::print("campaign hash {:016x}; {} schedules not judged\n", results.hash, results.unknown);
  fmt::print("{}", explorer::to_text(results.unjudged));
  print_counts(results);
  for (const FindingReport& finding : report.findings) print_finding(report, finding);
  for (const std::string& name : report.missed_conditions) {
    fmt::print("\nVIOLATED sometimes: no run reached the condition \"{}\"\n", name);
  }
  if (leaves_too_many(report)) {
    fmt::print(
        "\nVIOLATED unjudged: {} of {} schedules ended without a verdict; "
        "--permit-unjudged SHARE permits a share of them\n",
        results.unknown, results.schedules);
  }
  if (holds(report)) fmt::print("all properties held\n");
}

nlohmann::json to_json(const CampaignReport& report) {
  const explorer::CampaignResults& results = report.results;
  nlohmann::json violations = nlohmann::json::array();
  for (const FindingReport& found : report.findings) {
    violations.push_back({{"property", found.finding.property},
                          {"schedules", results.violations.at(found.finding.property)},
                          {"seed", found.finding.seed},
                          {"explanation", found.finding.explanation},
                          {"replay", found.replay_path},
                          {"trace", found.trace_path},
                          {"steps_before", found.finding.steps},
                          {"steps_after", found.steps_after}});
  }
  nlohmann::json seeds = nlohmann::json::array();
  for (const explorer::SeedRange& range : results.seeds) {
    seeds.push_back({{"first", range.first}, {"stride", range.stride}, {"count", range.count}});
  }
  nlohmann::json probes = nlohmann::json::object();
  for (const auto& [name, count] : results.probes) probes[name] = count;
  for (const auto& [name, count] : results.simulator_probes) probes[name] = count;
  nlohmann::json faults = nlohmann::json::object();
  for (const auto& [name, count] : results.faults) faults[name] = count;
  nlohmann::json json = {{"schedules", results.schedules},
                         {"seeds", std::move(seeds)},
                         {"seconds", results.seconds},
                         {"schedules_per_second", schedules_per_second(results)},
                         {"steps", results.steps},
                         {"unknown", results.unknown},
                         {"unjudged", explorer::to_json(results.unjudged)},
                         {"campaign_hash", fmt::format("{:016x}", results.hash)},
                         {"violations", std::move(violations)},
                         {"probes", std::move(probes)},
                         {"faults", std::move(faults)}};
  if (!results.conditions.empty()) json["conditions"] = results.conditions;
  return json;
}

std::vector<std::string> unreached_conditions(const explorer::CampaignResults& results) {
  std::vector<std::string> names;
  for (const auto& [name, count] : results.conditions) {
    if (count == 0) names.push_back(name);
  }
  return names;
}

int exit_status_of(const CampaignReport& report) {
  const bool run_failed = std::ranges::any_of(report.findings, [](const FindingReport& found) {
    return is_about_the_run(found.finding.property);
  });
  if (run_failed) return 3;
  return holds(report) ? 0 : 1;
}

}  // namespace falafel::command_line
