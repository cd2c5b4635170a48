// falafel get, set, del, keys, stat: run one operation on a running store.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/client/rendezvous_hashing.h"
#include "engine/placement/placement.h"
#include "falafel/cluster.h"
#include "falafel/store.h"
#include "tools/command_line/commands.h"
#include "tools/command_line/failed_command.h"
#include "tools/command_line/store_options.h"
#include "tools/server/exit_status.h"
#include "tools/server/status_socket.h"

namespace falafel::command_line {
namespace {

struct OperationTexts {
  ServerAddress address;
  ServerList list;  // instead of the server at `address`
  std::string key;
  std::optional<std::string> value;
  std::string file;
  double time_to_live_seconds = 0;
  bool pins = false;
  bool json = false;
};

constexpr const char* exit_statuses =
    "Exit status: 0 done, 1 not found, 2 wrong usage, 3 no such server, 4 no permission, 5 the\n"
    "server speaks another version, 7 no memory on this machine, 8 the table is full, 9 the\n"
    "store's memory is full, 10 the key or the value is too large, 11 the server accepts no more\n"
    "clients or does not respond, 12 the connection was lost, 13 the outcome is unknown,\n"
    "14 corrupted, 15 a file cannot be read or written, 16 the server did not answer in time.";

// The remedy for an answer other than success.
std::string_view remedy(engine::Answer answer, server_program::ExitStatus status) {
  if (status == server_program::no_memory)
    return "; this machine has no memory to read it; free some";
  switch (answer) {
    case engine::Answer::invalid_key: return "; a key has 1 to 65536 bytes";
    case engine::Answer::value_too_large:
      return "; restart the server with a larger --region-size, or keep it within one request of "
             "the network device";
    case engine::Answer::table_full:
      return "; delete keys, or restart the server with more --entries or --max-entries";
    case engine::Answer::out_of_memory:
      return "; delete keys, or restart the server with more --memory";
    case engine::Answer::corrupted: return "; set or delete the key to repair it";
    case engine::Answer::unknown_outcome:
      return "; the connection broke during the operation; check with get";
    case engine::Answer::disconnected: return "; nothing was changed; retry";
    case engine::Answer::not_a_cache:
      return "; restart the server with --cache, or leave out --time-to-live or --pin";
    case engine::Answer::timed_out:
      return "; nothing was changed; the server may be stopped, check with stat";
    default: return "";
  }
}

int report(const char* command, const OperationTexts& texts, engine::Answer answer,
           server_program::ExitStatus status) {
  if (status != server_program::success) {
    fmt::print(stderr, "falafel {}: '{}': {}{}\n", command, texts.key, to_string(answer),
               remedy(answer, status));
  }
  return status;
}

int refuse_empty_key(const char* command) {
  return fail_command(command, server_program::wrong_size,
                      "the key is empty; a key has 1 to 65536 bytes");
}

// The server that the key belongs to. Throws CLI::ValidationError.
std::string server_of_key(const OperationTexts& texts) {
  if (texts.list.servers.empty()) return texts.address.server_name();
  if (const std::string problem = engine::problem_of(texts.list.servers); !problem.empty()) {
    throw CLI::ValidationError("--servers", problem);
  }
  for (const std::string& name : texts.list.servers)
    check_server_name("--servers", name, texts.address.fabric);
  const std::vector<std::string_view> names(texts.list.servers.begin(), texts.list.servers.end());
  return std::string(names[engine::RendezvousHashing(names).server_of(bytes_of(texts.key))]);
}

tl::expected<std::unique_ptr<Store>, OpenError> open(const OperationTexts& texts) {
  StoreOptions options;
  options.server = server_of_key(texts);
  options.fabric = texts.address.fabric;
  return Store::open(options);
}

tl::expected<std::unique_ptr<Cluster>, OpenError> open_cluster(const OperationTexts& texts) {
  return Cluster::open({.servers = texts.list.servers,
                        .etcd = texts.list.etcd,
                        .etcd_key = texts.list.etcd_key,
                        .etcd_access = texts.list.etcd_access,
                        .store = {.fabric = texts.address.fabric}});
}

// Calls operation(store), where the store may be a cluster.
template <typename Operation>
int with_store(const char* command, const OperationTexts& texts, const Operation& operation) {
  const auto on_opened = [&](const auto& opened) {
    if (opened) return operation(**opened);
    return fail_command(command, server_program::status_of(opened.error().problem),
                        opened.error().detail);
  };
  if (texts.list.etcd.empty()) return on_opened(open(texts));
  return on_opened(open_cluster(texts));
}

std::optional<std::string> read_all(std::istream& stream) {
  stream.peek();  // fails for a directory
  if (stream.bad()) return std::nullopt;
  std::string text(std::istreambuf_iterator<char>(stream), {});
  if (stream.bad()) return std::nullopt;
  return text;
}

// Reads the value from the argument, a file or standard input, in this order.
std::optional<std::string> read_value(const OperationTexts& texts) {
  if (texts.value) return texts.value;
  if (texts.file.empty() || texts.file == "-") return read_all(std::cin);
  std::ifstream file(texts.file, std::ios::binary);
  return file ? read_all(file) : std::nullopt;
}

int set(const OperationTexts& texts) {
  if (texts.key.empty()) return refuse_empty_key("set");
  const auto value = read_value(texts);
  if (!value) {
    return fail_command("set", server_program::no_input_output,
                        fmt::format("cannot read the value from '{}'; check the file", texts.file));
  }
  // An empty pipe is rather a mistake than a value.
  if (value->empty() && !texts.value && texts.file.empty()) {
    return fail_command(
        "set", server_program::wrong_usage,
        fmt::format("standard input is empty; to store an empty value: falafel set {} ''",
                    texts.key));
  }
  const auto time_to_live_ns = texts.pins
                                   ? pinned_time_to_live_ns
                                   : static_cast<std::uint64_t>(texts.time_to_live_seconds * 1e9);
  return with_store("set", texts, [&](auto& store) {
    const engine::Answer answer = store.set(texts.key, *value, time_to_live_ns).answer;
    return report("set", texts, answer, server_program::status_of(answer));
  });
}

// The data pointer of an empty vector may be null, which fwrite does not accept.
bool write_value(const std::vector<std::byte>& value) {
  const bool is_written =
      value.empty() || std::fwrite(value.data(), 1, value.size(), stdout) == value.size();
  if (isatty(STDOUT_FILENO) != 0) std::fputc('\n', stdout);  // keeps the prompt off the line
  return std::fflush(stdout) == 0 && is_written;
}

int get(const OperationTexts& texts) {
  if (texts.key.empty()) return refuse_empty_key("get");
  return with_store("get", texts, [&](auto& store) -> int {
    const engine::GetResult result = store.get(texts.key);
    if (result.answer == engine::Answer::found && !write_value(result.value)) {
      return fail_command("get", server_program::no_input_output,
                          "cannot write the value to standard output");
    }
    return report("get", texts, result.answer, server_program::status_of_reading(result.answer));
  });
}

int remove(const OperationTexts& texts) {
  if (texts.key.empty()) return refuse_empty_key("del");
  return with_store("del", texts, [&](auto& store) {
    const engine::Answer answer = store.remove(texts.key).answer;
    return report("del", texts, answer, server_program::status_of_reading(answer));
  });
}

// Bytes that a terminal does not show as they are become \xNN, and so does the backslash.
std::string escaped(std::string_view key) {
  std::string text;
  for (const char character : key) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < ' ' || byte > '~' || character == '\\') {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += character;
    }
  }
  return text;
}

std::string_view remedy_of_keys(engine::Answer answer) {
  switch (answer) {
    case engine::Answer::corrupted:
      return "; all keys are listed but those whose containers do not verify";
    case engine::Answer::out_of_memory: return "; this machine has no memory to read it; free some";
    default: return "; the list is incomplete; retry";
  }
}

// `store` may be a cluster.
template <typename StoreOrCluster>
int print_keys(StoreOrCluster& store) {
  bool is_written = true;
  const auto result =
      store.for_each_key([&](std::string_view key, std::span<const std::byte>, std::uint64_t) {
        is_written = std::puts(escaped(key).c_str()) >= 0 && is_written;
      });
  if (std::fflush(stdout) != 0 || !is_written) {
    return fail_command("keys", server_program::no_input_output,
                        "cannot write the keys to standard output");
  }
  if (result) return server_program::success;
  return fail_command(
      "keys", server_program::status_of_reading(result.error()),
      fmt::format("{}{}", to_string(result.error()), remedy_of_keys(result.error())));
}

int keys(const OperationTexts& texts) {
  const auto print = [](const auto& opened) {
    if (opened) return print_keys(**opened);
    return fail_command("keys", server_program::status_of(opened.error().problem),
                        opened.error().detail);
  };
  return texts.list.is_empty() ? print(open(texts)) : print(open_cluster(texts));
}

int stat(const OperationTexts& texts) {
  constexpr std::chrono::seconds patience(5);
  const auto socket =
      server_program::status_socket_path(texts.address.directory(), texts.address.server_name());
  const auto reply = server_program::request_status(
      socket, texts.json ? server_program::ReportFormat::json : server_program::ReportFormat::text,
      patience);
  if (reply) {
    fmt::print("{}", *reply);
    return server_program::success;
  }
  switch (reply.error().code) {
    case fabric::ErrorCode::connection_refused:
      return fail_command(
          "stat", server_program::no_server,
          fmt::format("no server named '{}' in {} ({}); start one with: falafel serve "
                      "--name {}",
                      texts.address.server_name(), texts.address.directory().string(),
                      reply.error().detail, texts.address.server_name()));
    case fabric::ErrorCode::access_denied:
      return fail_command(
          "stat", server_program::no_permission,
          fmt::format("{}; run as the user that runs the server", reply.error().detail));
    case fabric::ErrorCode::unreachable:
      return fail_command("stat", server_program::server_refused, reply.error().detail);
    default: return fail_command("stat", server_program::wrong_usage, reply.error().detail);
  }
}

CLI::App* add_command(CLI::App& app, const char* name, const char* meaning,
                      const std::shared_ptr<OperationTexts>& texts,
                      int (*run)(const OperationTexts&), int& exit_status) {
  CLI::App* const command = app.add_subcommand(name, meaning);
  add_server_options(*command, texts->address);
  command->footer(exit_statuses);
  command->callback([texts, run, &exit_status] { exit_status = run(*texts); });
  return command;
}

CLI::App* add_client_command(CLI::App& app, const char* name, const char* meaning,
                             const std::shared_ptr<OperationTexts>& texts,
                             int (*run)(const OperationTexts&), int& exit_status) {
  CLI::App* const command = add_command(app, name, meaning, texts, run, exit_status);
  add_spare_port_options(*command, texts->address.fabric);
  add_servers_option(*command, texts->list);
  return command;
}

}  // namespace

void add_store_commands(CLI::App& app, int& exit_status) {
  const auto of_get = std::make_shared<OperationTexts>();
  CLI::App* const get_command = add_client_command(
      app, "get", "print the value of a key, byte for byte", of_get, get, exit_status);
  get_command->add_option("key", of_get->key)->required();

  const auto of_set = std::make_shared<OperationTexts>();
  CLI::App* const set_command =
      add_client_command(app, "set", "store a value under a key", of_set, set, exit_status);
  set_command->add_option("key", of_set->key)->required();
  CLI::Option* const value =
      set_command->add_option("value", of_set->value, "the value (default: standard input)");
  set_command
      ->add_option("--file", of_set->file, "read the value from this file; -: standard input")
      ->excludes(value);
  CLI::Option* const time_to_live =
      set_command
          ->add_option("--time-to-live", of_set->time_to_live_seconds,
                       "seconds after which the value expires, in a cache (default: never)")
          ->check(CLI::Range(1e-9, 1e9));
  set_command
      ->add_flag("--pin", of_set->pins, "in a cache: the value never expires and is never evicted")
      ->excludes(time_to_live);

  const auto of_delete = std::make_shared<OperationTexts>();
  CLI::App* const delete_command =
      add_client_command(app, "del", "delete a key", of_delete, remove, exit_status);
  delete_command->add_option("key", of_delete->key)->required();

  const auto of_keys = std::make_shared<OperationTexts>();
  add_client_command(app, "keys", "print all keys, one per line, in no particular order", of_keys,
                     keys, exit_status);

  const auto of_stat = std::make_shared<OperationTexts>();
  CLI::App* const stat_command =
      add_command(app, "stat", "print the server's status", of_stat, stat, exit_status);
  stat_command->add_flag("--json", of_stat->json, "print the status as JSON");
}

}  // namespace falafel::command_line
