// The findings of a report: each flaw that any of its files found, once.
#pragma once

#include <string>
#include <vector>

#include "explorer/commands/known_findings.h"
#include "explorer/commands/record_finding.h"
#include "explorer/commands/results_files.h"

namespace falafel::command_line {

// A finding, identified by its property and, for crashes, its fingerprint.
struct ReportedFinding {
  FindingReport report;
  // The place of the assertion, or the signal, if it is a crash that was repeated.
  std::string fingerprint;
  std::uint64_t schedules = 0;  // that violated the property
  bool is_new = true;           // no earlier report had it
};

// Repeats and records findings.
struct FindingRecorder {
  const explorer::Program* program;  // null: they cannot be repeated
  double shrink_seconds;
  const std::string& folder;  // for replay files and their pages
};

// Each finding with its lowest seed. Adds them to `known`. The findings of different
// files with equal properties are one finding, except crashes, which are repeated to learn their
// fingerprints.
std::vector<ReportedFinding> report_findings(const ResultsFiles& files,
                                             const FindingRecorder& recorder, KnownFindings& known);

}  // namespace falafel::command_line
