// Makes the bytes of keys and values readable, whatever they contain: markup, terminal controls, or
// binary data.
#pragma once

#include <string>
#include <string_view>

namespace falafel::timeline {

// Keeps valid printable UTF-8, writes other bytes as \xNN, and doubles backslashes. Long strings
// are shortened to their beginning and length.
std::string readable(std::string_view bytes);

}  // namespace falafel::timeline
