// Judges the operations of a history by one of the shipped specifications
// (checkers/specifications), or by a user's. Errors are exceptions of type std::runtime_error.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checkers/linearizability_report.h"
#include "checkers/specification_library.h"

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

struct JudgeSettings {
  LinearizabilityLimits limits{};
  // The state before the first operation of each object; nullopt: that of the specification.
  std::optional<nlohmann::json> initial{};
  // A user's specification, which judges instead of the shipped ones; null: none.
  const falafel_specification* library = nullptr;
};

// The operations of a history, one after the other, as JSON objects (docs/checkers.md).
class OperationSource {
 public:
  OperationSource() = default;
  OperationSource(const OperationSource&) = delete;
  OperationSource& operator=(const OperationSource&) = delete;
  virtual ~OperationSource() = default;

  virtual std::optional<nlohmann::json> next() = 0;  // nullopt: the end
};

// Returns a message if no specification has the name; otherwise nothing.
std::optional<std::string> refuse_specification(const std::string& name);

JudgedHistory judge_operations(const std::string& specification, OperationSource& operations,
                               const JudgeSettings& settings);

}  // namespace falafel::checkers::formats
