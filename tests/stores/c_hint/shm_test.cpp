// C-Hint on shared memory, with real threads: the histories of several clients on few keys are
// linearizable, through evictions and the ends of leases.
#include "stores/c_hint/client.h"
#include "stores/c_hint/invariants.h"
#include "stores/c_hint/server.h"
#include "tests/stores/load/shared_memory.h"

namespace falafel::c_hint_test {
namespace {

using c_hint::Client;
using c_hint::Server;
using stores_test::millisecond_ns;

c_hint::Options small_options() {
  c_hint::Options options;
  options.safeguards = c_hint::Safeguards::hardened();
  options.items_bytes = 256;
  options.unit_of_empty_memory_ns = 200'000;
  options.unit_of_full_memory_ns = 100'000;
  options.report_interval_ns = millisecond_ns;
  options.clock_error_ns = 10'000;
  options.max_clients = 8;
  options.acknowledge_timeout_ns = 10 * millisecond_ns;
  return options;
}

class CHintOnSharedMemory : public stores_test::SharedMemory {
 protected:
  void run(const c_hint::Options& options) {
    SharedMemory::run(
        [&](fabric::Host& host) { serve(host, options); },
        [&](fabric::Host& host, std::uint32_t number) { work(host, options, number); });
    EXPECT_GT(evictions_, 0U);
  }

  void serve(fabric::Host& host, const c_hint::Options& options) {
    const auto server = Server::start(host, options, &backend_).value();
    serve_clients(host);
    const c_hint::ServerInspection inspection = server->inspect();
    EXPECT_EQ(c_hint::find_problems(inspection), std::vector<std::string>());
    evictions_ = inspection.statistics.directory.evictions;
  }

  void work(fabric::Host& host, const c_hint::Options& options, std::uint32_t number) {
    auto client = Client::connect(host, {.host = "server", .service = options.service}, options);
    ASSERT_TRUE(client) << client.error().detail;
    operate(host, stores_test::ServedClient(**client), number);
    const std::lock_guard lock(mutex_);
    statistics_ += (*client)->statistics();
  }

  std::uint64_t evictions_ = 0;
  c_hint::MapBackend backend_{0};
  c_hint::OperationStatistics statistics_;
};

TEST_F(CHintOnSharedMemory, UpdatesOutOfPlaceAreLinearizable) {
  c_hint::Options options = small_options();
  options.update = c_hint::Update::out_of_place;
  run(options);
  EXPECT_GT(statistics_.pointer_hits, 0U);
}

TEST_F(CHintOnSharedMemory, UpdatesInPlaceAreLinearizable) {
  run(small_options());
  EXPECT_GT(statistics_.pointer_hits, 0U);
}

TEST_F(CHintOnSharedMemory, GetsByMessagesAreLinearizable) {
  run(c_hint::multi_queue(small_options()));
  EXPECT_EQ(statistics_.pointer_hits, 0U);
}

}  // namespace
}  // namespace falafel::c_hint_test
