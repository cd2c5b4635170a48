// UTF-8 as defined by RFC 3629: shortest forms only, no surrogates, no characters above U+10FFFF.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace falafel::checkers {

// Returns the position of the first byte that is not part of a valid character.
std::optional<std::size_t> find_invalid_utf8(std::string_view bytes);

// Requires a valid character.
void append_utf8(std::string& text, char32_t character);

}  // namespace falafel::checkers
