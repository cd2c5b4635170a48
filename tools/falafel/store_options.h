// The options that all commands of the store have: which server they mean.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "falafel/fabric_options.h"

namespace falafel::command_line {

struct ServerAddress {
  std::string name;  // as given
  FabricOptions fabric;

  std::string server_name() const { return name.empty() ? own_server_name(fabric) : name; }

  std::filesystem::path directory() const {
    return fabric.directory.empty() ? default_directory() : fabric.directory;
  }
};

inline void add_device_options(CLI::App& command, FabricOptions& fabric) {
  command.add_option("--device", fabric.device,
                     "of verbs, as ibv_devices lists it (default: the first that is active)");
  command.add_option("--port", fabric.port,
                     "of the device, from 1 on (default: the first that is active)");
  command.add_option("--gid-index", fabric.gid_index,
                     "of the port (default: the RoCE v2 GID of the own IPv4 address)");
  command.add_option("--own-address", fabric.own_address,
                     "of this machine over verbs (default: its name)");
}

inline void add_server_options(CLI::App& command, ServerAddress& address) {
  command.fallthrough();  // --config is an option of the program
  command.add_option("--name", address.name,
                     "of the server (default: falafel; over verbs this machine's own address)");
  command.add_option("--directory", address.fabric.directory,
                     "where servers leave their sockets (default: $FALAFEL_DIRECTORY, else "
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
