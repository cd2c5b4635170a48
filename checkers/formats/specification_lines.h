// Recorded histories of the shipped specifications (checkers/specifications) as JSON Lines. The
// first line names the specification; every other line is one operation (docs/checkers.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "checkers/formats/recorded_history.h"
#include "checkers/linearizability_report.h"

namespace falafel::checkers::formats {

// An operation as a page or a message shows it.
struct JudgedOperation {
  std::uint32_t client = 0;
  std::string text;  // "push 7"
  std::uint64_t call_time = 0;
  std::optional<std::uint64_t> return_time{};  // nullopt: no answer
};

struct JudgedHistory {
  std::string specification;
  std::vector<JudgedOperation> operations;  // in the order of the lines
  LinearizabilityReport report;
};

// Reads a history and judges it by the specification that it names.
tl::expected<JudgedHistory, ReadError> judge_specification_lines(
    std::istream& input, const ReadLimits& read_limits, const LinearizabilityLimits& limits);

}  // namespace falafel::checkers::formats
