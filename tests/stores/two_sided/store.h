// Troost's store in the simulator for tests: one server, any number of clients, and the server's
// memory at the end.
//
//   TestStore store({.options = {...}});
//   store.add_client([&](fabric::Host&, two_sided::Client& client) { client.set(...); });
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
#include "stores/two_sided/client.h"
#include "stores/two_sided/server.h"

namespace falafel::two_sided_test {

using fabric::microsecond_ns;
using fabric::millisecond_ns;

// Short time-outs. All safeguards are on.
two_sided::Options small_options();

struct StoreOptions {
  two_sided::Options options = small_options();
  sim::SimulationOptions simulation{};
  std::uint64_t seed = 1;
};

struct StoreRun {
  sim::RunResult result;
  two_sided::ServerInspection server;  // when all clients have returned
  std::vector<std::string> problems;   // of the run and of the server's memory
};

// All problems, one per line; empty if there are none.
std::string describe(const StoreRun& run);

using ClientBody = std::function<void(fabric::Host&, two_sided::Client&)>;

class TestStore {
 public:
  explicit TestStore(const StoreOptions& options);
  ~TestStore();
  TestStore(const TestStore&) = delete;
  TestStore& operator=(const TestStore&) = delete;

  // A client that waits for the server and connects.
  void add_client(ClientBody body);
  // A host that waits for the server.
  void add_host(const std::string& name, std::function<void(fabric::Host&)> body);
  StoreRun run();

  const two_sided::Server& server() const { return *server_; }
  void stop_server() { server_.reset(); }
  fabric::Address address() const;

 private:
  void serve(fabric::Host& host);
  void await_server(fabric::Host& host) const;

  StoreOptions options_;
  fabric::FiberStackPool stacks_;
  std::unique_ptr<sim::Strategy> strategy_;
  std::unique_ptr<sim::Simulation> simulation_;
  std::unique_ptr<two_sided::Server> server_;
  bool has_served_ = false;
  std::size_t clients_ = 0;
  std::size_t unfinished_ = 0;
  StoreRun run_;
};

}  // namespace falafel::two_sided_test
