// C-Hint in the simulator for tests: one server with a backend, any number of clients, and the
// server's memory at the end.
//
//   TestStore store({.options = {...}});
//   store.add_client([&](fabric::Host&, c_hint::Client& client) { client.set(...); });
//   const StoreRun run = store.run();
//   EXPECT_EQ(describe(run), "");
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/time_units.h"
#include "stores/c_hint/backend.h"
#include "stores/c_hint/client.h"
#include "stores/c_hint/server.h"

namespace falafel::c_hint_test {

using fabric::microsecond_ns;
using fabric::millisecond_ns;

// Little memory, terms of 10 milliseconds, and short time-outs.
c_hint::Options small_options();

struct StoreOptions {
  c_hint::Options options = small_options();
  bool has_backend = true;
  std::uint64_t seed = 1;
};

struct StoreRun {
  sim::RunResult result;
  c_hint::ServerInspection server;    // when all clients have returned
  std::vector<std::string> problems;  // of the run and of the server's memory
};

// All problems, one per line; empty if there are none.
std::string describe(const StoreRun& run);

using ClientBody = std::function<void(fabric::Host&, c_hint::Client&)>;

class TestStore {
 public:
  explicit TestStore(const StoreOptions& options);
  ~TestStore();
  TestStore(const TestStore&) = delete;
  TestStore& operator=(const TestStore&) = delete;

  // A client that waits for the server and connects.
  void add_client(ClientBody body);
  StoreRun run();

  c_hint::Server& server() { return *server_; }
  c_hint::MapBackend& backend() { return backend_; }
  // Ends the server, and waits for another one. Called by a client.
  void restart_server(fabric::Host& host);

 private:
  void start_server(fabric::Host& host);
  void serve(fabric::Host& host);

  StoreOptions options_;
  fabric::FiberStackPool stacks_;
  std::unique_ptr<sim::Strategy> strategy_;
  std::unique_ptr<sim::Simulation> simulation_;
  c_hint::MapBackend backend_{2 * microsecond_ns};
  std::unique_ptr<c_hint::Server> server_;
  std::size_t clients_ = 0;
  std::size_t unfinished_ = 0;
  StoreRun run_;
};

// A store with one client.
StoreRun run_client(const StoreOptions& options, const ClientBody& body);

}  // namespace falafel::c_hint_test
