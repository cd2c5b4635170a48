// `falafel ablate`: is every safeguard needed? Each is switched off alone, and a failing schedule searched
// for, made small and kept.
#pragma once

#include <CLI/CLI.hpp>

namespace falafel::command_line {

// Exit status: 0 each search found a failing schedule, 1 one did not, 2 usage.
void add_ablate_command(CLI::App& app, int& exit_status);

}  // namespace falafel::command_line
