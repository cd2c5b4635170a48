#include "tests/stores/race/store.h"

#include "stores/race/invariants.h"

namespace falafel::race_test {

race::Options Types::small_options() {
  race::Options options;
  options.groups_per_subtable = 16;
  options.initial_depth = 1;
  options.most_depth = 4;
  options.heap_bytes = 256 << 10;
  options.segment_bytes = 4'096;
  options.most_block_bytes = 512;
  options.hash_seed = 7;
  options.max_clients = 8;
  options.longest_back_off_ns = 2 * microsecond_ns;
  options.server_timeout_ns = 20 * millisecond_ns;
  options.acknowledge_timeout_ns = 100 * microsecond_ns;
  options.check_interval_ns = 50 * microsecond_ns;
  options.reconnect_pause_ns = 5 * microsecond_ns;
  return options;
}

std::vector<std::string> Types::find_problems(const Inspection& server) {
  return race::find_problems(server);
}

StoreRun run_client(const StoreOptions& options, const TestStore::ClientBody& body) {
  TestStore store(options);
  store.add_client(body);
  return store.run();
}

}  // namespace falafel::race_test
