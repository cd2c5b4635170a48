// `falafel replay`: a recorded schedule once more, told step by step.
#pragma once

#include <CLI/CLI.hpp>

namespace falafel::command_line {

// Exit status: 0 it replays and nothing is violated, 1 it replays and violates a property, 2 the file cannot
// be read, 3 it does not fit this program any more.
void add_replay_command(CLI::App& app, int& exit_status);

}  // namespace falafel::command_line
