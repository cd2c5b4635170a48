// The options that all commands of the store have: which server they mean.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "falafel/fabric_options.h"

namespace falafel::command_line {

struct ServerAddress {
  std::string name = "falafel";
  FabricOptions fabric;

  std::filesystem::path directory() const {
    return fabric.directory.empty() ? default_directory() : fabric.directory;
  }
};

inline void add_server_options(CLI::App& command, ServerAddress& address) {
  command.fallthrough();  // --config is an option of the program
  command.add_option("--name", address.name, "of the server")->capture_default_str();
  command.add_option("--directory", address.fabric.directory,
                     "where servers leave their sockets (default: $FALAFEL_DIRECTORY, else "
                     "$XDG_RUNTIME_DIR/falafel, else /tmp/falafel-UID)");
  command.add_option("--fabric", address.fabric.fabric, "shm: shared memory of this machine")
      ->capture_default_str();
}

}  // namespace falafel::command_line
