// The commands of falafel: each adds itself to the app, and leaves its exit status when it has run.
#pragma once

#include <CLI/CLI.hpp>

namespace falafel::command_line {

// Exit status: 0 all properties held, 1 one was violated, 2 usage, 3 a run crashed or hung.
void add_fuzz_command(CLI::App& app, int& exit_status);

// Exit status: 0 it replays and nothing is violated, 1 it replays and violates a property, 2 the file cannot
// be read, 3 it does not fit this program any more.
void add_replay_command(CLI::App& app, int& exit_status);

// Exit status: 0 it is written, whether the run holds or fails; 2 the file cannot be read, or not written;
// 3 it does not fit this program.
void add_trace_command(CLI::App& app, int& exit_status);

// Exit status: 0 done, 1 the file's run violates nothing, 2 the file cannot be read or written, 3 it does
// not fit this program any more.
void add_shrink_command(CLI::App& app, int& exit_status);

// Exit status: 0 each search found a failing schedule, 1 one did not, 2 usage.
void add_ablate_command(CLI::App& app, int& exit_status);

// Exit status: 0 all histories are linearizable, 1 one is not, 2 one cannot be read, 4 one was not
// decided within the limits. Of several, the first in the order 1, 2, 4, 0.
void add_check_command(CLI::App& app, int& exit_status);

// Exit status: tools/store/exit_status.h.
void add_serve_command(CLI::App& app, int& exit_status);

// get, set, del and stat. Exit status: tools/store/exit_status.h.
void add_store_commands(CLI::App& app, int& exit_status);

// Exit status: 0 measured, 1 a value was wrong or a party failed, 2 wrong usage.
void add_bench_command(CLI::App& app, int& exit_status);

// Exit status: 0 nothing is in the way, 1 something is.
void add_doctor_command(CLI::App& app, int& exit_status);

}  // namespace falafel::command_line
