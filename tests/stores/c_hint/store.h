// C-Hint in the simulator, with a backend: the store of the tests, and its options.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fabric/time_units.h"
#include "stores/c_hint/backend.h"
#include "stores/c_hint/client.h"
#include "stores/c_hint/server.h"
#include "tests/stores/one_server.h"

namespace falafel::c_hint_test {

using fabric::microsecond_ns;
using fabric::millisecond_ns;

struct Types {
  using Options = c_hint::Options;
  using Server = c_hint::Server;
  using Client = c_hint::Client;
  using Inspection = c_hint::ServerInspection;

  // Little memory, terms of 10 milliseconds, and short time-outs.
  static Options small_options();
  static std::vector<std::string> find_problems(const Inspection& server);
};
struct StoreOptions : stores_test::StoreOptions<Types> {
  bool has_backend = true;
};
using StoreRun = stores_test::StoreRun<Types>;

class TestStore final : public stores_test::OneServer<Types> {
 public:
  explicit TestStore(const StoreOptions& options)
      : OneServer(options), has_backend_(options.has_backend) {}

 private:
  fabric::Result<std::unique_ptr<c_hint::Server>> start(fabric::Host& host) override {
    return c_hint::Server::start(host, options().options, has_backend_ ? &backend_ : nullptr);
  }

  bool has_backend_;
  c_hint::MapBackend backend_{2 * microsecond_ns};
};

// A store with one client.
StoreRun run_client(const StoreOptions& options, const TestStore::ClientBody& body);

}  // namespace falafel::c_hint_test
