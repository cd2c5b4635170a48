// falafel bench: what the store's operations cost, under workloads that others are measured by.
#pragma once

#include <CLI/CLI.hpp>

namespace falafel::command_line {

// Exit statuses: 0 measured, 1 a value was wrong or a party failed, 2 wrong usage.
void add_bench_command(CLI::App& app, int& exit_status);

}  // namespace falafel::command_line
