// Pilaf on shared memory, with real threads: the histories of several clients on few keys are
// linearizable, through growth.
#include "stores/pilaf/client.h"
#include "stores/pilaf/invariants.h"
#include "stores/pilaf/server.h"
#include "tests/stores/load/shared_memory.h"

namespace falafel::pilaf_test {
namespace {

using pilaf::Client;
using pilaf::Server;
using stores_test::millisecond_ns;

pilaf::Options small_options() {
  pilaf::Options options;
  options.safeguards = pilaf::Safeguards::hardened();
  options.log = pilaf::Logging::off;
  options.put_on_reset = pilaf::PutOnReset::send_again;
  options.table_entries = 4;
  options.extents_bytes = 256;
  options.max_clients = 8;
  options.acknowledge_timeout_ns = 10 * millisecond_ns;
  return options;
}

class PilafOnSharedMemory : public stores_test::SharedMemory {
 protected:
  void run(const pilaf::Options& options) {
    SharedMemory::run(
        [&](fabric::Host& host) { serve(host, options); },
        [&](fabric::Host& host, std::uint32_t number) { work(host, options, number); });
    EXPECT_GE(growths_, 2U);
  }

  void serve(fabric::Host& host, const pilaf::Options& options) {
    const auto server = Server::start(host, options).value();
    serve_clients(host);
    const pilaf::ServerInspection inspection = server->inspect();
    EXPECT_EQ(pilaf::find_problems(inspection), std::vector<std::string>());
    growths_ = inspection.statistics.table_growths + inspection.statistics.extents_growths;
  }

  void work(fabric::Host& host, const pilaf::Options& options, std::uint32_t number) {
    auto client = Client::connect(host, {.host = "server", .service = options.service}, options);
    ASSERT_TRUE(client) << client.error().detail;
    operate(host, stores_test::ServedClient(**client), number);
    const std::lock_guard lock(mutex_);
    statistics_ += (*client)->statistics();
  }

  std::uint64_t growths_ = 0;
  pilaf::OperationStatistics statistics_;
};

TEST_F(PilafOnSharedMemory, GetsByReadsAreLinearizable) {
  run(small_options());
  EXPECT_GT(statistics_.probes, 0U);
}

TEST_F(PilafOnSharedMemory, GetsByMessagesAreLinearizable) {
  pilaf::Options options = small_options();
  options.gets = pilaf::GetPath::messages;
  run(options);
  EXPECT_EQ(statistics_.probes, 0U);
}

TEST_F(PilafOnSharedMemory, UpdatesInPlaceAreLinearizable) {
  pilaf::Options options = small_options();
  options.update = pilaf::Update::in_place_if_it_fits;
  run(options);
}

}  // namespace
}  // namespace falafel::pilaf_test
