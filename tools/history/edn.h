// EDN, as far as logs of operations need it: one map, of which the entries that are nil, integers,
// strings or keywords are kept under the names of their keywords.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace falafel::history {

// How deep collections may be nested. They are read by recursion.
inline constexpr int edn_max_depth = 32;

struct EdnValue {
  enum class Type : std::uint8_t { nil, integer, string, keyword, other };
  Type type = Type::nil;
  std::string text;  // of strings: what they mean; of other types: as it is written
};

using EdnMap = std::map<std::string, EdnValue, std::less<>>;  // by keyword, ":" included

// Of a line that holds a map and no more; anything else is an error. An empty map if the line is empty
// or a comment.
tl::expected<EdnMap, std::string> parse_edn_map(std::string_view line);

}  // namespace falafel::history
