#include "fabric/sim/options/options_table.h"

#include <fmt/format.h>

#include "fabric/sim/options/options.h"

namespace falafel::sim {

std::string options_markdown_table() {
  std::string table = "| Option | Meaning | Values | Default |\n| --- | --- | --- | --- |\n";
  const SimulationOptions defaults;
  for (const OptionDescription& option : option_descriptions()) {
    table += fmt::format("| `{}` | {} | {} | {} |\n", option.name, option.meaning, option.values,
                         option.get(defaults));
  }
  return table;
}

}  // namespace falafel::sim
