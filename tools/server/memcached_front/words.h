// The words of a command line, which are separated by spaces.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace falafel::memcached_front {

// Removes the first word from `line` and returns it; it is empty if there is none.
inline std::string_view cut_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

// Returns nullopt unless the whole word is a number of this type.
template <typename Number>
std::optional<Number> to_number(std::string_view word) {
  Number number = 0;
  const char* const end = word.data() + word.size();
  const auto [parsed_end, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc() || parsed_end != end) return std::nullopt;
  return number;
}

}  // namespace falafel::memcached_front
