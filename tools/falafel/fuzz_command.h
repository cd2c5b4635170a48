// `falafel fuzz`: many schedules of the store on the simulator, judged, and what fails made small.
#pragma once

#include <CLI/CLI.hpp>

namespace falafel::command_line {

// Exit status: 0 all properties held, 1 one was violated, 2 usage, 3 a run crashed or hung.
void add_fuzz_command(CLI::App& app, int& exit_status);

}  // namespace falafel::command_line
