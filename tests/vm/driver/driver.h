// A store on real RDMA, for tests in virtual machines: a server, clients that work on it, and programs
// that put it to the test. Each command is one process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "engine/client/client.h"
#include "engine/server/server.h"
#include "fabric/verbs/host.h"

namespace falafel::driver {

inline constexpr std::uint64_t millisecond_ns = 1'000'000;
inline constexpr std::uint64_t second_ns = 1'000'000'000;

struct Settings {
  std::string name;               // of this host
  std::string server = "server";  // of the server's host
  std::uint16_t service = 2'100;  // a connection to the next one tells the server to end
  std::string device;
  int gid_index = -1;  // none
  std::uint64_t spin_us = 0;
  std::uint32_t client = 0;  // a number for histories and keys
  std::uint32_t fibers = 4;
  std::uint32_t keys = 32;
  std::string key_prefix = "k";
  double seconds = 5;
  std::uint32_t value_bytes = 1'800;
  std::string events = "/dev/null";  // where operations are written, as they come and go
  bool reconnects = false;           // goes on with a new connection after one broke
  std::uint32_t max_clients = 16;
  std::uint32_t rounds = 200;  // of a measurement
};

// Small, so that collections, mature flips and cleanups are frequent.
engine::ServerOptions server_options(const Settings& settings);
// A silent server is given up after some seconds: emulated machines are slow.
engine::ClientOptions client_options();

// Makes the host and runs the body as its program. The process's exit status: that of the body, or 2 if
// the host cannot be made, which is explained.
int run_on_host(const Settings& settings, const std::function<int(verbs::Host&)>& body);

// The commands.
int serve(const Settings& settings);      // until told to end; then judges its memory
int finish(const Settings& settings);     // tells the server to end
int load(const Settings& settings);       // random operations for some time
int read_back(const Settings& settings);  // GET of every key
int intrude(const Settings& settings);    // tries what a client has no right to
int measure(const Settings& settings);    // latencies

}  // namespace falafel::driver
