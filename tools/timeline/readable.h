// Bytes of keys and values for people, whatever they are: markup, terminal controls, no text at all.
#pragma once

#include <string>
#include <string_view>

namespace falafel::timeline {

// Valid printable UTF-8 as it is, other bytes as \xNN, and a backslash doubled. Of long ones the beginning, and
// how long they are.
std::string readable(std::string_view bytes);

}  // namespace falafel::timeline
