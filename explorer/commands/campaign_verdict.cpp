#include "explorer/commands/campaign_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "explorer/crash_recorder.h"
#include "explorer/record_failure.h"

namespace falafel::command_line {
namespace {

bool is_about_the_run(const std::string& property) {
  return explorer::ends_the_process(property) || property == explorer::determinism_property;
}

double schedules_per_second(const explorer::CampaignResult& result) {
  return static_cast<double>(result.schedules) / std::max(result.seconds, 1e-9);
}

void print_counts(const explorer::CampaignResult& result) {
  if (!result.probes.empty()) {
    fmt::print("probes:");
    for (const auto& [name, count] : result.probes) fmt::print(" {} {}", name, count);
    fmt::print("\n");
  }
  fmt::print("probes of the simulator:");
  std::string_view separator;
  for (const auto& [name, count] : result.simulator_probes) {
    fmt::print("{} {} {}", separator, name, count);
    separator = ",";
  }
  fmt::print("\nfaults:");
  for (const auto& [name, count] : result.faults) fmt::print(" {} {}", name, count);
  fmt::print("\n");
  for (const auto& [name, count] : result.conditions) {
    fmt::print("sometimes \"{}\": {} runs\n", name, count);
  }
}

void print_finding(const CampaignVerdict& verdict, const FindingReport& found) {
  const explorer::Finding& finding = found.finding;
  const std::string scenario = verdict.describe_scenario
                                   ? ", which chose\n" + verdict.describe_scenario(finding.seed)
                                   : "\n";
  fmt::print("\nVIOLATED {} in {} schedules, first with seed {}{}{}\n", finding.property,
             verdict.result.violations.at(finding.property), finding.seed, scenario,
             finding.explanation);
  if (found.replay_path.empty()) {
    fmt::print("Repeat it with --seed {} --schedules 1 and the same options.\n", finding.seed);
    return;
  }
  if (found.steps_after > 0) {
    fmt::print("{} steps, {} after shrinking. ", finding.steps, found.steps_after);
  }
  if (!found.trace_path.empty()) fmt::print("View it:\n  {}\n", found.trace_path);
  fmt::print("Replay it with:\n  {} replay {}\n", verdict.executable, found.replay_path);
}

// Returns whether more schedules than permitted ended without a verdict.
bool leaves_too_many(const CampaignVerdict& verdict) {
  const explorer::CampaignResult& result = verdict.result;
  return result.unknown > 0 &&
         static_cast<double>(result.unknown) >
             verdict.permitted_unjudged_share * static_cast<double>(result.schedules);
}

bool holds(const CampaignVerdict& verdict) {
  return verdict.findings.empty() && verdict.missed_conditions.empty() && !leaves_too_many(verdict);
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

void print_text(const CampaignVerdict& verdict) {
  const explorer::CampaignResult& result = verdict.result;
  fmt::print("{} schedules, {} steps in {:.1f} s: {:.0f} schedules per second\n", result.schedules,
             result.steps, result.seconds, schedules_per_second(result));
  fmt::print("campaign hash {:016x}; {} schedules not judged\n", result.hash, result.unknown);
  fmt::print("{}", explorer::to_text(result.unjudged));
  print_counts(result);
  for (const FindingReport& finding : verdict.findings) print_finding(verdict, finding);
  for (const std::string& name : verdict.missed_conditions) {
    fmt::print("\nVIOLATED sometimes: no run reached the condition \"{}\"\n", name);
  }
  if (leaves_too_many(verdict)) {
    fmt::print(
        "\nVIOLATED unjudged: {} of {} schedules ended without a verdict; "
        "--permit-unjudged SHARE permits a share of them\n",
        result.unknown, result.schedules);
  }
  if (holds(verdict)) fmt::print("all properties held\n");
}

nlohmann::json to_json(const CampaignVerdict& verdict) {
  const explorer::CampaignResult& result = verdict.result;
  nlohmann::json violations = nlohmann::json::array();
  for (const FindingReport& found : verdict.findings) {
    violations.push_back({{"property", found.finding.property},
                          {"schedules", result.violations.at(found.finding.property)},
                          {"seed", found.finding.seed},
                          {"explanation", found.finding.explanation},
                          {"replay", found.replay_path},
                          {"trace", found.trace_path},
                          {"steps_before", found.finding.steps},
                          {"steps_after", found.steps_after}});
  }
  nlohmann::json seeds = nlohmann::json::array();
  for (const explorer::SeedRange& range : result.seeds) {
    seeds.push_back({{"first", range.first}, {"stride", range.stride}, {"count", range.count}});
  }
  nlohmann::json probes = nlohmann::json::object();
  for (const auto& [name, count] : result.probes) probes[name] = count;
  for (const auto& [name, count] : result.simulator_probes) probes[name] = count;
  nlohmann::json faults = nlohmann::json::object();
  for (const auto& [name, count] : result.faults) faults[name] = count;
  nlohmann::json json = {{"schedules", result.schedules},
                         {"seeds", std::move(seeds)},
                         {"seconds", result.seconds},
                         {"schedules_per_second", schedules_per_second(result)},
                         {"steps", result.steps},
                         {"unknown", result.unknown},
                         {"unjudged", explorer::to_json(result.unjudged)},
                         {"campaign_hash", fmt::format("{:016x}", result.hash)},
                         {"violations", std::move(violations)},
                         {"probes", std::move(probes)},
                         {"faults", std::move(faults)}};
  if (!result.conditions.empty()) json["conditions"] = result.conditions;
  return json;
}

std::vector<std::string> unreached_conditions(const explorer::CampaignResult& result) {
  std::vector<std::string> names;
  for (const auto& [name, count] : result.conditions) {
    if (count == 0) names.push_back(name);
  }
  return names;
}

int exit_status_of(const CampaignVerdict& verdict) {
  const bool run_failed = std::ranges::any_of(verdict.findings, [](const FindingReport& found) {
    return is_about_the_run(found.finding.property);
  });
  if (run_failed) return 3;
  return holds(verdict) ? 0 : 1;
}

}  // namespace falafel::command_line
