// A store in the simulator for tests: one server, any number of clients, and the final contents of
// the server's memory.
//
//   fabric::FiberStackPool stacks;
//   TestStore store({.seed = 7}, stacks);
//   store.add_client([&](fabric::Host&, Client& client) { client.set(...); });
//   const StoreRun run = store.run();
//   EXPECT_TRUE(run.problems.empty()) << describe(run);
//
// When all bodies are over and the server is idle, the test reads the server's memory without using
// the server (final_state.h). Bodies run in fibers, where an exception would abort the program, so
// they report failures with require() or EXPECT_*.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/client/client.h"
#include "engine/server/server.h"
#include "fabric/fabric.h"
#include "fabric/sim/simulation.h"
#include "fabric/time_units.h"
#include "tests/engine/final_state.h"

namespace falafel::engine_test {

using engine::Answer;
using engine::Client;
using engine::Server;

using fabric::microsecond_ns;
using fabric::millisecond_ns;
using fabric::second_ns;

Bytes bytes_of(std::string_view text);

struct StoreOptions {
  // the hash key is known, so tests can choose keys
  engine::ServerOptions server{.hash_key = engine::HashKey{}};
  engine::ClientOptions client{};  // uses the server's safeguards
  sim::SimulationOptions simulation{};
  std::size_t server_max_registrations = sim::HostOptions::without_limit;
  // for each host except the server
  std::size_t client_max_registrations = sim::HostOptions::without_limit;
  std::size_t client_device_count = 1;
  std::uint32_t client_max_queue_requests = sim::HostOptions{}.max_queue_requests;
  bool server_destruction_drains = false;
  std::uint64_t seed = 1;

  void set_safeguards(const engine::Safeguards& safeguards) {
    server.safeguards = safeguards;
    client.safeguards = safeguards;
  }
};

struct StoreRun {
  sim::RunResult result;
  engine::ServerInspection inspection;  // at the end
  FinalState state;
  std::vector<std::string> problems;  // of the run, the bodies and the final state

  std::uint64_t probe(const fabric::Probe& probe) const { return result.probes[probe.index]; }
};
// All problems, one per line.
std::string describe(const StoreRun& run);

using HostBody = std::function<void(fabric::Host&)>;
using ClientBody = std::function<void(fabric::Host&, Client&)>;

class TestStore {
 public:
  // `stacks` must outlive the store.
  TestStore(const StoreOptions& options, fabric::FiberStackPool& stacks);
  ~TestStore();
  TestStore(const TestStore&) = delete;
  TestStore& operator=(const TestStore&) = delete;

  // Adds a host that waits for the server, connects, and runs `body`. The hosts are named "client
  // 0", "client 1" and so on.
  void add_client(ClientBody body);
  // Adds a host that waits for the server and runs `body`.
  void add_host(const std::string& name, HostBody body);
  StoreRun run();

  // For use by bodies. The server's host is named "server".
  sim::Simulation& simulation() { return *simulation_; }
  // The running server; null if it has not started or its host has crashed.
  Server* server() const { return server_; }
  fabric::Address address() const;
  fabric::Result<std::unique_ptr<Client>> connect(fabric::Host& host) const;
  void require(bool condition, std::string_view problem);

 private:
  void serve(fabric::Host& host);
  void wait_for_bodies(fabric::Host& host);
  void wait_until_idle(fabric::Host& host);
  void run_body(fabric::Host& host, const HostBody& body);

  StoreOptions options_;
  std::unique_ptr<sim::Strategy> strategy_;
  std::unique_ptr<sim::Simulation> simulation_;
  Server* server_ = nullptr;
  bool has_served_ = false;
  std::size_t client_count_ = 0;
  std::size_t unfinished_bodies_ = 0;
  StoreRun run_;
};

}  // namespace falafel::engine_test
