// Histories recorded by any system, read from text line by line in one of several formats
// (docs/checkers.md). Any input is allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "checkers/history.h"
#include "checkers/linearizability.h"
#include "checkers/process_memory.h"

namespace falafel::checkers::formats {

enum class Format : std::uint8_t { json_lines, jepsen_register, kv_log };

// If the format has no times, the times are line numbers.
struct RecordedHistory {
  checkers::Model model = checkers::Model::key_value_register;
  std::vector<checkers::Operation> operations;
};

struct ReadError {
  std::uint64_t line = 0;  // starting from 1
  std::string message;
  bool reached_limit = false;  // the history may be fine, but it is too large
};

struct ReadLimits {
  std::size_t line_bytes = std::size_t{16} << 20U;
  // size of the operations including their strings
  std::size_t history_bytes = std::size_t{1} << 30U;
  // If there is `process_memory`, reading ends when the process has more than `resident_bytes`.
  ProcessMemory* process_memory = nullptr;
  std::uint64_t resident_bytes = 0;
};

// A history without operations is an error, because the format is probably wrong.
tl::expected<RecordedHistory, ReadError> read_history(std::istream& input, Format format,
                                                      const ReadLimits& limits = {});

// The parser of one format. Lines are valid UTF-8 without line terminators.
class HistoryParser {
 public:
  HistoryParser() = default;
  HistoryParser(const HistoryParser&) = delete;
  HistoryParser& operator=(const HistoryParser&) = delete;
  virtual ~HistoryParser() = default;

  // Line numbers increase.
  virtual tl::expected<void, std::string> read_line(std::string_view line,
                                                    std::uint64_t number) = 0;
  // Call after the last line.
  virtual tl::expected<checkers::Model, ReadError> model() const = 0;

  std::size_t size() const { return operations_.size(); }
  std::vector<checkers::Operation> take_operations() { return std::move(operations_); }

 protected:
  std::vector<checkers::Operation> operations_;
};

std::unique_ptr<HistoryParser> make_json_lines_parser();
std::unique_ptr<HistoryParser> make_jepsen_register_parser();
std::unique_ptr<HistoryParser> make_kv_log_parser();

}  // namespace falafel::checkers::formats
