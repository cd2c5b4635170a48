// Within this file, errors are exceptions; judge_specification_lines() converts them to values.
#include "checkers/formats/specification_lines.h"

#include <fmt/format.h>

#include <cstdint>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "checkers/formats/line_reader.h"
#include "checkers/formats/messages.h"
#include "checkers/formats/reading_limit.h"
#include "checkers/formats/specification_fields.h"
#include "checkers/utf8.h"

namespace falafel::checkers::formats {

namespace {

// An operation is an object whose fields may be arrays of values or of arrays.
constexpr int most_nested = 3;

json parse_line(std::string_view line) {
  if (const auto position = find_invalid_utf8(line)) {
    reject(fmt::format("the byte at column {} is not valid UTF-8", *position + 1));
  }
  const auto limit_depth = [](int depth, json::parse_event_t /*event*/, const json& /*value*/) {
    if (depth > most_nested) reject("nested more deeply than an operation is");
    return true;
  };
  json object;
  try {
    object = json::parse(line, limit_depth);
  } catch (const json::exception& error) {
    reject(describe_parse_error(error));
  }
  if (!object.is_object()) reject(fmt::format("{} is not a JSON object", quote_json(object)));
  return object;
}

// Reads lines that are not empty.
class Lines final : public OperationSource {
 public:
  Lines(std::istream& input, const ReadLimits& limits)
      : reader_(input, limits.line_bytes), limit_(limits) {}

  std::optional<json> next() override {
    for (;;) {
      const auto line = reader_.next();
      if (!line) reject(line.error());
      if (!line->has_value()) return std::nullopt;
      if (const auto reached = limit_.add((*line)->size())) throw LimitReached(*reached);
      if ((*line)->find_first_not_of(" \t") != std::string_view::npos) return parse_line(**line);
    }
  }
  std::uint64_t number() const { return reader_.number(); }

 private:
  LineReader reader_;
  ReadingLimit limit_;
};

JudgedHistory read_and_judge(Lines& lines, const JudgeSettings& settings) {
  const std::optional<json> first = lines.next();
  if (!first || !first->contains("specification")) {
    reject(R"(the first line must name the specification, as in {"specification": "queue"})");
  }
  JsonTexts texts;
  Fields fields(*first, texts);
  const std::string specification = fields.text("specification");
  JudgeSettings settings_of_file = settings;
  if (fields.has("initial")) {
    const json& initial = fields.at("initial");
    if (!settings.initial) settings_of_file.initial = initial;
  }
  fields.require_all_read();
  return judge_operations(specification, lines, settings_of_file);
}

}  // namespace

tl::expected<JudgedHistory, ReadError> judge_specification_lines(std::istream& input,
                                                                 const ReadLimits& read_limits,
                                                                 const JudgeSettings& settings) {
  Lines lines(input, read_limits);
  try {
    return read_and_judge(lines, settings);
  } catch (const LimitReached& reached) {
    return tl::unexpected(ReadError{lines.number(), reached.what(), true});
  } catch (const std::bad_alloc&) {
    throw;  // says nothing about the line
  } catch (const std::exception& error) {
    return tl::unexpected(ReadError{lines.number(), error.what()});
  }
}

}  // namespace falafel::checkers::formats
