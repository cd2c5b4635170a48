// Helpers for the error messages of the history parsers.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace falafel::checkers::formats {

using ParseResult = tl::expected<void, std::string>;

template <typename... Arguments>
tl::unexpected<std::string> fail(fmt::format_string<const Arguments&...> format,
                                 const Arguments&... arguments) {
  return tl::unexpected(fmt::format(format, arguments...));
}

// For parsers whose errors are exceptions within their file.
[[noreturn]] inline void reject(const std::string& message) { throw std::runtime_error(message); }

// Shortens text of the input for use in messages.
inline std::string shortened(std::string_view text, std::size_t longest_bytes = 60) {
  if (text.size() <= longest_bytes) return std::string(text);
  std::size_t end = longest_bytes;  // moved back to a character boundary
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "...";
}

// Says where a line is not JSON; the parser's own text names its rules.
inline std::string describe_parse_error(const nlohmann::json::exception& error) {
  const auto* const position = dynamic_cast<const nlohmann::json::parse_error*>(&error);
  if (position == nullptr) return "not valid JSON: a number is too large";
  return fmt::format("not valid JSON: column {} is unexpected", position->byte);
}

}  // namespace falafel::checkers::formats
