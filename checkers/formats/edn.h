// A parser for the part of EDN that operation logs use: one map per line. It keeps entries whose
// values are nil, integers, strings or keywords, and stores them under their keywords.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace falafel::checkers::formats {

// The maximum nesting depth of collections. The parser is recursive.
inline constexpr int edn_max_depth = 32;

struct EdnValue {
  enum class Type : std::uint8_t { nil, integer, string, keyword, other };
  Type type = Type::nil;
  std::string text;  // strings: the decoded text; other types: the source text
};

using EdnMap = std::map<std::string, EdnValue, std::less<>>;  // by keyword, ":" included

// Parses a line that contains exactly one map; anything else is an error. An empty line or a
// comment returns an empty map.
tl::expected<EdnMap, std::string> parse_edn_map(std::string_view line);

}  // namespace falafel::checkers::formats
