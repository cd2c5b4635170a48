// falafel run: starts the program that runs unmodified libibverbs programs in the simulator. It is
// a program of its own, because it has functions in place of those of libibverbs and of the C
// library that other commands need.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "tools/command_line/commands.h"

namespace falafel::command_line {
namespace {

// As a shell's for a command that is not there.
constexpr int status_of_absent_program = 127;
constexpr const char* name_of_command = "run";

}  // namespace

void add_run_command(CLI::App& app) {
  app.add_subcommand(name_of_command,
                     "run unmodified libibverbs programs on a simulated network (falafel run "
                     "--help)");
}

std::optional<int> start_run_command(int argument_count, char** arguments) {
  if (argument_count < 2 || std::string_view(arguments[1]) != name_of_command) return std::nullopt;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path program =
      (own.parent_path() / FALAFEL_RUN_PROGRAM).lexically_normal();
  execv(program.c_str(), arguments);
  fmt::print(stderr, "falafel run: {}: {}; install or build falafel as a whole\n", program.string(),
             std::strerror(errno));
  return status_of_absent_program;
}

}  // namespace falafel::command_line
