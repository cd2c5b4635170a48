// Parses numbers; the whole text must be a number.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace falafel::checkers::formats {

template <typename Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [parsed_end, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc{} || parsed_end != end) return std::nullopt;
  return number;
}

}  // namespace falafel::checkers::formats
