// Nessie nodes in the simulator for tests, each with a client, and their memory at the end.
//
//   TestCluster cluster({.options = {...}, .nodes = 2});
//   cluster.run([&](std::uint32_t node, fabric::Host&, nessie::Client& client) { ... });
//   EXPECT_EQ(cluster.problems(), "");
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/time_units.h"
#include "stores/nessie/client.h"
#include "stores/nessie/node.h"

namespace falafel::nessie_test {

using fabric::microsecond_ns;

// Small tables, and a hash that does not change from run to run.
nessie::Options small_options();

struct ClusterOptions {
  nessie::Options options = small_options();
  std::uint32_t nodes = 2;
  sim::SimulationOptions simulation{};
  std::uint64_t seed = 1;
};

class TestCluster {
 public:
  using Body = std::function<void(std::uint32_t node, fabric::Host&, nessie::Client&)>;

  explicit TestCluster(const ClusterOptions& options);
  ~TestCluster();
  TestCluster(const TestCluster&) = delete;
  TestCluster& operator=(const TestCluster&) = delete;

  // Runs the body with a client on each node. Call once.
  void run(Body body);

  // A further client of the node, whose host it is. Null, and a problem: it does not connect.
  std::unique_ptr<nessie::Client> connect_another(fabric::Host& host, std::uint32_t number);

  // The problems of the run and, if all its bodies have returned, of the memory; one per line.
  std::string problems() const;
  const nessie::NodeInspection& node(std::uint32_t number) const { return *nodes_[number].memory; }
  sim::Simulation& simulation() { return *simulation_; }
  static std::string name(std::uint32_t number) { return "node " + std::to_string(number); }

 private:
  struct Place {
    std::unique_ptr<nessie::Node> node;
    std::optional<nessie::NodeInspection> memory;
  };

  void start(fabric::Host& host, std::uint32_t number);
  void serve(fabric::Host& host, std::uint32_t number);

  ClusterOptions options_;
  fabric::FiberStackPool stacks_;
  std::unique_ptr<sim::Strategy> strategy_;
  std::unique_ptr<sim::Simulation> simulation_;
  std::vector<Place> nodes_;
  Body body_;
  std::string problems_;
};

}  // namespace falafel::nessie_test
