#include "explorer/commands/reported_findings.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include "explorer/crash_recorder.h"

namespace falafel::command_line {
namespace {

bool is_crash(const explorer::Finding& finding) {
  return finding.property == explorer::crash_property;
}

// In the order of properties and seeds: the first finding of each property, but all crashes.
std::vector<explorer::Finding> candidates(std::vector<explorer::Finding> findings) {
  std::ranges::sort(findings, {}, [](const explorer::Finding& finding) {
    return std::tie(finding.property, finding.seed);
  });
  std::vector<explorer::Finding> kept;
  for (explorer::Finding& finding : findings) {
    const bool is_first = kept.empty() || kept.back().property != finding.property;
    if (is_first || is_crash(finding)) kept.push_back(std::move(finding));
  }
  return kept;
}

FindingReport record(const FindingRecorder& recorder, const explorer::Finding& finding,
                     double shrink_seconds) {
  if (recorder.program == nullptr) return {.finding = finding};
  return record_finding(*recorder.program, finding, shrink_seconds, recorder.folder);
}

// The first line of a recorded crash. The campaign itself does not know it.
std::string fingerprint_of(const FindingReport& report) {
  if (!is_crash(report.finding) || report.replay_path.empty()) return {};
  return report.finding.explanation.substr(0, report.finding.explanation.find('\n'));
}

bool have(const std::vector<ReportedFinding>& reported, const explorer::Finding& finding,
          const std::string& fingerprint) {
  return std::ranges::any_of(reported, [&](const ReportedFinding& earlier) {
    return earlier.report.finding.property == finding.property &&
           earlier.fingerprint == fingerprint;
  });
}

// Nothing if `reported` has the finding already.
std::optional<ReportedFinding> record_once(const FindingRecorder& recorder,
                                           const explorer::Finding& finding,
                                           const std::vector<ReportedFinding>& reported) {
  if (!is_crash(finding)) {
    return ReportedFinding{.report = record(recorder, finding, recorder.shrink_seconds),
                           .fingerprint = {}};
  }
  FindingReport report = record(recorder, finding, 0);
  std::string fingerprint = fingerprint_of(report);
  if (have(reported, finding, fingerprint)) {
    std::error_code ignored;
    std::filesystem::remove(report.replay_path, ignored);
    return std::nullopt;
  }
  if (recorder.shrink_seconds > 0 && !report.replay_path.empty()) {
    report = record(recorder, finding, recorder.shrink_seconds);
  }
  return ReportedFinding{.report = std::move(report), .fingerprint = std::move(fingerprint)};
}

}  // namespace

std::vector<ReportedFinding> report_findings(const ResultsFiles& files,
                                             const FindingRecorder& recorder,
                                             KnownFindings& known) {
  std::vector<ReportedFinding> reported;
  for (const explorer::Finding& finding : candidates(files.findings)) {
    std::optional<ReportedFinding> found = record_once(recorder, finding, reported);
    if (!found) continue;
    found->schedules = files.sum.violations.at(finding.property);
    found->is_new = !known.has(finding.property, found->fingerprint);
    known.add(finding.property, found->fingerprint, finding.seed);
    reported.push_back(std::move(*found));
  }
  return reported;
}

}  // namespace falafel::command_line
