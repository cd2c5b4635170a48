// `merge`: adds up the results of campaigns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "explorer/campaign_result.h"
#include "explorer/commands/campaign_verdict.h"
#include "explorer/commands/commands.h"
#include "explorer/commands/results_files.h"

namespace falafel::command_line {
namespace {

struct MergeOptions {
  std::vector<std::string> paths;
  std::string output;
  double permitted_unjudged_share = 0;
  bool json = false;
};

int merge(const CommandProgram& program, const MergeOptions& options) {
  const auto refuse = [](const std::string& error) {
    fmt::print(stderr, "{}\n", error);
    return status_wrong_usage;
  };
  const auto files = add_up(options.paths);
  if (!files) return refuse(files.error());
  const explorer::CampaignResult* const sum = &files->sum;
  if (!options.output.empty()) {
    if (const auto saved = save_result(*sum, options.output); !saved) return refuse(saved.error());
  }
  CampaignVerdict verdict{.result = *sum,
                          .missed_conditions = unreached_conditions(*sum),
                          .executable = program.executable(),
                          .permitted_unjudged_share = options.permitted_unjudged_share};
  for (const auto& [property, finding] : sum->findings) {
    verdict.findings.push_back({.finding = finding});
  }
  if (options.json) {
    fmt::print("{}\n",
               to_json(verdict).dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{}, {} files, seeds {}\n", sum->identity.program, options.paths.size(),
               describe_seeds(sum->seeds));
    print_text(verdict);
  }
  return exit_status_of(verdict);
}

}  // namespace

void add_merge_command(CLI::App& app, CommandProgram& program, int& exit_status) {
  CLI::App* command =
      app.add_subcommand("merge", "add up the results of campaigns that `fuzz --results` saved");
  const auto options = std::make_shared<MergeOptions>();
  command->add_option("files", options->paths, "files of results")->required();
  command->add_option("--output", options->output, "file for the sum");
  add_unjudged_option(*command, options->permitted_unjudged_share);
  command->add_flag("--json", options->json, "print the sum as one JSON object");
  command->callback([options, &program, &exit_status] { exit_status = merge(program, *options); });
}

}  // namespace falafel::command_line
