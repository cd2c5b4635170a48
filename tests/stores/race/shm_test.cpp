// RACE hashing on shared memory, with real threads: the histories of several clients on few keys
// are linearizable, while subtables are split.
#include "stores/race/client.h"
#include "stores/race/invariants.h"
#include "stores/race/memory_node.h"
#include "tests/stores/load/shared_memory.h"

namespace falafel::race_test {
namespace {

using race::Client;
using race::MemoryNode;
using stores_test::millisecond_ns;

race::Options small_options() {
  race::Options options;
  options.safeguards = race::Safeguards::hardened();
  options.block_reuse = race::BlockReuse::at_once;
  options.groups_per_subtable = 1;
  options.slots_per_bucket = 1;
  options.fingerprint_bits = 1;
  options.initial_depth = 0;
  options.heap_bytes = 1 << 20;
  options.segment_bytes = 8'192;
  options.max_clients = 8;
  options.acknowledge_timeout_ns = 10 * millisecond_ns;
  return options;
}

class RaceOnSharedMemory : public stores_test::SharedMemory {
 protected:
  void run(const race::Options& options) {
    SharedMemory::run(
        [&](fabric::Host& host) { serve(host, options); },
        [&](fabric::Host& host, std::uint32_t number) { work(host, options, number); });
  }

  void serve(fabric::Host& host, const race::Options& options) {
    const auto node = MemoryNode::start(host, options).value();
    serve_clients(host);
    EXPECT_EQ(race::find_problems(node->inspect()), std::vector<std::string>());
  }

  void work(fabric::Host& host, const race::Options& options, std::uint32_t number) {
    auto client = Client::connect(host, {.host = "server", .service = options.service}, options);
    ASSERT_TRUE(client) << client.error().detail;
    operate(host, stores_test::ServedClient(**client), number);
    const std::lock_guard lock(mutex_);
    statistics_ += (*client)->statistics();
  }

  race::OperationStatistics statistics_;
};

TEST_F(RaceOnSharedMemory, IsLinearizable) {
  run(small_options());
  EXPECT_GT(statistics_.reused_blocks, 0U);
  EXPECT_GT(statistics_.splits, 0U);
}

}  // namespace
}  // namespace falafel::race_test
