// falafel check: judges histories that some system recorded.
#pragma once

#include <CLI/CLI.hpp>

namespace falafel::command_line {

// Exit statuses: 0 all histories are linearizable, 1 one is not, 2 one cannot be read, 4 one was not
// decided within the limits. Of several, the first in the order 1, 2, 4, 0.
void add_check_command(CLI::App& app, int& exit_status);

}  // namespace falafel::command_line
