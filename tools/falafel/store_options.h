// The options that all commands of the store share to select a server.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "falafel/fabric_options.h"

namespace falafel::command_line {

struct ServerAddress {
  std::string name;  // as given on the command line
  FabricOptions fabric;

  std::string server_name() const { return name.empty() ? own_server_name(fabric) : name; }

  std::filesystem::path directory() const {
    return fabric.directory.empty() ? default_directory() : fabric.directory;
  }
};

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

}  // namespace falafel::command_line
