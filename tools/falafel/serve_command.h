// falafel serve: the store's server.
#pragma once

#include <CLI/CLI.hpp>

namespace falafel::command_line {

// Exit statuses: tools/store/exit_status.h.
void add_serve_command(CLI::App& app, int& exit_status);

}  // namespace falafel::command_line
