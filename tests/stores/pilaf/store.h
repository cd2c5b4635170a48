// Pilaf in the simulator: the store of the tests, and its options.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/time_units.h"
#include "stores/pilaf/client.h"
#include "stores/pilaf/server.h"
#include "tests/stores/one_server.h"

namespace falafel::pilaf_test {

using fabric::microsecond_ns;
using fabric::millisecond_ns;

struct Types {
  using Options = pilaf::Options;
  using Server = pilaf::Server;
  using Client = pilaf::Client;
  using Inspection = pilaf::ServerInspection;

  // Short time-outs, and a hash that does not change from run to run.
  static Options small_options();
  static std::vector<std::string> find_problems(const Inspection& server);
};
using StoreOptions = stores_test::StoreOptions<Types>;
using StoreRun = stores_test::StoreRun<Types>;

class TestStore final : public stores_test::OneServer<Types> {
 public:
  using OneServer::OneServer;

  // Flips a bit of the checksum of a slot's entry, or of the extent that the entry points to. Doing
  // it twice repairs them.
  void damage_entry(std::uint64_t slot);
  void damage_extent(std::uint64_t slot);
};

// A store with one client.
StoreRun run_client(const StoreOptions& options, const TestStore::ClientBody& body);

}  // namespace falafel::pilaf_test
