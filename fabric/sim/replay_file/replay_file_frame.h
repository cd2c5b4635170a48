// The frame around the contents of a replay file. It begins with the name and version of the
// format, each on a line of fixed form that every version of the project can read. It ends with a
// line that holds a checksum of everything before it. A text without this end was truncated; a text
// that does not match the checksum was altered.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace falafel::sim {

// Returns the first lines. Fields follow, each ending in a comma and a newline.
std::string replay_file_head();

// Appends the last lines.
void seal_replay_file(std::string& text);

// Returns a message about what is wrong with the frame, or nothing if the text is as it was sealed.
std::optional<std::string> find_frame_fault(std::string_view text);

}  // namespace falafel::sim
