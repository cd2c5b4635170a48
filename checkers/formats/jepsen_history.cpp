// Within this file, errors are exceptions; judge_jepsen_history() converts them to values.
#include "checkers/formats/jepsen_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "checkers/formats/edn_reader.h"
#include "checkers/formats/jepsen_operation.h"
#include "checkers/formats/line_reader.h"
#include "checkers/formats/messages.h"
#include "checkers/formats/numbers.h"
#include "checkers/formats/open_calls.h"
#include "checkers/formats/reading_limit.h"
#include "checkers/utf8.h"

namespace falafel::checkers::formats {

namespace {

using Type = EdnValue::Type;

constexpr std::string_view default_specification = "cas_register";
constexpr std::array<std::string_view, 4> event_types = {":invoke", ":ok", ":fail", ":info"};

struct LineError : std::runtime_error {
  LineError(std::uint64_t where, const std::string& message)
      : std::runtime_error(message), line(where) {}
  std::uint64_t line;
  bool reached_limit = false;
};

LineError limit_reached(std::uint64_t line, const std::string& message) {
  LineError error(line, message);
  error.reached_limit = true;
  return error;
}

// One event of a history.
struct JepsenEvent {
  EdnValue process;
  std::string type;
  std::string function;
  EdnValue value;
  std::uint64_t line = 0;
};

// Numbers of lines for positions that do not decrease.
class LineNumbers {
 public:
  explicit LineNumbers(std::string_view text) : text_(text) {}

  std::uint64_t at(std::size_t position) {
    number_ += static_cast<std::uint64_t>(
        std::ranges::count(text_.substr(counted_, position - counted_), '\n'));
    counted_ = position;
    return number_;
  }

 private:
  std::string_view text_;
  std::size_t counted_ = 0;
  std::uint64_t number_ = 1;
};

class HistoryReader {
 public:
  explicit HistoryReader(ReadingLimit& limit) : limit_(limit) {}

  void add(JepsenEvent event) {
    if (event.process.type == Type::keyword) return;  // the nemesis
    const auto process = parse_number<std::uint32_t>(event.process.text);
    if (!process) {
      throw LineError(event.line, fmt::format("the process is {}, but must be a number of up to 32 "
                                              "bits, or a keyword such as :nemesis",
                                              shortened(to_text(event.process))));
    }
    ++time_;
    if (const auto reached = limit_.add_operation()) throw limit_reached(event.line, *reached);
    if (event.type == ":invoke") return call(*process, std::move(event));
    complete(*process, std::move(event));
  }

  std::vector<JepsenOperation> take_operations() { return std::move(operations_); }

 private:
  void call(std::uint32_t process, JepsenEvent event) {
    calls_.call(process, operations_.size());
    operations_.push_back({.process = process,
                           .function = std::move(event.function),
                           .value = std::move(event.value),
                           .line = event.line,
                           .call_time = time_});
  }

  void complete(std::uint32_t process, JepsenEvent event) {
    const auto called = calls_.take(process);
    if (!called) {
      if (event.type == ":info") return;
      throw LineError(event.line, fmt::format("process {} returns without a pending call; the "
                                              "history must begin with the first call",
                                              process));
    }
    JepsenOperation& operation = operations_[*called];
    if (operation.function != event.function) {
      throw LineError(event.line,
                      fmt::format("process {} called {} in line {}, not {}", process,
                                  operation.function, operation.line, shortened(event.function)));
    }
    if (event.type == ":info") return;
    operation.return_time = time_;
    operation.has_failed = event.type == ":fail";
    if (!operation.has_failed) operation.answer = std::move(event.value);
  }

  ReadingLimit& limit_;
  std::uint64_t time_ = 0;  // the number of the event
  OpenCalls calls_;
  std::vector<JepsenOperation> operations_;
};

// The whole input, of bounded size.
std::string read_text(std::istream& input, std::size_t line_bytes, ReadingLimit& limit) {
  LineReader lines(input, line_bytes);
  std::string text;
  for (;;) {
    const auto line = lines.next();
    if (!line) throw LineError(lines.number(), line.error());
    if (!line->has_value()) return text;
    if (const auto position = find_invalid_utf8(**line)) {
      throw LineError(lines.number(),
                      fmt::format("the byte at column {} is not valid UTF-8", *position + 1));
    }
    text += **line;
    text += '\n';
    if (const auto reached = limit.add((*line)->size() + 1)) {
      throw limit_reached(lines.number(), *reached);
    }
  }
}

const EdnValue& required(const EdnValue& map, std::string_view name, std::uint64_t line) {
  const EdnValue* const found = map.find(name);
  if (found == nullptr) {
    throw LineError(line, fmt::format("{} is missing in {}", name, shortened(to_text(map))));
  }
  return *found;
}

void read_edn(std::string_view text, HistoryReader& history) {
  EdnReader reader(text, "file");
  LineNumbers lines(text);
  try {
    while (const std::optional<EdnValue> value = reader.read_next()) {
      const std::uint64_t line = lines.at(reader.position_of_value());
      if (value->type != Type::map) {
        throw LineError(
            line, fmt::format("{} is not an operation, a map {{...}}", shortened(to_text(*value))));
      }
      const EdnValue* const content = value->find(":value");
      JepsenEvent event{.process = required(*value, ":process", line),
                        .type = required(*value, ":type", line).text,
                        .function = required(*value, ":f", line).text,
                        .value = content != nullptr ? *content : EdnValue{.text = "nil"},
                        .line = line};
      if (std::ranges::find(event_types, event.type) == event_types.end()) {
        throw LineError(line, fmt::format("the type is {}, but must be :invoke, :ok, :fail or "
                                          ":info",
                                          shortened(event.type)));
      }
      history.add(std::move(event));
    }
  } catch (const EdnError& error) {
    throw LineError(lines.at(error.position), error.what());
  }
}

// The position of the process in a line of a log: a number or keyword before a type; npos: none.
std::size_t find_event(std::string_view line) {
  for (const std::string_view type : event_types) {
    for (std::size_t found = line.find(type); found != std::string_view::npos;
         found = line.find(type, found + 1)) {
      const std::size_t behind = found + type.size();
      if (behind < line.size() && line[behind] != ' ' && line[behind] != '\t') continue;
      const std::size_t end = line.find_last_not_of(" \t", found == 0 ? 0 : found - 1);
      if (found == 0 || end == std::string_view::npos || end + 1 == found) continue;
      const std::size_t begin = line.find_last_of(" \t", end) + 1;
      const std::string_view word = line.substr(begin, end + 1 - begin);
      if (word.front() == ':' || parse_number<std::uint64_t>(word)) return begin;
    }
  }
  return std::string_view::npos;
}

void read_log_line(std::string_view line, std::uint64_t number, HistoryReader& history) {
  const std::size_t begin = find_event(line);
  if (begin == std::string_view::npos) return;
  // The words up to the value; the text after it, such as an error, means nothing.
  EdnReader reader(line.substr(begin), "line");
  try {
    std::array<EdnValue, 4> words;
    for (EdnValue& word : words) {
      std::optional<EdnValue> value = reader.read_next();
      if (!value) throw LineError(number, "the line ends before the value of the operation");
      word = *std::move(value);
    }
    history.add({.process = words[0],
                 .type = words[1].text,
                 .function = words[2].text,
                 .value = words[3],
                 .line = number});
  } catch (const EdnError& error) {
    throw LineError(number, fmt::format("column {}: {}", begin + error.position + 1, error.what()));
  }
}

void read_log(std::string_view text, HistoryReader& history) {
  std::uint64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    read_log_line(text.substr(0, end), ++number, history);
    text.remove_prefix(end + 1);
  }
}

bool is_edn(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n,");
  return begin != std::string_view::npos &&
         std::string_view("{#[(;").find(text[begin]) != std::string_view::npos;
}

class JepsenOperations final : public OperationSource {
 public:
  // `is_plain`: for a user's specification.
  JepsenOperations(std::vector<JepsenOperation> operations, ReadingLimit& limit, bool is_plain)
      : limit_(limit),
        is_plain_(is_plain),
        operations_(std::move(operations)),
        has_key_(std::ranges::all_of(operations_, has_key)) {}

  std::optional<nlohmann::json> next() override {
    if (next_ == operations_.size()) return std::nullopt;
    line_ = operations_[next_].line;
    if (const auto reached = limit_.add_operation()) throw LimitReached(*reached);
    const JepsenOperation& operation = operations_[next_++];
    return is_plain_ ? to_plain_json(operation) : to_json(operation, has_key_);
  }

  // The line of the last operation.
  std::uint64_t line() const { return line_; }

  std::string specification() const {
    for (const JepsenOperation& operation : operations_) {
      if (auto found = specification_of(operation.function)) return *std::move(found);
    }
    return std::string(default_specification);
  }

 private:
  ReadingLimit& limit_;
  bool is_plain_;
  std::vector<JepsenOperation> operations_;
  bool has_key_;
  std::size_t next_ = 0;
  std::uint64_t line_ = 1;
};

JudgedHistory judge(std::istream& input, const std::string& specification,
                    const ReadLimits& read_limits, const JudgeSettings& settings) {
  ReadingLimit limit(read_limits);
  HistoryReader history(limit);
  {
    const std::string text = read_text(input, read_limits.line_bytes, limit);
    if (is_edn(text)) {
      read_edn(text, history);
    } else {
      read_log(text, history);
    }
  }
  JepsenOperations operations(history.take_operations(), limit, settings.library != nullptr);
  try {
    return judge_operations(specification.empty() ? operations.specification() : specification,
                            operations, settings);
  } catch (const LimitReached& reached) {
    throw limit_reached(operations.line(), reached.what());
  } catch (const std::bad_alloc&) {
    throw;  // says nothing about the line
  } catch (const std::exception& error) {
    throw LineError(operations.line(), error.what());
  }
}

}  // namespace

tl::expected<JudgedHistory, ReadError> judge_jepsen_history(std::istream& input,
                                                            const std::string& specification,
                                                            const ReadLimits& read_limits,
                                                            const JudgeSettings& settings) {
  try {
    return judge(input, specification, read_limits, settings);
  } catch (const LineError& error) {
    return tl::unexpected(ReadError{error.line, error.what(), error.reached_limit});
  }
}

}  // namespace falafel::checkers::formats
