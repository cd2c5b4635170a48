// The files of page/ combined into one, with "{{timeline}}" as placeholder for the timeline. The
// build generates it (embed_page.cmake), so that the program needs no other files.
#pragma once

#include <string_view>

namespace falafel::timeline {

std::string_view page_template();

}  // namespace falafel::timeline
