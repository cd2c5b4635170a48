// `report`: adds up the results of campaigns like `merge`, shrinks each finding once, and writes a
// page.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "explorer/commands/campaign_verdict.h"
#include "explorer/commands/commands.h"
#include "explorer/commands/known_findings.h"
#include "explorer/commands/report_page.h"
#include "explorer/commands/reported_findings.h"
#include "explorer/commands/results_files.h"

namespace falafel::command_line {
namespace {

struct ReportOptions {
  std::vector<std::string> paths;
  std::string output = "campaign.html";
  std::string known;
  double shrink_seconds = 40;
};

// The program of the results, with their options, as `fuzz` would run it.
tl::expected<std::unique_ptr<explorer::Program>, std::string> create_program(
    CommandProgram& program, const explorer::CampaignIdentity& identity) {
  CLI::App app;
  program.add_fuzz_options(app);
  std::vector<std::string> words;  // CLI11 takes them from the end
  for (const auto& [name, values] : identity.options) {
    for (const std::string& value : values) words.push_back(fmt::format("{}={}", name, value));
  }
  std::ranges::reverse(words);
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return tl::unexpected(std::string(error.what()));
  }
  auto created = program.create();
  if (!created) return created;
  const explorer::CampaignIdentity own = explorer::identify(**created, identity.options);
  if (own == identity) return created;
  return tl::unexpected(
      fmt::format("the results are of the program {}, built as {}; this is {}, built as {}; "
                  "use the build that ran the campaign",
                  identity.program, identity.build, own.program, own.build));
}

tl::expected<void, std::string> write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return {};
  return tl::unexpected(fmt::format(
      "--output {}: cannot write the file; name one in a folder that you may write to", path));
}

// The folder of the page.
tl::expected<std::string, std::string> create_folder(const std::string& output) {
  std::string folder = std::filesystem::path(output).parent_path().string();
  if (folder.empty()) return ".";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return folder;
  return tl::unexpected(fmt::format("--output {}: cannot create the folder: {}; name another file",
                                    output, error.message()));
}

tl::expected<KnownFindings, std::string> load_known(const std::string& path) {
  if (path.empty()) return KnownFindings();
  return KnownFindings::load(path);
}

// Writes the page, then the known findings: a finding stays new until a page has it.
tl::expected<void, std::string> save(const ReportOptions& options, const ReportPage& page,
                                     const KnownFindings& known) {
  if (auto written = write_file(options.output, to_html(page)); !written) return written;
  if (options.known.empty()) return {};
  return known.save(options.known).map_error([](const auto& error) { return "--known " + error; });
}

void print_summary(const ReportOptions& options, const ReportPage& page) {
  fmt::print("{} schedules, {}\n{}\n", page.results.schedules, verdict_of(page), options.output);
  if (!page.note.empty() && !page.findings.empty()) fmt::print(stderr, "{}\n", page.note);
}

int exit_status_of(const ReportPage& page) {
  CampaignVerdict judged{.result = page.results,
                         .missed_conditions = page.missed_conditions,
                         .executable = page.executable};
  for (const ReportedFinding& found : page.findings) judged.findings.push_back(found.report);
  return exit_status_of(judged);
}

int refuse(const std::string& error) {
  fmt::print(stderr, "{}\n", error);
  return status_wrong_usage;
}

int report(CommandProgram& command, const ReportOptions& options) {
  const auto files = add_up(options.paths);
  if (!files) return refuse(files.error());
  auto known = load_known(options.known);
  if (!known) return refuse("--known " + known.error());
  const auto folder = create_folder(options.output);
  if (!folder) return refuse(folder.error());
  const auto program = create_program(command, files->sum.identity);
  ReportPage page{.title = fmt::format("Campaign of {}", files->sum.identity.program),
                  .results = files->sum,
                  .files = options.paths.size(),
                  .files_without_times = files->without_times,
                  .executable = command.executable(),
                  .missed_conditions = unreached_conditions(files->sum),
                  .folder = *folder};
  if (!program) page.note = "These findings could not be repeated: " + program.error();
  page.findings = report_findings(*files,
                                  {.program = program ? program->get() : nullptr,
                                   .shrink_seconds = options.shrink_seconds,
                                   .folder = *folder},
                                  *known);
  if (const auto saved = save(options, page, *known); !saved) return refuse(saved.error());
  print_summary(options, page);
  return exit_status_of(page);
}

}  // namespace

void add_report_command(CLI::App& app, CommandProgram& program, int& exit_status) {
  CLI::App* command = app.add_subcommand(
      "report",
      "add up the results of campaigns, shrink each finding once, and write a page about them");
  const auto options = std::make_shared<ReportOptions>();
  command->add_option("files", options->paths, "files of results, as `fuzz --results` saved them")
      ->required();
  command
      ->add_option("--output", options->output,
                   "the page; replay files are written to the same folder")
      ->capture_default_str();
  command->add_option("--known", options->known,
                      "file with the findings of earlier reports; those that it does not have are "
                      "new, and are added to it");
  command
      ->add_option("--shrink-seconds", options->shrink_seconds,
                   "time limit for shrinking each finding; 0: do not shrink")
      ->capture_default_str();
  command->callback([options, &program, &exit_status] { exit_status = report(program, *options); });
}

}  // namespace falafel::command_line
