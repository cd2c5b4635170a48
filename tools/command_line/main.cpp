// falafel: a list of commands, each in its own file.
#include <CLI/CLI.hpp>

#include "explorer/commands/arguments.h"
#include "explorer/commands/commands.h"
#include "fabric/fiber_stack.h"
#include "tools/command_line/commands.h"
#include "tools/command_line/store_command_program.h"

int main(int argument_count, char** arguments) {
#ifdef FALAFEL_HAS_RUN
  if (const auto status = falafel::command_line::start_run_command(argument_count, arguments)) {
    return *status;
  }
#endif
  const falafel::fabric::StackOverflowReport stack_overflow_report;
  int exit_status = 0;
  falafel::command_line::StoreCommandProgram store;
  CLI::App app("An in-memory key-value store over one-sided RDMA, with a deterministic simulator",
               "falafel");
  app.require_subcommand(1);
  app.set_config("--config", "", "file with settings: a section [COMMAND] with lines OPTION=VALUE");
  app.allow_config_extras(CLI::config_extras_mode::error);
  falafel::command_line::add_fuzz_command(app, store, exit_status);
  falafel::command_line::add_merge_command(app, store, exit_status);
  falafel::command_line::add_report_command(app, store, exit_status);
  falafel::command_line::add_replay_command(app, store, exit_status);
  falafel::command_line::add_trace_command(app, store, exit_status);
  falafel::command_line::add_shrink_command(app, store, exit_status);
  falafel::command_line::add_ablate_command(app, store, exit_status);
  falafel::command_line::add_prove_command(app, store, exit_status);
  falafel::command_line::add_worlds_command(app, store, exit_status);
  falafel::command_line::add_check_command(app, exit_status);
  falafel::command_line::add_serve_command(app, exit_status);
  falafel::command_line::add_serve_memcached_command(app, exit_status);
  falafel::command_line::add_store_commands(app, exit_status);
  falafel::command_line::add_dump_commands(app, exit_status);
  falafel::command_line::add_members_command(app, exit_status);
  falafel::command_line::add_top_command(app, exit_status);
  falafel::command_line::add_bench_command(app, exit_status);
  falafel::command_line::add_calibrate_command(app, exit_status);
  falafel::command_line::add_acceptance_command(app, exit_status);
  falafel::command_line::add_compare_stores_command(app, exit_status);
  falafel::command_line::add_figures_command(app, exit_status);
#ifdef FALAFEL_HAS_RUN
  falafel::command_line::add_run_command(app);
#endif
#ifdef FALAFEL_HAS_VERBS
  falafel::command_line::add_doctor_command(app, exit_status);
#endif
  const auto refused = falafel::command_line::parse_arguments(app, argument_count, arguments);
  return refused.value_or(exit_status);
}
