// The page: the files of page/ in one, with the timeline in it. It needs nothing beside itself.
#pragma once

#include <string>

#include "tools/timeline/timeline.h"

namespace falafel::timeline {

std::string to_page(const Timeline& timeline);

}  // namespace falafel::timeline
