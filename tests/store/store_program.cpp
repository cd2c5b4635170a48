// The commands of falafel that the scripts of this folder need under the sanitizers: serve,
// serve-memcached, get, set, del, keys and stat.
#include <CLI/CLI.hpp>

#include "explorer/commands/arguments.h"
#include "fabric/fiber_stack.h"
#include "tools/command_line/commands.h"

int main(int argument_count, char** arguments) {
  const falafel::fabric::StackOverflowReport stack_overflow_report;
  int exit_status = 0;
  CLI::App app("Serves a store, and changes it", "falafel");
  app.require_subcommand(1);
  falafel::command_line::add_serve_command(app, exit_status);
  falafel::command_line::add_serve_memcached_command(app, exit_status);
  falafel::command_line::add_store_commands(app, exit_status);
  const auto refused = falafel::command_line::parse_arguments(app, argument_count, arguments);
  return refused.value_or(exit_status);
}
