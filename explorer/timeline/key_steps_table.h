// The key steps as a table of a Markdown document, numbered as in the picture.
#pragma once

#include <string>

#include "explorer/timeline/timeline.h"

namespace falafel::timeline {

std::string to_markdown_table(const Timeline& timeline);

}  // namespace falafel::timeline
