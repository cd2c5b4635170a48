// SWARM-KV in the simulator for tests: three memory nodes, a node for the index, any number of
// clients, and the memory at the end.
//
//   TestCluster cluster;
//   cluster.add_client([&](fabric::Host&, swarm::Client& client) { ... });
//   EXPECT_EQ(cluster.run(), "");
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/time_units.h"
#include "stores/swarm/client.h"
#include "stores/swarm/node.h"

namespace falafel::swarm_test {

using fabric::microsecond_ns;

inline constexpr std::size_t memory_nodes = 3;

// Little memory, and short time-outs.
swarm::Options small_options();

struct ClusterOptions {
  swarm::Options options = small_options();
  sim::SimulationOptions simulation{};
  std::uint64_t seed = 1;
};

class TestCluster {
 public:
  using Body = std::function<void(fabric::Host&, swarm::Client&)>;

  explicit TestCluster(const ClusterOptions& options = {});
  ~TestCluster();
  TestCluster(const TestCluster&) = delete;
  TestCluster& operator=(const TestCluster&) = delete;

  // A host with clients of the next numbers.
  using HostBody = std::function<void(fabric::Host&, std::vector<std::unique_ptr<swarm::Client>>&)>;
  void add_host(std::uint32_t clients, HostBody body);
  void add_client(Body body);
  // The problems of the run and of the memory of all nodes, one per line.
  std::string run();

 private:
  void serve(fabric::Host& host, std::size_t number);

  ClusterOptions options_;
  fabric::FiberStackPool stacks_;
  std::unique_ptr<sim::Strategy> strategy_;
  std::unique_ptr<sim::Simulation> simulation_;
  std::vector<std::shared_ptr<fabric::MemoryBlock>> memory_;
  std::size_t started_ = 0;
  std::size_t unfinished_ = 0;
  std::uint32_t next_writer_ = 0;
  std::string problems_;
};

// Lets what operations have left to do arrive at all nodes.
void settle(fabric::Host& host);

// The value, or the name of the answer in brackets.
std::string get(swarm::Client& client, std::string_view key);
swarm::Answer set(swarm::Client& client, std::string_view key, std::string_view value);
swarm::Answer remove(swarm::Client& client, std::string_view key);

}  // namespace falafel::swarm_test
