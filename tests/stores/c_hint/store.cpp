#include "tests/stores/c_hint/store.h"

#include "stores/c_hint/invariants.h"

namespace falafel::c_hint_test {

c_hint::Options Types::small_options() {
  c_hint::Options options;
  options.items_bytes = 1'024;
  options.largest_message_bytes = 512;
  options.container_bytes = 256;
  options.max_clients = 8;
  options.unit_of_empty_memory_ns = 10 * millisecond_ns;
  options.unit_of_full_memory_ns = 10 * millisecond_ns;
  options.report_interval_ns = 0;
  options.server_timeout_ns = 20 * millisecond_ns;
  options.acknowledge_timeout_ns = 100 * microsecond_ns;
  options.check_interval_ns = 50 * microsecond_ns;
  options.reconnect_pause_ns = 5 * microsecond_ns;
  return options;
}

std::vector<std::string> Types::find_problems(const Inspection& server) {
  return c_hint::find_problems(server);
}

StoreRun run_client(const StoreOptions& options, const TestStore::ClientBody& body) {
  TestStore store(options);
  store.add_client(body);
  return store.run();
}

}  // namespace falafel::c_hint_test
