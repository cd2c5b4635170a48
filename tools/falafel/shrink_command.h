// `falafel shrink`: makes the failing run of a replay file smaller.
#pragma once

#include <CLI/CLI.hpp>

namespace falafel::command_line {

// Exit status: 0 done, 1 the file's run violates nothing, 2 the file cannot be read or written, 3 it does
// not fit this program any more.
void add_shrink_command(CLI::App& app, int& exit_status);

}  // namespace falafel::command_line
