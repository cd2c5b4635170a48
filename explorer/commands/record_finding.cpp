#include "explorer/commands/record_finding.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "explorer/commands/progress.h"
#include "explorer/pages.h"
#include "explorer/record_failure.h"
#include "explorer/replay.h"

namespace falafel::command_line {
namespace {

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

}  // namespace

FindingReport record_finding(const explorer::Program& program, const explorer::Finding& finding,
                             double shrink_seconds, const std::string& folder) {
  FindingReport report{.finding = finding};
  if (finding.property == explorer::determinism_property) return report;
  const std::string path = replay_path(folder, finding);
  const auto recorded = explorer::record_failure(program, finding, {.seconds = shrink_seconds},
                                                 path, print_shrinking);
  if (!recorded) {
    fmt::print(stderr, "{}\n", recorded.error());
    return report;
  }
  report.replay_path = path;
  report.steps_after = recorded->steps;
  if (explorer::ends_the_process(finding.property)) {
    report.finding.explanation = recorded->explanation;
  } else {
    report.trace_path = save_page(program, path);
  }
  return report;
}

}  // namespace falafel::command_line
