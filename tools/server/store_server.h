// falafel serve: a complete server process. The calling thread runs the server; a second thread
// serves its status and metrics and handles the signals that stop it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "engine/time_bounds.h"
#include "falafel/fabric_options.h"
#include "tools/server/exit_status.h"
#include "tools/server/memory_file.h"
#include "tools/server/memory_plan.h"
#include "tools/server/sizing.h"

namespace falafel::server_program {

struct ServeOptions {
  std::string name = "falafel";
  FabricOptions fabric;
  SizingOptions sizing;  // its memory_bytes are those of `memory`
  MemorySizes memory;
  // The file that the store is in; empty: it ends with the process. If a store is there already,
  // the sizes are those of the file, and `given` tells which ones the user expects.
  std::string memory_file;
  GivenSizes given;
  // the server gives up on a client that is silent for this long
  double client_timeout_seconds = engine::default_heartbeat_timeout_ns / 1e9;
  std::uint64_t client_bytes_per_second = 0;  // that each client may write; 0: no limit
  bool is_cache = false;  // values may have a time to live, and leave a full store
  std::string metrics;    // ADDRESS:PORT; empty: none
  // Receives warnings for the operator. Called from the server's thread.
  std::function<void(std::string_view)> warn{};
};

struct Serving {
  std::string place;  // where clients find the server
  engine::Geometry geometry;
  // The memory that the store holds when it begins, if it grows.
  std::optional<std::uint64_t> held_bytes{};
  std::string metrics;                            // the address with the actual port; empty: none
  std::optional<std::uint64_t> recovered_keys{};  // if the store was in its file already
};

struct ServeFailure {
  ExitStatus status;
  std::string message;
};

// Serves until SIGTERM or SIGINT. Calls `on_ready` when clients can connect. May be called once per
// process, from a thread that runs no fibers.
std::optional<ServeFailure> serve(const ServeOptions& options,
                                  const std::function<void(const Serving&)>& on_ready);

}  // namespace falafel::server_program
