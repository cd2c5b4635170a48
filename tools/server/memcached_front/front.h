// falafel serve-memcached: accepts clients of memcached on the application's host and runs their
// requests on a store.
//
// Each thread is a client of the store of its own and serves each of its connections on a fiber.
// Connections are distributed over the threads in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "falafel/store.h"
#include "tools/server/memcached_front/command_line.h"
#include "tools/server/store_server.h"

namespace falafel::memcached_front {

struct FrontOptions {
  StoreOptions store;
  std::string listen;       // ADDRESS:PORT; empty: none
  std::string socket_path;  // of a UNIX-domain socket; empty: none
  std::string metrics;      // ADDRESS:PORT; empty: none
  std::uint32_t threads = 1;
  std::uint32_t max_connections = 1024;
  ParserOptions parser;
};

struct FrontPlaces {
  std::string clients;  // where it listens for clients of memcached
  std::string metrics;  // the address with the actual port; empty: none
};

// Serves until SIGTERM or SIGINT. Calls `on_ready` when clients can connect.
std::optional<server_program::ServeFailure> serve(
    const FrontOptions& options, const std::function<void(const FrontPlaces& places)>& on_ready);

}  // namespace falafel::memcached_front
