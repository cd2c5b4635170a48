// Campaigns over test bodies: the run, the failing schedule, and the text about both.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "explorer/campaign.h"
#include "explorer/check.h"
#include "explorer/explain.h"
#include "explorer/pages.h"
#include "explorer/record_failure.h"

namespace falafel::check {
namespace {

constexpr std::string_view sometimes_property = "sometimes";
constexpr std::string_view unjudged_property = "unjudged";
constexpr double patience_seconds = 60;  // for the critical step

// The last two components of a function's name without its arguments: compilers write the others in
// different ways. "virtual void (anonymous namespace)::Queue_Loses_Test::TestBody()", which is what
// GoogleTest's macros declare, becomes "Queue_Loses".
std::string short_name_of(const std::source_location& caller) {
  constexpr std::string_view separator = "::";
  constexpr std::string_view test_body = "::TestBody";
  constexpr std::string_view test_suffix = "_Test";
  std::string_view name = caller.function_name();
  name = name.substr(0, name.rfind('('));
  const std::size_t last = name.rfind(separator);
  const std::size_t last_but_one = last == std::string_view::npos || last == 0
                                       ? std::string_view::npos
                                       : name.rfind(separator, last - 1);
  if (last_but_one != std::string_view::npos) name.remove_prefix(last_but_one + separator.size());
  const std::size_t space = name.rfind(' ');
  if (space != std::string_view::npos) name.remove_prefix(space + 1);
  if (name.ends_with(test_body)) name.remove_suffix(test_body.size());
  if (name.ends_with(test_suffix)) name.remove_suffix(test_suffix.size());
  return std::string(name);
}

std::string file_name_of(std::string name) {
  std::ranges::replace_if(
      name,
      [](char letter) {
        return std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.' &&
               letter != '_';
      },
      '-');
  return name;
}

std::string quote_for_shell(const std::string& argument) {
  const bool is_plain = !argument.empty() && std::ranges::all_of(argument, [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           std::string_view("-_./=:,+").find(letter) != std::string_view::npos;
  });
  if (is_plain) return argument;
  std::string quoted = "'";
  for (const char letter : argument) quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
  return quoted + "'";
}

// How this process was started; a placeholder if the system does not tell.
std::string own_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string command;
  for (std::string argument; std::getline(file, argument, '\0');) {
    command += (command.empty() ? "" : " ") + quote_for_shell(argument);
  }
  return command.empty() ? "COMMAND" : command;
}

std::filesystem::path create_output(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw std::invalid_argument(fmt::format(
        "Options::output \"{}\": {}; name a folder that can be written", folder, error.message()));
  }
  return std::filesystem::absolute(folder).lexically_normal();
}

std::string how_to_repeat(const Failure& failure) {
  if (failure.replay_path.empty()) {
    return fmt::format("Repeat it with:\n  FALAFEL_SEED={} {}\n", failure.seed, own_command());
  }
  const std::string page =
      failure.page_path.empty() ? "" : fmt::format("View it:\n  {}\n", failure.page_path);
  return page + fmt::format("Replay it with:\n  FALAFEL_REPLAY={} {}\n",
                            quote_for_shell(failure.replay_path), own_command());
}

// The page of a recorded run, next to its file. Empty if there is none.
std::string save_page(const WorldProgram& program, const explorer::LoadedReplay& replay,
                      const std::string& replay_path, std::uint64_t critical_tries) {
  const std::string path = std::filesystem::path(replay_path).replace_extension(".html").string();
  if (explorer::ends_the_process(replay.property)) return {};
  const auto page = explorer::write_page({.program = program,
                                          .scenario = *replay.scenario,
                                          .choices = replay.file.choices,
                                          .property = replay.property,
                                          .critical_tries = critical_tries,
                                          .path = path,
                                          .perfetto = {}});
  return page ? path : std::string();
}

std::string explanations_of(const explorer::Explanation& explanation) {
  std::string text;
  for (const checkers::Judgement& violation : explanation.violations) {
    text += fmt::format("VIOLATED {}: {}\n", violation.property, violation.explanation);
  }
  return text;
}

// Shrinks the failure, records it and tells it step by step.
std::string investigate(const WorldProgram& program, const Options& options,
                        const std::filesystem::path& output, const explorer::Finding& finding,
                        Failure& failure) {
  const std::string path =
      (output /
       (file_name_of(fmt::format("{}-{}-{}", program.name(), finding.property, finding.seed)) +
        ".replay"))
          .string();
  const auto recorded =
      explorer::record_failure(program, finding, {.seconds = options.shrink_seconds}, path,
                               [](const explorer::FailingRun&) {});
  if (!recorded) return fmt::format("No run was recorded: {}.\n", recorded.error());
  const auto replay = explorer::load_replay(program, path);
  if (!replay) return fmt::format("No run was recorded: {}.\n", replay.error());
  failure.replay_path = path;
  const explorer::Explanation explanation =
      explorer::explain(program, *replay, options.critical_tries, patience_seconds);
  failure.steps_after = explanation.steps;
  failure.page_path = save_page(program, *replay, path, options.critical_tries);
  for (const checkers::Judgement& violation : explanation.violations) {
    if (violation.property == failure.property) failure.explanation = violation.explanation;
  }
  return fmt::format("{} steps, {} after shrinking. The smallest run found:\n{}{}{}", finding.steps,
                     explanation.steps, replay->scenario->describe(), to_text(explanation, true),
                     explanations_of(explanation));
}

std::string head_of(const WorldProgram& program, const Options& options, const Result& result) {
  return fmt::format(
      "{}: {} schedules, {} steps in {:.1f} s, seeds from {} on; hash {:016x}; {} not judged\n",
      program.name(), result.schedules, result.steps, result.seconds, options.first_seed,
      result.hash, result.unknown);
}

std::string list_conditions(const Result& result) {
  std::string text;
  for (const auto& [name, count] : result.conditions) {
    if (count > 0 && name.ends_with(judged_suffix)) continue;
    text += fmt::format("sometimes \"{}\": {} runs\n", name, count);
  }
  return text;
}

// A campaign that has run all schedules of the test without a violation must have reached all
// conditions.
void judge_conditions(const Options& options, Result& result) {
  if (!result.holds()) return;
  for (const auto& [name, count] : result.conditions) {
    if (count > 0) continue;
    result.failures.push_back(
        {.property = std::string(sometimes_property),
         .explanation = fmt::format("none of {} runs reached the condition \"{}\"; run more "
                                    "schedules, let more go wrong (Options::network), or find out "
                                    "why it cannot happen",
                                    result.schedules, name),
         .schedules = result.schedules,
         .seed = options.first_seed});
  }
}

// Schedules without a verdict may hide violations.
void judge_unjudged(const Options& options, Result& result) {
  const double permitted = options.permitted_unjudged_share * static_cast<double>(result.schedules);
  if (result.unknown == 0 || static_cast<double>(result.unknown) <= permitted) return;
  std::uint64_t first_seed = ~std::uint64_t{0};
  for (const auto& [property, unjudged] : result.unjudged) {
    first_seed = std::min(first_seed, unjudged.seed);
  }
  result.failures.push_back(
      {.property = std::string(unjudged_property),
       .explanation =
           fmt::format("{} of {} schedules ended without a verdict; make them smaller, or "
                       "permit a share of them (Options::permitted_unjudged_share)",
                       result.unknown, result.schedules),
       .schedules = result.unknown,
       .seed = first_seed});
}

void add_failures(const explorer::CampaignResult& campaign, Result& result) {
  for (const auto& [property, finding] : campaign.findings) {
    result.failures.push_back({.property = property,
                               .explanation = finding.explanation,
                               .schedules = campaign.violations.at(property),
                               .seed = finding.seed,
                               .steps_before = finding.steps});
  }
  std::ranges::stable_sort(result.failures, {}, &Failure::seed);
}

Result run_schedules(const WorldProgram& program, const Options& options, bool is_whole_campaign) {
  const std::filesystem::path output = create_output(options.output);
  const explorer::CampaignResult campaign =
      explorer::run_campaign(program, {.first_seed = options.first_seed,
                                       .schedules = options.schedules,
                                       .seconds = options.seconds,
                                       .jobs = options.jobs,
                                       .stops_at_violation = true});
  Result result{.schedules = campaign.schedules,
                .steps = campaign.steps,
                .hash = campaign.hash,
                .unknown = campaign.unknown,
                .unjudged = campaign.unjudged,
                .seconds = campaign.seconds,
                .conditions = program.conditions(),
                .failures = {},
                .text = {}};
  add_failures(campaign, result);
  std::string details;
  if (!result.holds()) {
    Failure& first = result.failures.front();
    details = investigate(program, options, output, campaign.findings.at(first.property), first);
    details += how_to_repeat(first);
  }
  if (is_whole_campaign) judge_conditions(options, result);
  judge_unjudged(options, result);
  result.text = head_of(program, options, result) + explorer::to_text(result.unjudged) +
                list_conditions(result);
  for (const Failure& failure : result.failures) {
    result.text +=
        fmt::format("VIOLATED {} in {} schedules, first with seed {}: {}\n", failure.property,
                    failure.schedules, failure.seed, failure.explanation);
  }
  result.text += details;
  return result;
}

Result replay_file(const WorldProgram& program, const Options& options, const std::string& path) {
  Result result;
  auto file = sim::load_replay_file(path);
  if (!file)
    throw std::invalid_argument("the environment variable FALAFEL_REPLAY: " + file.error());
  if (file->scenario != program.name()) {
    result.text = fmt::format("{}: not run, because FALAFEL_REPLAY={} is a run of {}\n",
                              program.name(), path, file->scenario);
    return result;
  }
  const auto replay = explorer::load_replay(program, path);
  if (!replay) {
    throw std::invalid_argument("the environment variable FALAFEL_REPLAY: " + replay.error());
  }
  const explorer::Explanation explanation =
      explorer::explain(program, *replay, options.critical_tries, patience_seconds);
  result.schedules = 1;
  result.steps = explanation.steps;
  result.text =
      fmt::format("{}: replay of {}\n{}", program.name(), path, replay->scenario->describe());
  for (const checkers::Judgement& violation : explanation.violations) {
    result.failures.push_back({.property = violation.property,
                               .explanation = violation.explanation,
                               .schedules = 1,
                               .steps_before = explanation.steps,
                               .steps_after = explanation.steps,
                               .replay_path = path});
  }
  result.text += to_text(explanation, true) + explanations_of(explanation);
  if (!explanation.is_as_recorded) {
    const std::string text =
        fmt::format("the program does not take the recorded course any more. {} Recorded by {}.",
                    explanation.divergence, replay->file.build_identity);
    result.failures.push_back({.property = "replay", .explanation = text, .schedules = 1});
    result.text += text + "\n";
  }
  return result;
}

}  // namespace

Result run_campaign(const WorldProgram& program, const Options& options,
                    const Environment& environment) {
  if (!environment.replay.empty()) return replay_file(program, options, environment.replay);
  Options changed = options;
  if (environment.seed) {
    changed.first_seed = *environment.seed;
    changed.schedules = 1;
  }
  if (environment.schedules) changed.schedules = *environment.schedules;
  if (environment.jobs) changed.jobs = *environment.jobs;
  const bool is_whole_campaign = !environment.seed && changed.schedules >= options.schedules;
  return run_schedules(program, changed, is_whole_campaign);
}

std::string name_of(const Options& options, const std::source_location& caller) {
  return options.name.empty() ? short_name_of(caller) : options.name;
}

Environment own_environment() {
  return read_environment([](const char* variable) { return std::getenv(variable); });
}

Result random(const Options& options, Body body, const std::source_location& caller) {
  const WorldProgram program(name_of(options, caller), options.network, std::move(body));
  return run_campaign(program, options, own_environment());
}

std::unique_ptr<WorldProgram> program(std::string name, Body body, Network network) {
  return std::make_unique<WorldProgram>(std::move(name), std::move(network), std::move(body));
}

}  // namespace falafel::check
