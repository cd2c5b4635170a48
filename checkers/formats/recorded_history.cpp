#include "checkers/formats/recorded_history.h"

#include <fmt/format.h>

#include <utility>

#include "checkers/formats/line_reader.h"
#include "checkers/utf8.h"

namespace falafel::checkers::formats {

namespace {

std::unique_ptr<HistoryParser> make_parser(Format format) {
  switch (format) {
    case Format::json_lines: return make_json_lines_parser();
    case Format::jepsen_register: return make_jepsen_register_parser();
    case Format::kv_log: return make_kv_log_parser();
  }
  return nullptr;
}

tl::unexpected<ReadError> error_at(std::uint64_t line, std::string message) {
  return tl::unexpected(ReadError{line, std::move(message)});
}

// An upper bound for the memory that a line adds to a history: its text and one operation.
std::size_t history_bytes(const HistoryParser& parser, std::size_t text_bytes) {
  return text_bytes + parser.size() * sizeof(checkers::Operation);
}

tl::expected<void, std::string> read_line(HistoryParser& parser, std::string_view line,
                                          std::uint64_t number) {
  if (const auto position = find_invalid_utf8(line)) {
    return tl::unexpected(fmt::format("the byte at column {} is not valid UTF-8", *position + 1));
  }
  return parser.read_line(line, number);
}

}  // namespace

tl::expected<RecordedHistory, ReadError> read_history(std::istream& input, Format format,
                                                      const ReadLimits& limits) {
  const std::unique_ptr<HistoryParser> parser = make_parser(format);
  LineReader reader(input, limits.line_bytes);
  std::size_t text_bytes = 0;
  for (;;) {
    const auto line = reader.next();
    if (!line) return error_at(reader.number(), line.error());
    if (!line->has_value()) break;
    if (const auto read = read_line(*parser, **line, reader.number()); !read) {
      return error_at(reader.number(), read.error());
    }
    text_bytes += (*line)->size();
    if (history_bytes(*parser, text_bytes) > limits.history_bytes) {
      return error_at(reader.number(), fmt::format("the history is larger than {} bytes; check a "
                                                   "part of it or raise the limit",
                                                   limits.history_bytes));
    }
  }
  if (parser->size() == 0) {
    return error_at(reader.number(), "the input has no operations; check that it has this format");
  }
  const auto model = parser->model();
  if (!model) return tl::unexpected(model.error());
  return RecordedHistory{*model, parser->take_operations()};
}

}  // namespace falafel::checkers::formats
