// Figures as pictures: predictions as lines, and the values that the source states as points of the
// same color. gnuplot draws them.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tools/benchmarks/figures/figure.h"

namespace falafel::figures {

// The commands and data from which gnuplot writes the picture to that path.
std::string drawing_script(const Figure& figure, const std::string& path);
// Writes NUMBER.svg into the folder for each figure that has curves; "table 1" has none. The folder
// is made if there is none. Returns an error message if that fails.
std::optional<std::string> draw(std::span<const Figure> figures, const std::string& folder);

}  // namespace falafel::figures
