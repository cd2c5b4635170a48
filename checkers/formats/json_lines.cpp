// Histories in JSON Lines format: one operation per line, in any order.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "checkers/formats/json_format.h"
#include "checkers/formats/messages.h"
#include "checkers/formats/recorded_history.h"

namespace falafel::checkers::formats {

namespace {

using checkers::Answer;
using checkers::Model;
using checkers::Operation;
using checkers::OperationKind;
using nlohmann::json;

// An operation is an object whose fields may be objects without nested objects.
constexpr int max_depth = 2;

tl::expected<json, std::string> parse_json(std::string_view line) {
  const auto limit_depth = [](int depth, json::parse_event_t /*event*/, const json& /*value*/) {
    if (depth > max_depth) throw std::runtime_error("nested more deeply than an operation is");
    return true;
  };
  try {
    return json::parse(line, limit_depth);
  } catch (const json::exception& error) {
    return tl::unexpected(describe_parse_error(error));
  } catch (const std::runtime_error& error) {
    return tl::unexpected<std::string>(error.what());
  }
}

class JsonLinesParser final : public HistoryParser {
 public:
  ParseResult read_line(std::string_view line, std::uint64_t number) override {
    if (line.find_first_not_of(" \t") == std::string_view::npos) return {};
    const auto object = parse_json(line);
    if (!object) return tl::unexpected(object.error());
    auto operation = operation_from_json(*object);
    if (!operation) return tl::unexpected(operation.error());
    note_first(*operation, number);
    operations_.push_back(*std::move(operation));
    return {};
  }

  // The model is derived from the kinds of operations.
  tl::expected<Model, ReadError> model() const override {
    if (append_line_ == 0) {
      return swap_line_ == 0 ? Model::key_value_register : Model::cas_register;
    }
    const std::uint64_t conflicting_line = std::max(absence_line_, swap_line_);
    if (conflicting_line == 0) return Model::append_log;
    return tl::unexpected(ReadError{
        conflicting_line,
        fmt::format("an appended key, as in line {}, is never absent and cannot be deleted or "
                    "compared and swapped",
                    append_line_)});
  }

 private:
  // Records the first operations that only some models support.
  void note_first(const Operation& operation, std::uint64_t number) {
    const auto note = [number](std::uint64_t& line) {
      if (line == 0) line = number;
    };
    if (operation.kind == OperationKind::append) note(append_line_);
    if (operation.kind == OperationKind::compare_and_swap) note(swap_line_);
    const bool is_absence = operation.answer == Answer::not_found;
    if (operation.kind == OperationKind::remove || is_absence) note(absence_line_);
  }

  std::uint64_t append_line_ = 0;  // 0: none yet
  std::uint64_t swap_line_ = 0;
  std::uint64_t absence_line_ = 0;
};

}  // namespace

std::unique_ptr<HistoryParser> make_json_lines_parser() {
  return std::make_unique<JsonLinesParser>();
}

}  // namespace falafel::checkers::formats
