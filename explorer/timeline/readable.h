// Makes the bytes of keys and values readable, whatever they contain: markup, terminal controls, or
// binary data.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace falafel::timeline {

// Keeps valid printable UTF-8, writes other bytes as \xNN, and doubles backslashes. Long strings
// are shortened to their beginning and length.
std::string readable(std::string_view bytes, std::size_t longest_bytes = 48);

// The same for sentences, which may be longer than keys and values.
inline std::string readable_text(std::string_view text) { return readable(text, 400); }

}  // namespace falafel::timeline
