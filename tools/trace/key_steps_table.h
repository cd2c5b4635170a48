// Key steps as a table of a Markdown document, numbered as in the picture.
#pragma once

#include <string>

#include "tools/trace/timeline.h"

namespace falafel::trace {

std::string to_markdown_table(const Timeline& timeline);

}  // namespace falafel::trace
