// A store in the simulator, for tests: one server, any number of clients, and what the server's memory
// holds in the end.
//
//   fabric::FiberStackPool stacks;
//   Store store({.seed = 7}, stacks);
//   store.add_client([&](fabric::Host&, Client& client) { client.set(...); });
//   const StoreRun run = store.run();
//   EXPECT_TRUE(run.problems.empty()) << run.problems;
//
// When all bodies are over and the server has nothing left to do, the server's memory is read without
// its help (final_state.h). Bodies run in fibers, where an exception would abort: what a body has to
// object to it says by require() or by EXPECT_*.
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
#include "tests/engine/final_state.h"

namespace falafel::engine_test {

using engine::Answer;
using engine::Client;
using engine::Server;

inline constexpr std::uint64_t microsecond_ns = 1'000;
inline constexpr std::uint64_t millisecond_ns = 1'000'000;
inline constexpr std::uint64_t second_ns = 1'000'000'000;

Bytes bytes_of(std::string_view text);

struct StoreOptions {
  engine::ServerOptions server{.hash_key = engine::HashKey{}};  // known, so that keys can be chosen
  engine::ClientOptions client{};  // its safeguards are those of the server
  sim::SimulationOptions simulation{};
  std::size_t server_max_registrations = sim::HostOptions::without_limit;
  std::size_t client_max_registrations = sim::HostOptions::without_limit;  // of each other host
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
  std::vector<std::string> problems;  // of the run, of the bodies, and of the state

  std::uint64_t probe(const fabric::Probe& probe) const { return result.probes[probe.index]; }
};
// All problems, a line each.
std::string describe(const StoreRun& run);

using HostBody = std::function<void(fabric::Host&)>;
using ClientBody = std::function<void(fabric::Host&, Client&)>;

class Store {
 public:
  // `stacks` outlives the store.
  Store(const StoreOptions& options, fabric::FiberStackPool& stacks);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // A host that waits until the server serves, connects, and runs `body`. Its name is "client 0" for the
  // first, and so on.
  void add_client(ClientBody body);
  // A host that waits until the server serves, and runs `body`.
  void add_host(const std::string& name, HostBody body);
  StoreRun run();

  // For bodies. The server's name is "server".
  sim::Simulation& simulation() { return *simulation_; }
  // As long as it runs; null if it has not started or its host died.
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
