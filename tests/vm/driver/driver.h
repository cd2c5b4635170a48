// A store on real RDMA for tests in virtual machines: a server, clients that use it, and programs
// that test it. Each command is one process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/client/client.h"
#include "engine/server/server.h"
#include "fabric/time_units.h"
#include "fabric/verbs/host.h"

namespace falafel::driver {

using fabric::millisecond_ns;
using fabric::second_ns;

struct Settings {
  std::string name;               // of this host
  std::string server = "server";  // of the server's host
  std::uint16_t service = 2'100;  // a connection to the next service number stops the server
  std::string device;
  std::string interface;  // of the network, to take down
  int gid_index = -1;     // none
  std::optional<std::uint16_t> partition_key{};
  std::uint8_t traffic_class = 0;
  std::uint64_t spin_us = 0;
  std::uint32_t client = 0;  // identifies the client in histories and keys
  std::uint32_t fibers = 4;
  std::uint32_t keys = 32;
  std::string key_prefix = "k";
  double seconds = 5;
  std::uint64_t operations = ~std::uint64_t{0};  // of a client under load
  std::uint32_t value_bytes = 1'800;
  std::string events = "/dev/null";  // log of the start and end of each operation
  bool reconnects = false;           // reconnects after a connection broke
  std::uint32_t max_clients = 16;
  std::uint32_t rounds = 200;  // rounds per measurement
};

// Everything is small, so that collections and cleanups are frequent.
engine::ServerOptions server_options(const Settings& settings);
// The time-out is several seconds, because emulated machines are slow.
engine::ClientOptions client_options();

// Creates the host and runs the body as its program. Returns the process's exit status: that of the
// body, or 2 after an error message if the host cannot be created.
int run_on_host(const Settings& settings, const std::function<int(verbs::Host&)>& body);

// The commands.
int serve(const Settings& settings);      // runs until finish, then checks its memory
int finish(const Settings& settings);     // stops the server
int load(const Settings& settings);       // runs random operations for some time
int read_back(const Settings& settings);  // GET of every key
int intrude(const Settings& settings);    // attempts forbidden accesses
int measure(const Settings& settings);    // measures latencies
int watch(const Settings& settings);      // prints the traffic classes of packets that arrive
int lose_port(const Settings& settings);  // takes the network's interface down beside requests

}  // namespace falafel::driver
