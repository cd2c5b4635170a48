// A parser for the part of EDN that operation logs use: one map per line. It stores values under
// their keywords.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "checkers/formats/edn_reader.h"

namespace falafel::checkers::formats {

using EdnMap = std::map<std::string, EdnValue, std::less<>>;  // by keyword, ":" included

// Parses a line that contains exactly one map; anything else is an error. An empty line or a
// comment returns an empty map.
tl::expected<EdnMap, std::string> parse_edn_map(std::string_view line);

}  // namespace falafel::checkers::formats
