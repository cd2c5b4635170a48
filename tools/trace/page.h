// The page: the files of page/ in one, with the timeline in it. It needs nothing beside itself.
#pragma once

#include <string>

#include "tools/trace/timeline.h"

namespace falafel::trace {

std::string to_page(const Timeline& timeline);

}  // namespace falafel::trace
