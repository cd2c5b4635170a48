// falafel serve: a server with everything around it. The calling thread runs the server; a second one
// answers for its status and metrics and takes the signals that end it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "falafel/fabric_options.h"
#include "tools/store/exit_status.h"
#include "tools/store/sizing.h"

namespace falafel::store {

struct ServeOptions {
  std::string name = "falafel";
  FabricOptions fabric;
  SizingOptions sizing;
  double client_timeout_seconds = 10;  // a client that is silent for so long is given up
  std::string metrics;                 // ADDRESS:PORT; empty: none
};

struct Serving {
  std::string place;  // where clients find it
  engine::Geometry geometry;
  std::string metrics;  // the address, with the port that was taken; empty: none
};

struct ServeFailure {
  ExitStatus status;
  std::string message;
};

// Serves until SIGTERM or SIGINT. `on_ready` is called when clients can connect. Once in a process, from
// a thread that runs no fibers.
std::optional<ServeFailure> serve(const ServeOptions& options,
                                  const std::function<void(const Serving&)>& on_ready);

}  // namespace falafel::store
