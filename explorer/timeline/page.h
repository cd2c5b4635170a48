// The page: the files of page/ combined into one file with the timeline. It is self-contained.
#pragma once

#include <string>

#include "explorer/timeline/timeline.h"

namespace falafel::timeline {

std::string to_page(const Timeline& timeline);

}  // namespace falafel::timeline
