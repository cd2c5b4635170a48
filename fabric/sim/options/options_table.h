// The options as documents show them.
#pragma once

#include <string>

namespace falafel::sim {

// A Markdown table of all options: name, meaning, values, default.
std::string options_markdown_table();

}  // namespace falafel::sim
