// falafel get, set, del, stat: one operation on a store that is served.
#pragma once

#include <CLI/CLI.hpp>

namespace falafel::command_line {

// Exit statuses: tools/store/exit_status.h.
void add_store_commands(CLI::App& app, int& exit_status);

}  // namespace falafel::command_line
