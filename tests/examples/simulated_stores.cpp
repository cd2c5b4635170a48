// The examples in headers of the stores that tests simulate. tools/checks/examples compares them.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/engine/store.h"
#include "tests/stores/c_hint/store.h"
#include "tests/stores/nessie/cluster.h"
#include "tests/stores/pilaf/store.h"
#include "tests/stores/two_sided/store.h"

namespace falafel::examples {

void simulate_the_engine() {
  using namespace engine_test;
  fabric::FiberStackPool stacks;
  TestStore store({.seed = 7}, stacks);
  store.add_client([&](fabric::Host&, Client& client) { client.set({}, {}); });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

void simulate_c_hint() {
  using namespace c_hint_test;
  TestStore store({.options = {.min_block_bytes = 128}});
  store.add_client([&](fabric::Host&, c_hint::Client& client) { client.set({}, {}); });
  const StoreRun run = store.run();
  EXPECT_EQ(describe(run), "");
}

void simulate_pilaf() {
  using namespace pilaf_test;
  TestStore store({.options = {.table_entries = 64}});
  store.add_client([&](fabric::Host&, pilaf::Client& client) { client.set({}, {}); });
  const StoreRun run = store.run();
  EXPECT_EQ(describe(run), "");
}

void simulate_two_sided() {
  using namespace two_sided_test;
  TestStore store({.options = {.buckets = 8}});
  store.add_client([&](fabric::Host&, two_sided::Client& client) { client.set({}, {}); });
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

}  // namespace falafel::examples
