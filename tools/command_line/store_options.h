// The options that all commands of the store share to select a server.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fabric/shm/connector.h"
#include "falafel/etcd_access.h"
#include "falafel/fabric_options.h"
#include "tools/server/listening.h"

namespace falafel::command_line {

struct ServerAddress {
  std::string name;  // as given on the command line
  FabricOptions fabric;

  // Throws CLI::ValidationError if no server can have the name.
  std::string server_name() const;

  std::filesystem::path directory() const {
    return fabric.directory.empty() ? default_directory() : fabric.directory;
  }
};

// The servers of a cluster. At most one of the two is given.
struct ServerList {
  std::vector<std::string> servers;
  std::vector<std::string> etcd;  // endpoints that have the list
  std::string etcd_key = "falafel/servers";
  EtcdAccess etcd_access{};

  bool is_empty() const { return servers.empty() && etcd.empty(); }
};

// Throws CLI::ValidationError, which names the option.
inline void check_server_name(const char* option, const std::string& name,
                              const FabricOptions& fabric) {
  if (fabric.fabric != "shm" || shm::is_host_name(name)) return;
  throw CLI::ValidationError(
      option, fmt::format("'{}' cannot name a server; use up to 64 letters, digits, '-', '_' and "
                          "'.', but no '.' in front",
                          name));
}

// The same for an address at which to listen; empty: none was given.
inline void check_address(const char* option, const std::string& address) {
  if (address.empty()) return;
  const std::string problem = server_program::problem_of_address(address);
  if (!problem.empty()) throw CLI::ValidationError(option, problem);
}

inline std::string ServerAddress::server_name() const {
  if (name.empty()) return own_server_name(fabric);
  check_server_name("--name", name, fabric);
  return name;
}

inline void add_device_options(CLI::App& command, FabricOptions& fabric) {
  command.add_option(
      "--device", fabric.device,
      "verbs: device, as listed by ibv_devices (default: the one that has this machine's address)");
  command.add_option("--port", fabric.port,
                     "verbs: port of the device, starting from 1 (default: the one that has this "
                     "machine's address)");
  command.add_option(
      "--gid-index", fabric.gid_index,
      "verbs: GID index of the port (default: the RoCE v2 GID of the machine's IPv4 address)");
  command.add_option("--partition-key", fabric.partition_key,
                     "verbs: key of the partition (default: the first of the port)");
  command.add_option("--traffic-class", fabric.traffic_class,
                     "verbs: IP traffic class of RoCE v2, four times the DSCP (default: 0)");
  command
      .add_option("--service-level", fabric.service_level,
                  "verbs: service level of InfiniBand, or VLAN priority of RoCE (default: 0)")
      ->check(CLI::Range(0, 15));
  command.add_option("--own-address", fabric.own_address,
                     "verbs: address of this machine (default: its name)");
}

// For commands that are clients (docs/deploy.md, "A client with two ports").
inline void add_spare_port_options(CLI::App& command, FabricOptions& fabric) {
  const auto spare = [&fabric]() -> SparePort& {
    if (!fabric.spare) fabric.spare.emplace();
    return *fabric.spare;
  };
  command.add_option_function<std::string>(
      "--spare-own-address", [spare](const std::string& address) { spare().own_address = address; },
      "verbs: address of another port of this machine, for when the server cannot be reached by "
      "the first one");
  command.add_option_function<std::string>(
      "--spare-device", [spare](const std::string& device) { spare().device = device; },
      "verbs: device of that port");
  command.add_option_function<std::uint8_t>(
      "--spare-port", [spare](std::uint8_t port) { spare().port = port; },
      "verbs: its number, starting from 1");
  command.add_option_function<std::uint8_t>(
      "--spare-gid-index", [spare](std::uint8_t index) { spare().gid_index = index; },
      "verbs: its GID index");
}

inline void add_server_options(CLI::App& command, ServerAddress& address) {
  command.fallthrough();  // --config is an option of the main program
  command.add_option("--name", address.name,
                     "name of the server (default: falafel; with verbs, this machine's address)");
  command.add_option("--directory", address.fabric.directory,
                     "directory of the servers' sockets (default: $FALAFEL_DIRECTORY, else "
                     "$XDG_RUNTIME_DIR/falafel, else /tmp/falafel-UID)");
  command
      .add_option(
          "--fabric", address.fabric.fabric,
          "shm: shared memory of this machine; verbs: InfiniBand or RoCE, where --name is the "
          "server's address")
      ->capture_default_str();
  add_device_options(command, address.fabric);
}

inline void add_etcd_access_options(CLI::App& command, EtcdAccess& access) {
  command.add_option("--etcd-ca", access.ca_file,
                     "https: file with the authorities that may sign etcd's certificate, in PEM "
                     "(default: those that this machine trusts)");
  command.add_option("--etcd-certificate", access.certificate_file,
                     "https: file with the certificate to show to etcd, in PEM");
  command.add_option("--etcd-certificate-key", access.certificate_key_file,
                     "https: file with its key (default: the file of the certificate)");
  command.add_option("--etcd-user", access.user, "user of etcd");
  command.add_option("--etcd-password-file", access.password_file,
                     "file whose first line is this user's password");
}

// Requires the option --name.
inline void add_servers_option(CLI::App& command, ServerList& list) {
  command
      .add_option("--servers", list.servers,
                  "names of several servers, with commas between them; each key belongs to one of "
                  "them")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes("--name");
  command
      .add_option("--etcd", list.etcd,
                  "endpoints of etcd, with commas between them, which has the list of servers (see "
                  "falafel members)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes("--name")
      ->excludes("--servers");
  command.add_option("--etcd-key", list.etcd_key, "etcd's key with the list")
      ->capture_default_str();
  add_etcd_access_options(command, list.etcd_access);
}

}  // namespace falafel::command_line
