// The options as the documents list them.
#pragma once

#include <string>

namespace falafel::sim {

// Returns a Markdown table of all options: name, meaning, values, default.
std::string options_markdown_table();

}  // namespace falafel::sim
