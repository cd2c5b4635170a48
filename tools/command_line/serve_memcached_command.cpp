// falafel serve-memcached: serves clients of memcached from a running store.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "explorer/commands/arguments.h"
#include "tools/command_line/commands.h"
#include "tools/command_line/store_options.h"
#include "tools/server/memcached_front/front.h"

namespace falafel::command_line {
namespace {

struct FrontTexts {
  ServerAddress address;
  memcached_front::FrontOptions front;
};

// Scripts wait for this line.
void print_ready(const std::string& server, const memcached_front::FrontPlaces& places) {
  fmt::print("serving '{}' to clients of memcached at {}{}{}\n", server, places.clients,
             places.metrics.empty() ? "" : ", metrics at ", places.metrics);
  std::fflush(stdout);
}

int serve_memcached(FrontTexts& texts) {
  memcached_front::FrontOptions& front = texts.front;
  front.store.server = texts.address.server_name();
  front.store.fabric = texts.address.fabric;
  check_address("--listen", front.listen);
  check_address("--metrics", front.metrics);
  if (front.listen.empty() && front.socket_path.empty()) front.listen = "127.0.0.1:11211";
  const auto failure = memcached_front::serve(
      front,
      [&](const memcached_front::FrontPlaces& places) { print_ready(front.store.server, places); });
  if (!failure) return server_program::success;
  fmt::print(stderr, "falafel serve-memcached: {}\n", failure->message);
  return failure->status;
}

}  // namespace

void add_serve_memcached_command(CLI::App& app, int& exit_status) {
  const auto texts = std::make_shared<FrontTexts>();
  memcached_front::FrontOptions& front = texts->front;
  CLI::App* const command = app.add_subcommand(
      "serve-memcached", "serve clients of memcached from a running store until SIGTERM or SIGINT");
  add_server_options(*command, texts->address);
  add_spare_port_options(*command, texts->address.fabric);
  command->add_option("--listen", front.listen,
                      "ADDRESS:PORT for TCP; port 0 selects a free one (default: 127.0.0.1:11211, "
                      "or none with --socket)");
  command->add_option("--socket", front.socket_path, "path of a UNIX-domain socket");
  command->add_option("--metrics", front.metrics,
                      "ADDRESS:PORT at which to provide /metrics for Prometheus");
  command
      ->add_option("--threads", front.threads,
                   "number of threads, each of which is a client of the store")
      ->check(CLI::Range(1, 1'024))
      ->capture_default_str();
  command
      ->add_option("--connections", front.max_connections,
                   "maximum number of simultaneous connections")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--largest-value", front.parser.largest_value_bytes,
                   "largest value that is accepted, in bytes or with a unit")
      ->transform(size_in_bytes(1, std::uint64_t{1} << 32U))
      ->capture_default_str();
  command->add_flag("--ignore-expiry", front.parser.ignores_expiry,
                    "accept values with a time to live and keep them until they are deleted");
  command->add_flag_callback(
      "--disable-flush-all", [&front] { front.parser.permits_flush = false; },
      "refuse flush_all, which deletes all keys of the store");
  command->footer(
      "Exit status: 0 stopped by a signal, 2 wrong usage, 3 no such server, 4 no permission, 5 "
      "the\n"
      "server speaks another version, 6 the address is in use, 7 no memory on this machine, 11 "
      "the\n"
      "server accepts no more clients or does not respond.");
  command->callback([texts, &exit_status] { exit_status = serve_memcached(*texts); });
}

}  // namespace falafel::command_line
