// `falafel trace`: shows a recorded schedule as an HTML page, and converts it for trace viewers.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "explorer/replay.h"
#include "explorer/timeline/key_steps_table.h"
#include "explorer/timeline/record.h"
#include "tools/falafel/commands.h"
#include "tools/falafel/divergence.h"
#include "tools/store_scenario/program.h"

namespace falafel::command_line {
namespace {

struct TraceOptions {
  std::string path;
  std::string output;
  std::string perfetto;
  std::uint64_t critical_tries = 30;
  bool key_steps = false;
};

int write(const TraceOptions& options, const timeline::Timeline& timeline) {
  const std::string page =
      options.output.empty()
          ? std::filesystem::path(options.path).replace_extension(".html").string()
          : options.output;
  auto written = timeline::write_page(timeline, page);
  if (written && !options.perfetto.empty()) {
    written = timeline::write_chrome_trace(timeline, options.perfetto);
  }
  if (!written) {
    fmt::print(stderr, "{}\n", written.error());
    return 2;
  }
  fmt::print("{} requests, {} effects in {} steps: {}\n", timeline.requests.size(),
             timeline.effects.size(), timeline.steps, timeline.title);
  fmt::print("page: {}\n", page);
  if (!options.perfetto.empty()) fmt::print("for Perfetto: {}\n", options.perfetto);
  return 0;
}

int trace_file(const TraceOptions& options) {
  const auto replay = explorer::load_replay(store_scenario::StoreProgram(), options.path);
  if (!replay) {
    fmt::print(stderr, "{}\n", replay.error());
    return 2;
  }
  store_scenario::Runner runner;
  const timeline::RecordedTimeline recorded = timeline::record_timeline(
      runner, *replay->scenario, replay->file.choices,
      {.property = replay->property, .critical_tries = options.critical_tries});
  if (!replay->matches(recorded.run)) return report_divergence(options.path, *replay, recorded.run);
  if (options.key_steps) {
    fmt::print("{}", timeline::to_markdown_table(recorded.timeline));
    return 0;
  }
  return write(options, recorded.timeline);
}

}  // namespace

void add_trace_command(CLI::App& app, int& exit_status) {
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
  command->callback([options, &exit_status] { exit_status = trace_file(*options); });
}

}  // namespace falafel::command_line
