#include "tools/timeline/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "explorer/critical_step.h"
#include "fabric/sim/strategies/replay_strategy.h"
#include "tools/timeline/chrome_trace.h"
#include "tools/timeline/key_steps.h"
#include "tools/timeline/page.h"
#include "tools/timeline/recorder.h"
#include "tools/timeline/rows.h"

namespace falafel::timeline {
namespace {

std::string describe_safeguards(const engine::Safeguards& safeguards) {
  if (safeguards == engine::Safeguards::hardened()) return "hardened protocol";
  if (safeguards == engine::Safeguards::published()) return "published protocol";
  std::string names;
  for (const auto& safeguard : engine::safeguard_descriptions) {
    if (safeguards.*safeguard.enabled) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", safeguard.name);
  }
  return "without " + names;
}

std::string count(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string describe(const store_scenario::Scenario& scenario, const sim::RunResult& result) {
  return fmt::format(
      "{}; {}, {}, {}, {} of {} bytes; {}, {:.1f} µs", describe_safeguards(scenario.safeguards),
      count(scenario.clients.size(), "client"), count(scenario.operation_count(), "operation"),
      count(scenario.geometry.table_entries, "slot"),
      count(scenario.geometry.region_count, "region"), scenario.geometry.region_bytes,
      count(result.steps, "step"), static_cast<double>(result.time_ns) / 1'000);
}

// The violation to explain comes first.
void explain(Timeline& timeline, store_scenario::Runner& runner, explorer::FailingRun failing,
             const RecordOptions& options) {
  auto& violations = failing.run.violations;
  std::stable_partition(
      violations.begin(), violations.end(),
      [&](const checkers::Judgement& violation) { return violation.property == options.property; });
  for (const checkers::Judgement& violation : violations) {
    timeline.violations.push_back(
        {.property = violation.property, .explanation = violation.explanation});
  }
  const auto critical = explorer::find_critical_step(runner, failing, options.critical_tries);
  timeline.key_steps = find_key_steps(timeline, violations, critical);
}

tl::expected<void, std::string> write(const std::string& text, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return {};
  return tl::unexpected(fmt::format("{}: {}; name a file in a writable folder", path,
                                    std::generic_category().message(errno)));
}

}  // namespace

RecordedTimeline record_timeline(store_scenario::Runner& runner,
                                 const store_scenario::Scenario& scenario,
                                 const std::vector<sim::Choice>& choices,
                                 const RecordOptions& options) {
  Recorder recorder(scenario);
  sim::ReplayStrategy strategy(choices);
  RecordedTimeline recorded;
  recorded.run = runner.run(scenario, strategy, &recorder);
  Timeline& timeline = recorded.timeline;
  timeline = recorder.finish(recorded.run.result);
  timeline.description = describe(scenario, recorded.run.result);
  assign_rows(timeline);
  if (!recorded.run.violations.empty()) {
    explain(timeline, runner,
            {.scenario = scenario.clone(), .choices = choices, .run = recorded.run}, options);
  }
  timeline.title =
      timeline.violations.empty() ? "all properties hold" : timeline.violations.front().property;
  return recorded;
}

tl::expected<void, std::string> write_page(const Timeline& timeline, const std::string& path) {
  return write(to_page(timeline), path);
}

tl::expected<void, std::string> write_chrome_trace(const Timeline& timeline,
                                                   const std::string& path) {
  return write(to_chrome_trace(timeline).dump(-1, ' ', true,
                                              nlohmann::ordered_json::error_handler_t::replace),
               path);
}

}  // namespace falafel::timeline
