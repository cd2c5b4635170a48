// falafel doctor: whether this machine is fit for RDMA, and what to change.
#pragma once

#include <CLI/CLI.hpp>

namespace falafel::command_line {

// Exit statuses: 0 nothing is in the way, 1 something is.
void add_doctor_command(CLI::App& app, int& exit_status);

}  // namespace falafel::command_line
