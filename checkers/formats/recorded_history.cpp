#include "checkers/formats/recorded_history.h"

#include <fmt/format.h>

#include <utility>

#include "checkers/formats/line_reader.h"
#include "checkers/formats/reading_limit.h"
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
  ReadingLimit limit(limits);
  for (;;) {
    const auto line = reader.next();
    if (!line) return error_at(reader.number(), line.error());
    if (!line->has_value()) break;
    if (const auto read = read_line(*parser, **line, reader.number()); !read) {
      return error_at(reader.number(), read.error());
    }
    const std::size_t operations_bytes = parser->size() * sizeof(checkers::Operation);
    if (auto reached = limit.add((*line)->size(), operations_bytes)) {
      return tl::unexpected(ReadError{reader.number(), *std::move(reached), true});
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
