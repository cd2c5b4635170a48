#include "checkers/monitors/monitored_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "checkers/judgement.h"
#include "checkers/linearization/partial_history.h"

namespace falafel::checkers::monitors {

namespace {

// The search explains histories of at most this many operations as a whole.
constexpr std::size_t most_explained_whole = 100;
// The steps that the search gets to find the order, if no few operations explain a violation.
constexpr std::uint64_t most_steps_to_explain = 200'000;

LinearizabilityReport holds(const MonitoredHistory& history) {
  LinearizabilityReport report;
  report.judgement = {.verdict = Verdict::holds,
                      .property = "linearizability",
                      .explanation = "the operations have a correct order"};
  report.judged = history.answered;
  return report;
}

// The positions of operations that have no correct order by themselves.
std::vector<std::size_t> core_of(const MonitorResult& result, const MonitoredHistory& history) {
  const std::vector<std::size_t>& positions = history.positions;
  if (result.core.empty() || positions.size() <= most_explained_whole) return positions;
  std::vector<std::size_t> core;
  core.reserve(result.core.size());
  for (const std::uint32_t call : result.core) core.push_back(positions[call]);
  std::ranges::sort(core);
  return core;
}

LinearizabilityReport violated(const MonitorResult& result, const MonitoredHistory& history,
                               linearization::ObjectModel& model,
                               linearization::ObjectSearch& search, LinearizabilityLimits limits,
                               std::size_t most_listed) {
  const std::vector<std::size_t> core = core_of(result, history);
  linearization::PartialHistory calls(model, core);
  limits.steps = std::min(limits.steps, most_steps_to_explain);
  LinearizabilityReport report = search.report(calls, limits, most_listed);
  report.judged = history.answered;
  if (report.judgement.verdict != Verdict::violated) {
    report.judgement.verdict = Verdict::violated;
    report.judgement.explanation = fmt::format(
        "the {} operations have no correct order, even if those without an answer took effect at "
        "the best time; no short explanation was found",
        model.calls());
    return report;
  }
  for (std::size_t& number : report.longest_prefix) number = core[number];
  for (std::size_t& number : report.unfitting) number = core[number];
  if (core.size() == history.positions.size()) return report;
  report.judgement.explanation =
      fmt::format("Of {} operations, {} have no correct order by themselves. Of these, {}",
                  model.calls(), core.size(), report.judgement.explanation);
  return report;
}

}  // namespace

void MonitoredHistory::add(MonitoredCall call, const CallOutline& outline, std::size_t position) {
  if (outline.has_answer) ++answered;
  call.has_answer = outline.has_answer;
  call.call_time = outline.call_time;
  call.return_time = outline.return_time;
  calls.push_back(call);
  positions.push_back(position);
}

LinearizabilityReport report_of(const MonitorResult& result, const MonitoredHistory& history,
                                linearization::ObjectModel& model,
                                linearization::ObjectSearch& search, LinearizabilityLimits limits,
                                std::size_t most_listed) {
  if (result.outcome == MonitorResult::Outcome::holds) return holds(history);
  return violated(result, history, model, search, limits, most_listed);
}

}  // namespace falafel::checkers::monitors
