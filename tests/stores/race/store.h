// RACE hashing in the simulator: the store of the tests, and its options.
#pragma once

#include <string>
#include <vector>

#include "fabric/time_units.h"
#include "stores/race/client.h"
#include "stores/race/memory_node.h"
#include "tests/stores/one_server.h"

namespace falafel::race_test {

using fabric::microsecond_ns;
using fabric::millisecond_ns;

struct Types {
  using Options = race::Options;
  using Server = race::MemoryNode;
  using Client = race::Client;
  using Inspection = race::NodeInspection;

  // Short time-outs, and a hash that does not change from run to run.
  static Options small_options();
  static std::vector<std::string> find_problems(const Inspection& server);
};
using StoreOptions = stores_test::StoreOptions<Types>;
using StoreRun = stores_test::StoreRun<Types>;
using TestStore = stores_test::OneServer<Types>;

// A store with one client.
StoreRun run_client(const StoreOptions& options, const TestStore::ClientBody& body);

}  // namespace falafel::race_test
