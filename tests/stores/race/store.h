// RACE hashing in the simulator for tests: one memory node, any number of clients, and the node's
// memory at the end.
//
//   TestStore store({.options = {...}});
//   store.add_client([&](fabric::Host&, race::Client& client) { client.set(...); });
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
#include "stores/race/client.h"
#include "stores/race/memory_node.h"

namespace falafel::race_test {

using fabric::microsecond_ns;
using fabric::millisecond_ns;

// Short time-outs, and a hash that does not change from run to run.
race::Options small_options();

struct StoreOptions {
  race::Options options = small_options();
  sim::SimulationOptions simulation{};
  std::uint64_t seed = 1;
};

struct StoreRun {
  sim::RunResult result;
  race::NodeInspection node;          // when all clients have returned
  std::vector<std::string> problems;  // of the run and of the node's memory
};

// All problems, one per line; empty if there are none.
std::string describe(const StoreRun& run);

using ClientBody = std::function<void(fabric::Host&, race::Client&)>;

class TestStore {
 public:
  explicit TestStore(const StoreOptions& options);
  ~TestStore();
  TestStore(const TestStore&) = delete;
  TestStore& operator=(const TestStore&) = delete;

  // A client that waits for the node and connects.
  void add_client(ClientBody body);
  StoreRun run();

  void stop_node() { node_.reset(); }

 private:
  void serve(fabric::Host& host);

  StoreOptions options_;
  fabric::FiberStackPool stacks_;
  std::unique_ptr<sim::Strategy> strategy_;
  std::unique_ptr<sim::Simulation> simulation_;
  std::unique_ptr<race::MemoryNode> node_;
  bool has_served_ = false;
  std::size_t clients_ = 0;
  std::size_t unfinished_ = 0;
  StoreRun run_;
};

// One client.
StoreRun run_client(const StoreOptions& options, const ClientBody& body);

}  // namespace falafel::race_test
