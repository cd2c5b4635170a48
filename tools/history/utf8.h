// UTF-8 as RFC 3629 defines it: shortest forms only, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace falafel::history {

// Where the first byte stands that is not part of a valid character.
std::optional<std::size_t> find_invalid_utf8(std::string_view bytes);

// The character is valid.
void append_utf8(std::string& text, char32_t character);

}  // namespace falafel::history
