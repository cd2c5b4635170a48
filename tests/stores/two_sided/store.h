// Troost's store in the simulator: the store of the tests, and its options.
#pragma once

#include <string>
#include <vector>

#include "fabric/time_units.h"
#include "stores/two_sided/client.h"
#include "stores/two_sided/server.h"
#include "tests/stores/one_server.h"

namespace falafel::two_sided_test {

using fabric::microsecond_ns;
using fabric::millisecond_ns;

struct Types {
  using Options = two_sided::Options;
  using Server = two_sided::Server;
  using Client = two_sided::Client;
  using Inspection = two_sided::ServerInspection;

  // Short time-outs. All safeguards are on.
  static Options small_options();
  static std::vector<std::string> find_problems(const Inspection& server);
};
using StoreOptions = stores_test::StoreOptions<Types>;
using StoreRun = stores_test::StoreRun<Types>;
using TestStore = stores_test::OneServer<Types>;

// A store with one client.
StoreRun run_client(const StoreOptions& options, const TestStore::ClientBody& body);

}  // namespace falafel::two_sided_test
