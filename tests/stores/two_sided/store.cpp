#include "tests/stores/two_sided/store.h"

#include "stores/two_sided/invariants.h"

namespace falafel::two_sided_test {

two_sided::Options Types::small_options() {
  two_sided::Options options;
  options.safeguards = two_sided::Safeguards::hardened();
  options.waiting = two_sided::Waiting::blocking;
  options.buckets = 4;
  options.max_clients = 4;
  options.connect_timeout_ns = 20 * millisecond_ns;
  options.server_timeout_ns = 5 * millisecond_ns;
  options.close_timeout_ns = millisecond_ns;
  options.repetition_interval_ns = 50 * microsecond_ns;
  options.acknowledge_timeout_ns = 100 * microsecond_ns;
  return options;
}

std::vector<std::string> Types::find_problems(const Inspection& server) {
  return two_sided::find_problems(server);
}

StoreRun run_client(const StoreOptions& options, const TestStore::ClientBody& body) {
  TestStore store(options);
  store.add_client(body);
  return store.run();
}

}  // namespace falafel::two_sided_test
