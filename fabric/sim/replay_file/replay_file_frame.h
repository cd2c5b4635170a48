// What stands around the contents of a replay file: at its head the format's name and version, each
// on a line of fixed form, so that any version of the project can tell them; at its end a line with
// a checksum over everything before. A text without that end was cut off; one that does not match
// its checksum was altered.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace falafel::sim {

// The first lines; fields follow, each ending in a comma and a newline.
std::string replay_file_head();

// Appends the last lines.
void seal_replay_file(std::string& text);

// What is wrong with the frame, as a message. Without one, the text is as it was sealed.
std::optional<std::string> find_frame_fault(std::string_view text);

}  // namespace falafel::sim
