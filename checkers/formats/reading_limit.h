// Ends the reading of a history that is too large.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "checkers/formats/recorded_history.h"

namespace falafel::checkers::formats {

// For parsers whose errors are exceptions within their file.
struct LimitReached : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ReadingLimit {
 public:
  explicit ReadingLimit(const ReadLimits& limits) : limits_(limits) {}

  // Call for each line, with the sizes of its text and of all operations so far. Returns a message
  // if the history is too large.
  std::optional<std::string> add(std::size_t text_bytes, std::size_t operations_bytes = 0) {
    text_bytes_ += text_bytes;
    if (text_bytes_ + operations_bytes > limits_.history_bytes) {
      return fmt::format(
          "the history is larger than {} bytes; check a part of it or raise the limit",
          limits_.history_bytes);
    }
    if (limits_.process_memory == nullptr || text_bytes_ < next_question_bytes_) {
      return std::nullopt;
    }
    next_question_bytes_ = text_bytes_ + question_interval_bytes;
    return ask();
  }

  // Call for each operation that is made from text that was added before. Returns as add() does.
  std::optional<std::string> add_operation() {
    return ++operations_ % operations_per_question == 0 ? ask() : std::nullopt;
  }

 private:
  static constexpr std::size_t question_interval_bytes = std::size_t{64} << 10U;
  static constexpr std::size_t operations_per_question = 512;

  std::optional<std::string> ask() {
    if (limits_.process_memory == nullptr) return std::nullopt;
    const std::uint64_t resident_bytes = limits_.process_memory->resident_bytes();
    if (resident_bytes <= limits_.resident_bytes) return std::nullopt;
    return fmt::format(
        "reading the history took {} bytes of memory, and judging it would need as much again; "
        "check a part of it or raise the limit",
        resident_bytes);
  }

  ReadLimits limits_;
  std::size_t text_bytes_ = 0;
  std::size_t next_question_bytes_ = 0;
  std::size_t operations_ = 0;
};

}  // namespace falafel::checkers::formats
