// falafel serve: the store's server.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "tools/falafel/commands.h"
#include "tools/falafel/store_options.h"
#include "tools/store/store_server.h"

namespace falafel::command_line {
namespace {

struct ServeTexts {
  ServerAddress address;
  store::ServeOptions serve;
};

// The line that scripts wait for.
void print_ready(const store::ServeOptions& options, const store::Serving& serving) {
  const engine::Geometry& geometry = serving.geometry;
  fmt::print(
      "serving '{}' in {}: {} bytes, {} entries, {} regions of {} bytes, at most {} clients{}{}\n",
      options.name, serving.place, geometry.chunk_bytes(), geometry.table_entries,
      geometry.region_count, geometry.region_bytes, options.sizing.clients,
      serving.metrics.empty() ? "" : ", metrics at ", serving.metrics);
  std::fflush(stdout);
}

int serve(ServeTexts& texts) {
  texts.serve.name = texts.address.server_name();
  const bool huge_pages = texts.serve.fabric.huge_pages;
  texts.serve.fabric = texts.address.fabric;
  texts.serve.fabric.huge_pages = huge_pages;
  const auto failure = store::serve(
      texts.serve, [&](const store::Serving& serving) { print_ready(texts.serve, serving); });
  if (!failure) return store::success;
  fmt::print(stderr, "falafel serve: {}\n", failure->message);
  return failure->status;
}

}  // namespace

void add_serve_command(CLI::App& app, int& exit_status) {
  const auto texts = std::make_shared<ServeTexts>();
  store::ServeOptions& serve_options = texts->serve;
  CLI::App* const command = app.add_subcommand("serve", "serve a store, until SIGTERM or SIGINT");
  add_server_options(*command, texts->address);
  command
      ->add_option("--memory", serve_options.sizing.memory_bytes,
                   "of everything; sizes are bytes, or like 512MiB")
      ->transform(CLI::AsSizeValue(true))
      ->capture_default_str();
  command->add_option("--entries", serve_options.sizing.table_entries,
                      "slots of the table, one for each key (default: memory / 128)");
  command
      ->add_option("--region-size", serve_options.sizing.region_bytes,
                   "of a client's region; a key with its value must fit (default: 1MiB)")
      ->transform(CLI::AsSizeValue(true));
  command->add_option("--clients", serve_options.sizing.clients, "at the same time, at most")
      ->check(CLI::Range(1, 65'535))
      ->capture_default_str();
  command
      ->add_option("--client-timeout", serve_options.client_timeout_seconds,
                   "seconds of silence after which a client is given up")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  command->add_option("--metrics", serve_options.metrics,
                      "ADDRESS:PORT where Prometheus finds /metrics");
  command->add_flag("--huge-pages", serve_options.fabric.huge_pages,
                    "use pages of 2 MiB (set vm.nr_hugepages first)");
  command->footer(
      "Exit status: 0 ended by a signal, 2 wrong usage, 4 no permission, 6 the name or the address "
      "is\n"
      "taken, 7 the memory cannot be had.");
  command->callback([texts, &exit_status] { exit_status = serve(*texts); });
}

}  // namespace falafel::command_line
