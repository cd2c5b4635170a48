#include "tools/benchmarks/compare_stores/gnuplot.h"

#include <fmt/core.h>

#include <cstdio>

namespace falafel::gnuplot {

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char character : text) {
    result += character;
    if (character == '\'') result += character;
  }
  return result + "'";
}

std::optional<std::string> run(std::string_view script) {
  std::FILE* const program = popen("gnuplot", "w");
  if (program == nullptr) return "gnuplot cannot be started";
  fmt::print(program, "{}", script);
  if (pclose(program) == 0) return std::nullopt;
  return "gnuplot has failed; if it is missing, install Debian's package gnuplot-nox";
}

}  // namespace falafel::gnuplot
