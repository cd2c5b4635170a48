#include "explorer/timeline/record.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <system_error>

#include "explorer/critical_step.h"
#include "explorer/timeline/chrome_trace.h"
#include "explorer/timeline/page.h"
#include "explorer/timeline/recorder.h"
#include "explorer/timeline/rows.h"
#include "fabric/sim/strategies/replay_strategy.h"

namespace falafel::timeline {
namespace {

// The violation to explain comes first.
void explain(Timeline& timeline, const Recorder& recorder, explorer::Runner& runner,
             explorer::FailingRun failing, const RecordOptions& options) {
  failing.run.put_first(options.property);
  const std::vector<checkers::Judgement>& violations = failing.run.violations;
  for (const checkers::Judgement& violation : violations) {
    timeline.violations.push_back(
        {.property = violation.property, .explanation = violation.explanation});
  }
  const auto critical = explorer::find_critical_step(runner, failing, options.critical_tries);
  timeline.key_steps = recorder.find_key_steps(timeline, violations, critical);
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

RecordedTimeline record_timeline(explorer::Runner& runner, const explorer::Scenario& scenario,
                                 const std::vector<sim::Choice>& choices,
                                 const RecordOptions& options) {
  std::shared_ptr<Recorder> recorder = runner.create_recorder(scenario);
  if (recorder == nullptr) recorder = std::make_shared<Recorder>(runner, scenario);
  sim::ReplayStrategy strategy(choices);
  RecordedTimeline recorded;
  recorded.run = recorder->run(strategy);
  Timeline& timeline = recorded.timeline;
  timeline = recorder->finish(recorded.run.result);
  assign_rows(timeline);
  if (!recorded.run.violations.empty()) {
    explain(timeline, *recorder, runner,
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
