// The commands of falafel beside those of the explorer (explorer/commands/commands.h). Each
// function adds its command to the app; the command sets the exit
// status when it runs.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

namespace falafel::command_line {

// Exit status: tools/server/exit_status.h.
void add_serve_command(CLI::App& app, int& exit_status);

// Exit status: tools/server/exit_status.h.
void add_serve_memcached_command(CLI::App& app, int& exit_status);

// get, set, del and stat. Exit status: tools/server/exit_status.h.
void add_store_commands(CLI::App& app, int& exit_status);

// dump and load. Exit status: tools/server/exit_status.h.
void add_dump_commands(CLI::App& app, int& exit_status);

// Exit status: 0 done, 1 the list could not be read or changed, 2 wrong usage.
void add_members_command(CLI::App& app, int& exit_status);

// Exit status: tools/server/exit_status.h.
void add_top_command(CLI::App& app, int& exit_status);

// Exit status: 0 measured, 1 a value was wrong or a party failed, 2 wrong usage; with --name also
// those of tools/server/exit_status.h for a server that cannot be reached.
void add_bench_command(CLI::App& app, int& exit_status);

// Exit status: 0 measured, 1 a party failed or the profile cannot be written, 2 wrong usage.
void add_calibrate_command(CLI::App& app, int& exit_status);

// Exit status: 0 nothing forbidden was seen, 1 something forbidden was, 2 wrong usage, 3 something
// could not be done.
void add_acceptance_command(CLI::App& app, int& exit_status);

// Exit status: 0 compared, 1 the picture cannot be drawn, 2 wrong usage.
void add_compare_stores_command(CLI::App& app, int& exit_status);

// Exit status: 0 done, 1 a picture cannot be drawn, 2 wrong usage.
void add_figures_command(CLI::App& app, int& exit_status);

// Exit status: 0 no problem found, 1 a problem found.
void add_doctor_command(CLI::App& app, int& exit_status);

// The command run is a program of its own, which knows its options. It takes the place of this one
// if the arguments name it. Otherwise, or if it cannot be started, this returns: an exit status in
// the latter case. Exit status of the command: 0 no violation, 1 a violation, 2 wrong usage.
std::optional<int> start_run_command(int argument_count, char** arguments);
// For the list of commands.
void add_run_command(CLI::App& app);

}  // namespace falafel::command_line
