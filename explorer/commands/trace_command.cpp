// `trace`: shows a recorded schedule as an HTML page, and converts it for trace viewers.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "explorer/commands/commands.h"
#include "explorer/commands/divergence.h"
#include "explorer/pages.h"
#include "explorer/replay.h"

namespace falafel::command_line {
namespace {

struct TraceOptions {
  std::string path;
  std::string output;
  std::string perfetto;
  std::uint64_t critical_tries = 30;
  bool key_steps = false;
};

int trace_file(const CommandProgram& programs, const TraceOptions& options) {
  const explorer::Program& program = program_of_replay(programs, options.path);
  const auto replay = explorer::load_replay(program, options.path);
  if (!replay) {
    fmt::print(stderr, "{}\n", replay.error());
    return 2;
  }
  const std::string path =
      options.output.empty()
          ? std::filesystem::path(options.path).replace_extension(".html").string()
          : options.output;
  const auto page = explorer::write_page({.program = program,
                                          .scenario = *replay->scenario,
                                          .choices = replay->file.choices,
                                          .property = replay->property,
                                          .critical_tries = options.critical_tries,
                                          .path = options.key_steps ? "" : path,
                                          .perfetto = options.key_steps ? "" : options.perfetto});
  if (!page) {
    fmt::print(stderr, "{}\n", page.error());
    return 2;
  }
  if (page->has_diverged || page->trace_hash != replay->file.trace_hash) {
    return report_divergence(options.path, *replay,
                             page->has_diverged ? page->divergence : "The trace hash differs.");
  }
  if (options.key_steps) {
    fmt::print("{}", page->key_steps);
    return 0;
  }
  fmt::print("{} requests, {} effects in {} steps: {}\n", page->requests, page->effects,
             page->steps, page->title);
  fmt::print("page: {}\n", path);
  if (!options.perfetto.empty()) fmt::print("for Perfetto: {}\n", options.perfetto);
  return 0;
}

}  // namespace

void add_trace_command(CLI::App& app, CommandProgram& program, int& exit_status) {
  CLI::App* command =
      app.add_subcommand("trace", "write a page that shows what happened in a recorded schedule");
  const auto options = std::make_shared<TraceOptions>();
  command->add_option("file", options->path, "a replay file")->required();
  command->add_option("--output", options->output,
                      "the page (default: next to the replay file, with suffix .html)");
  command->add_option("--perfetto", options->perfetto,
                      "also write the run as trace events, for Perfetto and others");
  command
      ->add_option("--critical-tries", options->critical_tries,
                   "continuations to try for the critical step; 0: do not search for it")
      ->capture_default_str();
  command->add_flag(
      "--key-steps", options->key_steps,
      "print the steps that led to the violation as a Markdown table, and write no page");
  command->callback(
      [options, &program, &exit_status] { exit_status = trace_file(program, *options); });
}

}  // namespace falafel::command_line
