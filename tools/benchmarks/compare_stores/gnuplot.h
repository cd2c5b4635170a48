// Draws with gnuplot, which reads commands and data as one text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace falafel::gnuplot {

// As a string of gnuplot's language.
std::string quoted(std::string_view text);

// Returns an error message if gnuplot is missing or rejects the script.
std::optional<std::string> run(std::string_view script);

}  // namespace falafel::gnuplot
