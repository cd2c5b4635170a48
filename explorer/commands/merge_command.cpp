// `merge`: adds up the results of campaigns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "explorer/campaign_results.h"
#include "explorer/commands/campaign_report.h"
#include "explorer/commands/commands.h"

namespace falafel::command_line {
namespace {

struct MergeOptions {
  std::vector<std::string> paths;
  std::string output;
  bool json = false;
};

tl::expected<explorer::CampaignResults, std::string> add_up(const std::vector<std::string>& paths) {
  explorer::CampaignResults sum;
  for (const std::string& path : paths) {
    const auto part = explorer::load_results(path);
    if (!part) return tl::unexpected(part.error());
    if (const auto added = add(sum, *part); !added) {
      return tl::unexpected(
          fmt::format("{}: does not add up with the files before it: {}", path, added.error()));
    }
  }
  return sum;
}

int merge(const CommandProgram& program, const MergeOptions& options) {
  const auto refuse = [](const std::string& error) {
    fmt::print(stderr, "{}\n", error);
    return status_wrong_usage;
  };
  const auto sum = add_up(options.paths);
  if (!sum) return refuse(sum.error());
  if (!options.output.empty()) {
    if (const auto saved = save_results(*sum, options.output); !saved) return refuse(saved.error());
  }
  CampaignReport report{.results = *sum, .executable = program.executable()};
  for (const auto& [property, finding] : sum->findings) {
    report.findings.push_back({.finding = finding});
  }
  for (const auto& [name, count] : sum->conditions) {
    if (count == 0) report.missed_conditions.push_back(name);
  }
  if (options.json) {
    fmt::print("{}\n",
               to_json(report).dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{}, {} files, seeds {}\n", sum->identity.program, options.paths.size(),
               describe_seeds(sum->seeds));
    print_text(report);
  }
  return exit_status_of(report);
}

}  // namespace

void add_merge_command(CLI::App& app, CommandProgram& program, int& exit_status) {
  CLI::App* command =
      app.add_subcommand("merge", "add up the results of campaigns that `fuzz --results` saved");
  const auto options = std::make_shared<MergeOptions>();
  command->add_option("files", options->paths, "files of results")->required();
  command->add_option("--output", options->output, "file for the sum");
  command->add_flag("--json", options->json, "print the sum as one JSON object");
  command->callback([options, &program, &exit_status] { exit_status = merge(program, *options); });
}

}  // namespace falafel::command_line
