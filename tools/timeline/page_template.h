// The files of page/ in one, with "{{timeline}}" where the timeline goes. Made when the project is built
// (embed_page.cmake), so that a program needs no files beside itself.
#pragma once

#include <string_view>

namespace falafel::timeline {

std::string_view page_template();

}  // namespace falafel::timeline
