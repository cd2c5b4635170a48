// falafel top: a live view of a running server.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "tools/command_line/commands.h"
#include "tools/command_line/store_options.h"
#include "tools/command_line/top/top.h"
#include "tools/server/status_socket.h"

namespace falafel::command_line {
namespace {

struct TopTexts {
  ServerAddress address;
  top::TopOptions top;
};

int show(TopTexts& texts) {
  texts.top.name = texts.address.server_name();
  texts.top.socket = server_program::status_socket_path(texts.address.directory(), texts.top.name);
  if (::isatty(STDOUT_FILENO) == 0) texts.top.plain = true;
  std::string message;
  const server_program::ExitStatus status = top::watch(texts.top, message);
  if (!message.empty()) fmt::print(stderr, "falafel top: {}\n", message);
  return status;
}

}  // namespace

void add_top_command(CLI::App& app, int& exit_status) {
  const auto texts = std::make_shared<TopTexts>();
  CLI::App* const command =
      app.add_subcommand("top", "show a running server again and again, with rates");
  add_server_options(*command, texts->address);
  command->add_option("--interval", texts->top.interval_seconds, "seconds between two refreshes")
      ->check(CLI::Range(0.1, 86'400.0))
      ->capture_default_str();
  command->add_option("--count", texts->top.count,
                      "number of refreshes, after which it ends (default: until q or a signal)");
  command->add_flag("--plain", texts->top.plain,
                    "print a line of NAME=VALUE for each refresh, as it also does when the output "
                    "is no terminal");
  command->footer(
      "Keys: q quits, Ctrl-Z suspends.\n"
      "Exit status: 0 it was ended, 2 wrong usage, 4 no permission, 5 the server is of another\n"
      "version. It waits for a server that is away.");
  command->callback([texts, &exit_status] { exit_status = show(*texts); });
}

}  // namespace falafel::command_line
