// `falafel trace`: a recorded schedule as a page to look at, and for the viewers of traces.
#pragma once

#include <CLI/CLI.hpp>

namespace falafel::command_line {

// Exit status: 0 it is written, whether the run holds or fails; 2 the file cannot be read, or not written;
// 3 it does not fit this program.
void add_trace_command(CLI::App& app, int& exit_status);

}  // namespace falafel::command_line
