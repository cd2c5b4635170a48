// falafel serve: runs the store's server.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "engine/layout/entry.h"
#include "explorer/commands/arguments.h"
#include "tools/command_line/commands.h"
#include "tools/command_line/reference_bit_options.h"
#include "tools/command_line/store_options.h"
#include "tools/server/store_server.h"

namespace falafel::command_line {
namespace {

// The largest memory that entries can refer to, in units of 64 bytes.
constexpr std::uint64_t largest_store_bytes = std::uint64_t{1} << 38U;

struct ServeTexts {
  ServerAddress address;
  server_program::ServeOptions serve;
};

std::string describe_growth(const engine::Geometry& geometry) {
  if (!geometry.can_grow()) return "";
  return fmt::format(" that may grow to {}", geometry.entries_of(geometry.most_tables - 1));
}

std::string describe_memory_growth(const server_program::Serving& serving) {
  if (!serving.held_bytes) return "";
  return fmt::format(", the memory grows from {} bytes", *serving.held_bytes);
}

std::string describe_memory_file(const server_program::ServeOptions& options,
                                 const server_program::Serving& serving) {
  if (options.memory_file.empty()) return "";
  return fmt::format(", memory in '{}': {}", options.memory_file,
                     serving.recovered_keys
                         ? fmt::format("recovered with {} keys", *serving.recovered_keys)
                         : "new");
}

// Scripts wait for this line.
void print_ready(const server_program::ServeOptions& options,
                 const server_program::Serving& serving) {
  const engine::Geometry& geometry = serving.geometry;
  fmt::print(
      "serving '{}'{} in {}: {} bytes, {} entries{}, {} regions of {} bytes, at most {} "
      "clients{}{}{}{}\n",
      options.name, options.is_cache ? ", a cache," : "", serving.place, geometry.chunk_bytes(),
      geometry.table_entries, describe_growth(geometry), geometry.region_count,
      geometry.region_bytes, options.sizing.clients, serving.metrics.empty() ? "" : ", metrics at ",
      serving.metrics, describe_memory_growth(serving), describe_memory_file(options, serving));
  std::fflush(stdout);
}

int serve(ServeTexts& texts) {
  texts.serve.name = texts.address.server_name();
  const bool huge_pages = texts.serve.fabric.huge_pages;
  texts.serve.fabric = texts.address.fabric;
  texts.serve.fabric.huge_pages = huge_pages;
  check_address("--metrics", texts.serve.metrics);
  const auto print = [](std::string_view what) { fmt::print(stderr, "falafel serve: {}\n", what); };
  texts.serve.fabric.report_failure = print;
  texts.serve.warn = print;
  const auto failure = server_program::serve(
      texts.serve,
      [&](const server_program::Serving& serving) { print_ready(texts.serve, serving); });
  if (!failure) return server_program::success;
  fmt::print(stderr, "falafel serve: {}\n", failure->message);
  return failure->status;
}

}  // namespace

void add_serve_command(CLI::App& app, int& exit_status) {
  const auto texts = std::make_shared<ServeTexts>();
  server_program::ServeOptions& serve_options = texts->serve;
  CLI::App* const command = app.add_subcommand("serve", "serve a store until SIGTERM or SIGINT");
  add_server_options(*command, texts->address);
  command
      ->add_option("--memory", serve_options.memory.memory_bytes,
                   "total memory in bytes, or with a unit as in 512MiB; with --max-memory, the "
                   "memory that the store begins with (default: over shm, the memory grows; "
                   "otherwise 512MiB)")
      ->transform(size_in_bytes(0, largest_store_bytes));
  command
      ->add_option("--max-memory", serve_options.memory.max_memory_bytes,
                   "limit to which the memory grows with the data; over verbs, only on devices "
                   "with on-demand paging, and only if it is given, because others pin all memory "
                   "from the start (default over shm: half of the memory that is available)")
      ->transform(size_in_bytes(0, largest_store_bytes));
  CLI::Option* const memory_file = command->add_option(
      "--memory-file", serve_options.memory_file,
      "file for the memory, so that the store outlives the server: a server that finds a store "
      "there continues it, with its sizes (shm: a file on tmpfs, ext4 or xfs; verbs: on tmpfs)");
  command
      ->add_option(
          "--entries", serve_options.sizing.table_entries,
          "number of slots in the table, one per key (default: memory / 128; if the memory "
          "grows, 65536 that may grow)")
      ->check(CLI::Range(std::uint64_t{1}, largest_store_bytes / engine::entry_bytes));
  command
      ->add_option(
          "--max-entries", serve_options.sizing.most_entries,
          "number of slots to which the table may grow, by doubling; the room for them is "
          "not part of --memory (default: the table grows if the memory does and --entries is "
          "not given, to at least max-memory / 128)")
      ->check(CLI::Range(std::uint64_t{1}, largest_store_bytes / engine::entry_bytes));
  command
      ->add_option("--region-size", serve_options.sizing.region_bytes,
                   "size of a client's region; must hold a key with its value (default: 1MiB)")
      ->transform(size_in_bytes(1, largest_store_bytes));
  command->add_flag("--semi-spaces", serve_options.sizing.semi_spaces,
                    "two halves that hold the data alternately, instead of blocks");
  add_reference_bit_options(*command, serve_options.sizing.reference_bits,
                            "as many as the memory leaves");
  command
      ->add_option("--clients", serve_options.sizing.clients, "maximum number of connected clients")
      ->check(CLI::Range(1, 65'535))
      ->capture_default_str();
  command
      ->add_option("--client-timeout", serve_options.client_timeout_seconds,
                   "seconds of silence after which the server gives up on a client")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  command
      ->add_option("--client-rate", serve_options.client_bytes_per_second,
                   "how much each client may write in a second, keys and headers included; a "
                   "region must take 5 s at most (default: no limit)")
      ->transform(size_in_bytes(1, largest_store_bytes));
  command->add_flag("--cache", serve_options.is_cache,
                    "be a cache: values may have a time to live, and a full cache deletes values "
                    "instead of refusing new ones");
  command->add_option("--metrics", serve_options.metrics,
                      "ADDRESS:PORT at which to provide /metrics for Prometheus");
  command
      ->add_flag("--huge-pages", serve_options.fabric.huge_pages,
                 "use pages of 2 MiB (set vm.nr_hugepages first)")
      ->excludes(memory_file);
  command->footer(
      "Exit status: 0 stopped by a signal, 2 wrong usage, 4 no permission, 6 the name or the "
      "address "
      "is\n"
      "in use, 7 not enough memory.");
  command->callback([texts, command, &exit_status] {
    texts->serve.given = {
        .memory = command->count("--memory") > 0 || command->count("--max-memory") > 0,
        .semi_spaces = command->count("--semi-spaces") > 0};
    exit_status = serve(*texts);
  });
}

}  // namespace falafel::command_line
