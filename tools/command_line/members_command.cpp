// falafel members: shows and changes the list of a cluster's servers in etcd.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/placement/placement.h"
#include "engine/time_bounds.h"
#include "falafel/cluster_change.h"
#include "falafel/etcd_directory.h"
#include "tools/command_line/commands.h"
#include "tools/command_line/store_options.h"
#include "tools/server/exit_status.h"

namespace falafel::command_line {
namespace {

struct MembersOptions {
  ServerAddress address;
  std::vector<std::string> etcd;
  std::string etcd_key = "falafel/servers";
  EtcdAccess etcd_access{};
  std::vector<std::string> set;
  std::vector<std::string> add;
  std::vector<std::string> remove;
  std::vector<std::string> lost;
  bool give_up = false;
  bool delete_strays = false;
  bool drop_damaged = false;
  double lease_seconds = engine::default_lease_ns / 1e9;
  double detection_seconds = engine::detection_bound_ns / 1e9;
  std::optional<double> settle_seconds{};  // absent: what the others need
};

constexpr double longest_seconds = 3'600;  // of the times in a list

constexpr const char* members_exit_statuses =
    "Exit status: 0 done, 1 the list could not be read or changed; the message says why, and what\n"
    "to do. 2 wrong usage.";

constexpr int not_done = 1;

int refuse(int status, std::string_view message) {
  fmt::print(stderr, "falafel members: {}\n", message);
  return status;
}

void print(const engine::PlacementList& list) {
  fmt::print("servers: {}\n", fmt::join(list.servers, ","));
  fmt::print("lease {} s, settle {} s\n", static_cast<double>(list.times.lease_ns) / 1e9,
             static_cast<double>(list.times.settle_ns) / 1e9);
  if (list.is_changing()) {
    fmt::print("a change is under way, to: {}\n", fmt::join(list.next, ","));
  }
}

// In whole milliseconds, as the list has them.
std::uint64_t to_ns(double seconds) {
  return static_cast<std::uint64_t>(seconds * 1e3) * 1'000'000;
}

// Nothing but --settle makes it shorter than the default.
std::uint64_t settle_ns_of(const MembersOptions& options) {
  if (options.settle_seconds) return to_ns(*options.settle_seconds);
  return std::max(
      engine::default_settle_ns,
      engine::least_settle_ns(to_ns(options.lease_seconds), to_ns(options.detection_seconds)));
}

// The list that the options ask for.
tl::expected<std::vector<std::string>, std::string> list_after(const MembersOptions& options,
                                                               const engine::PlacementList& list) {
  if (!options.set.empty()) return options.set;
  if (list.servers.empty()) {
    return tl::unexpected(fmt::format(
        "etcd has no list of servers under '{}'; check --etcd-key, or make a list with --set",
        options.etcd_key));
  }
  std::vector<std::string> servers = list.servers;
  for (const std::string& server : options.add) {
    if (std::ranges::find(servers, server) == servers.end()) servers.push_back(server);
  }
  for (const auto& [option, leaving] :
       {std::pair("--remove", &options.remove), std::pair("--lost", &options.lost)}) {
    for (const std::string& server : *leaving) {
      if (std::ranges::find(list.servers, server) == list.servers.end()) {
        return tl::unexpected(fmt::format("{}: '{}' is not in the list: {}", option, server,
                                          fmt::join(list.servers, ",")));
      }
      std::erase(servers, server);
    }
  }
  return servers;
}

// With characters that may be printed, and the others as \xHH.
std::string printable(const std::vector<std::byte>& key) {
  std::string text;
  for (const std::byte byte : key) {
    const auto character = std::to_integer<char>(byte);
    const bool is_printable = character >= ' ' && character <= '~' && character != '\\';
    text += is_printable ? std::string(1, character)
                         : fmt::format("\\x{:02x}", std::to_integer<unsigned>(byte));
  }
  return text;
}

std::string describe(const engine::DamagedContainer& container) {
  const std::string key =
      container.key ? fmt::format("key '{}'", printable(*container.key)) : "unreadable key";
  if (!container.damage) return key + ", points to where no container can be";
  constexpr std::array parts{"header", "key", "value"};
  return fmt::format("{}, its {} has the checksum {:08x} instead of {:08x}", key,
                     parts.at(static_cast<std::size_t>(container.damage->part)),
                     container.damage->found_checksum, container.damage->expected_checksum);
}

void print_damaged(const engine::ChangeReport& report) {
  if (report.damaged.empty()) return;
  fmt::print(
      stderr,
      "falafel members: {} damaged containers; their keys have not moved, and are lost unless "
      "a copy is elsewhere. --drop-damaged removes them\n",
      report.damaged.size());
  for (const auto& damaged : report.damaged) {
    fmt::print(stderr, "server '{}', slot {}: {}{}\n", damaged.server, damaged.container.slot,
               describe(damaged.container), damaged.is_dropped ? "; dropped" : "");
  }
}

int change(const MembersOptions& options, const engine::PlacementList& list) {
  const auto servers = list_after(options, list);
  if (!servers) return refuse(server_program::wrong_usage, servers.error());
  StoreOptions store;
  store.fabric = options.address.fabric;
  const auto report = change_cluster(
      {.etcd = options.etcd,
       .etcd_key = options.etcd_key,
       .etcd_access = options.etcd_access,
       .servers = *servers,
       .lost = options.lost,
       .may_delete_strays = options.delete_strays,
       .drops_damaged = options.drop_damaged,
       .times = {.lease_ns = to_ns(options.lease_seconds), .settle_ns = settle_ns_of(options)},
       .store = store});
  if (!report) return refuse(not_done, report.error());
  fmt::print("servers: {}\n{} keys moved; {} deleted at servers that they do not belong to\n",
             fmt::join(*servers, ","), report->moved, report->deleted);
  print_damaged(*report);
  return server_program::success;
}

void check_names(const char* option, const std::vector<std::string>& names,
                 const FabricOptions& fabric) {
  if (names.empty()) return;
  const std::string problem = engine::problem_of(names);
  if (!problem.empty()) throw CLI::ValidationError(option, problem);
  for (const std::string& name : names) check_server_name(option, name, fabric);
}

int run(const MembersOptions& options) {
  check_names("--set", options.set, options.address.fabric);
  check_names("--add", options.add, options.address.fabric);
  check_names("--remove", options.remove, options.address.fabric);
  check_names("--lost", options.lost, options.address.fabric);
  if (settle_ns_of(options) <= to_ns(options.lease_seconds)) {
    return refuse(server_program::wrong_usage,
                  "--settle must be longer than --lease, by a millisecond at least");
  }
  if (settle_ns_of(options) > to_ns(longest_seconds)) {
    return refuse(server_program::wrong_usage,
                  fmt::format("a change would have to settle for {} s, and at most {} s are "
                              "possible; choose a shorter --lease or --detection",
                              static_cast<double>(settle_ns_of(options)) / 1e9, longest_seconds));
  }
  auto etcd = Etcd::of_endpoints(options.etcd, options.etcd_access);
  if (!etcd) return refuse(server_program::wrong_usage, etcd.error());
  EtcdDirectory directory(std::move(*etcd), options.etcd_key);
  const bool changes = !options.set.empty() || !options.add.empty() || !options.remove.empty() ||
                       !options.lost.empty();
  if (options.give_up) {
    const auto given_up = engine::give_up_change(directory);
    if (!given_up) return refuse(not_done, given_up.error());
  }
  const auto entry = directory.read();
  if (!entry) return refuse(not_done, entry.error());
  if (changes) return change(options, entry->list);
  if (entry->revision == 0) {
    return refuse(not_done, fmt::format("etcd has no list of servers under '{}'; make one with "
                                        "--set",
                                        options.etcd_key));
  }
  print(entry->list);
  return server_program::success;
}

CLI::Option* add_names(CLI::App& command, const char* name, std::vector<std::string>& names,
                       const char* meaning) {
  return command.add_option(name, names, meaning)->delimiter(',')->allow_extra_args(false);
}

}  // namespace

void add_members_command(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<MembersOptions>();
  CLI::App* const command = app.add_subcommand(
      "members", "show or change the list of a cluster's servers in etcd, and move the keys");
  command->footer(members_exit_statuses);
  command->fallthrough();  // --config is an option of the main program
  add_names(*command, "--etcd", options->etcd, "endpoints of etcd, with commas between them")
      ->required();
  command->add_option("--etcd-key", options->etcd_key, "etcd's key with the list")
      ->capture_default_str();
  add_etcd_access_options(*command, options->etcd_access);
  CLI::Option* const set = add_names(*command, "--set", options->set, "the whole list");
  CLI::Option* const add = add_names(*command, "--add", options->add, "servers that join");
  CLI::Option* const remove =
      add_names(*command, "--remove", options->remove, "servers that leave");
  CLI::Option* const lost =
      add_names(*command, "--lost", options->lost,
                "servers that leave without moving their keys, because they are away");
  set->excludes(add)->excludes(remove);
  command->add_flag("--give-up", options->give_up, "return to the list before a change under way")
      ->excludes(set)
      ->excludes(add)
      ->excludes(remove)
      ->excludes(lost);
  command->add_flag("--delete-strays", options->delete_strays,
                    "the change may delete keys at servers where the list does not have them, even "
                    "if they are nowhere else");
  command->add_flag(
      "--drop-damaged", options->drop_damaged,
      "the change removes containers whose checksums are wrong; it names them anyway");
  command
      ->add_option("--lease", options->lease_seconds,
                   "of a new list: for how many seconds clients use it without asking etcd again")
      ->check(CLI::Range(0.001, longest_seconds))
      ->capture_default_str();
  command
      ->add_option("--settle", options->settle_seconds,
                   fmt::format("of a new list: how many seconds a change waits for operations to "
                               "end. By default as long as a lease, the clients' time-out for "
                               "servers, three heartbeat time-outs and --detection together, and "
                               "at least {}",
                               engine::default_settle_ns / 1e9))
      ->check(CLI::Range(0.002, longest_seconds));
  command
      ->add_option("--detection", options->detection_seconds,
                   "of a new list: within how many seconds the network detects a dead peer")
      ->check(CLI::Range(engine::detection_bound_ns / 1e9, longest_seconds))
      ->capture_default_str();
  command->add_option("--directory", options->address.fabric.directory,
                      "directory of the servers' sockets, as of get");
  command->add_option("--fabric", options->address.fabric.fabric, "shm or verbs, as of get")
      ->capture_default_str();
  add_device_options(*command, options->address.fabric);
  add_spare_port_options(*command, options->address.fabric);
  command->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace falafel::command_line
