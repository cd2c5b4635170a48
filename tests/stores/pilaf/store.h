// Pilaf in the simulator for tests: one server, any number of clients, and the server's memory at
// the end.
//
//   TestStore store({.options = {...}});
//   store.add_client([&](fabric::Host&, pilaf::Client& client) { client.set(...); });
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
#include "stores/pilaf/client.h"
#include "stores/pilaf/server.h"

namespace falafel::pilaf_test {

using fabric::microsecond_ns;
using fabric::millisecond_ns;

// Short time-outs, and a hash that does not change from run to run.
pilaf::Options small_options();

struct StoreOptions {
  pilaf::Options options = small_options();
  sim::SimulationOptions simulation{};
  std::size_t server_max_registrations = sim::HostOptions::without_limit;
  std::uint64_t seed = 1;
};

struct StoreRun {
  sim::RunResult result;
  pilaf::ServerInspection server;     // when all clients have returned
  std::vector<std::string> problems;  // of the run and of the server's memory
};

// All problems, one per line; empty if there are none.
std::string describe(const StoreRun& run);

using ClientBody = std::function<void(fabric::Host&, pilaf::Client&)>;

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

  sim::Simulation& simulation() { return *simulation_; }
  const pilaf::Server* server() const { return server_.get(); }
  void stop_server() { server_.reset(); }
  fabric::Address address() const;
  // Flips a bit of the checksum of a slot's entry, or of the extent that the entry points to. Doing
  // it twice repairs them.
  void damage_entry(std::uint64_t slot);
  void damage_extent(std::uint64_t slot);

 private:
  void serve(fabric::Host& host);
  void await_server(fabric::Host& host) const;

  StoreOptions options_;
  fabric::FiberStackPool stacks_;
  std::unique_ptr<sim::Strategy> strategy_;
  std::unique_ptr<sim::Simulation> simulation_;
  std::unique_ptr<pilaf::Server> server_;
  bool has_served_ = false;
  std::size_t clients_ = 0;
  std::size_t unfinished_ = 0;
  StoreRun run_;
};

}  // namespace falafel::pilaf_test
