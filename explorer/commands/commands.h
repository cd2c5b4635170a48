// The commands of the explorer. Each function adds its command to the app; the command sets the
// exit status when it runs. The program must outlive the app's parsing.
#pragma once

#include <CLI/CLI.hpp>

#include "explorer/commands/command_program.h"

namespace falafel::command_line {

// Exit status: 0 all properties hold, 1 a property is violated, 2 wrong usage, 3 a run crashed or
// hung, 4 a signal ended the campaign early and all properties have held so far.
void add_fuzz_command(CLI::App& app, CommandProgram& program, int& exit_status);

// Exit status as that of fuzz, or 2 if a file cannot be read or does not add up with the others.
void add_merge_command(CLI::App& app, CommandProgram& program, int& exit_status);

// Exit status as that of merge.
void add_report_command(CLI::App& app, CommandProgram& program, int& exit_status);

// Exit status: 0 the replay matches and violates nothing, 1 the replay matches and violates a
// property, 2 the file cannot be read, 3 the file does not match this program.
void add_replay_command(CLI::App& app, CommandProgram& program, int& exit_status);

// Exit status: 0 the page is written, whether the run fails or not; 2 a file cannot be read or
// written; 3 the file does not match this program.
void add_trace_command(CLI::App& app, CommandProgram& program, int& exit_status);

// Exit status: 0 done, 1 the run violates nothing, 2 a file cannot be read or written, 3 the file
// does not match this program.
void add_shrink_command(CLI::App& app, CommandProgram& program, int& exit_status);

// Exit status: 0 every search found a failing schedule, 1 a search found none, 2 wrong usage.
void add_ablate_command(CLI::App& app, CommandProgram& program, int& exit_status);

// Exit status: 0 all executions within the bounds were run and hold, 1 a property is violated, 2
// wrong usage, 3 a run crashed (with --jobs), 4 a limit of time or executions was reached before.
void add_prove_command(CLI::App& app, CommandProgram& program, int& exit_status);

// Exit status: 0 all properties hold, 1 a property is violated, 2 wrong usage, 4 an exploration
// reached its time limit.
void add_worlds_command(CLI::App& app, CommandProgram& program, int& exit_status);

// Judges recorded histories, so it needs no program. Exit status: 0 all histories are linearizable,
// 1 one is not, 2 one cannot be read, 4 one was not decided within the limits, 5 one has no judged
// operation. With several files, the first of 1, 2, 4, 5, 0 that applies.
void add_check_command(CLI::App& app, int& exit_status);

}  // namespace falafel::command_line
