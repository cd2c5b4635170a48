// The examples in headers of the stores that tests simulate. tools/checks/examples compares them.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/engine/store.h"
#include "tests/stores/nessie/cluster.h"
#include "tests/stores/pilaf/store.h"
#include "tests/stores/swarm/cluster.h"

namespace falafel::examples {

void simulate_the_engine() {
  using namespace engine_test;
  fabric::FiberStackPool stacks;
  TestStore store({.seed = 7}, stacks);
  store.add_client([&](fabric::Host&, Client& client) { client.set({}, {}); });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

void simulate_a_store_with_one_server() {
  using Client = pilaf::Client;
  using namespace pilaf_test;
  TestStore store({.options = {.table_entries = 64}});
  store.add_client([&](fabric::Host&, Client& client) { client.set({}, {}); });
  const StoreRun run = store.run();
  EXPECT_EQ(describe(run), "");
}

void simulate_nessie() {
  using namespace nessie_test;
  TestCluster cluster({.options = {.index_entries = 64}, .nodes = 2});
  cluster.run([&](std::uint32_t node, fabric::Host&, nessie::Client& client) {
    if (node == 0) client.put({}, {});
  });
  EXPECT_EQ(cluster.problems(), "");
}

void simulate_swarm() {
  using namespace swarm_test;
  TestCluster cluster;
  cluster.add_client([&](fabric::Host&, swarm::Client& client) { client.get({}); });
  EXPECT_EQ(cluster.run(), "");
}

}  // namespace falafel::examples
