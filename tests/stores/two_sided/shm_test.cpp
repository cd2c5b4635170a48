// Troost's store on shared memory, with real threads: the histories of several clients on few keys
// are linearizable, whether threads poll or block.
#include "stores/two_sided/client.h"
#include "stores/two_sided/invariants.h"
#include "stores/two_sided/server.h"
#include "tests/hang_limit.h"
#include "tests/stores/load/shared_memory.h"

namespace falafel::two_sided_test {
namespace {

using two_sided::Answer;
using two_sided::Client;
using two_sided::Server;

class TwoSidedOnSharedMemory : public stores_test::SharedMemory {
 protected:
  // There may be more threads that poll than processors. Operations then take several time slices.
  void run(two_sided::Waiting waiting) {
    two_sided::Options options;
    options.safeguards = two_sided::Safeguards::hardened();
    options.waiting = waiting;
    options.buckets = 2;
    options.max_clients = clients;
    options.close_timeout_ns = hang_limit_ns;
    SharedMemory::run(
        [&](fabric::Host& host) { serve(host, options); },
        [&](fabric::Host& host, std::uint32_t number) { work(host, options, number); });
    const std::size_t operations = tally_.get_ns.size() + tally_.change_ns.size();
    EXPECT_EQ(requests_, operations + clients);
  }

  void serve(fabric::Host& host, const two_sided::Options& options) {
    const auto server = Server::start(host, options).value();
    serve_clients(host);
    const two_sided::ServerInspection inspection = server->inspect();
    EXPECT_EQ(two_sided::find_problems(inspection), std::vector<std::string>());
    requests_ = inspection.statistics.requests;
  }

  void work(fabric::Host& host, const two_sided::Options& options, std::uint32_t number) {
    auto client = Client::connect(host, {.host = "server", .service = options.service}, options);
    ASSERT_TRUE(client) << client.error().detail;
    operate(host, stores_test::ServedClient(**client), number);
    EXPECT_EQ((*client)->close().answer, Answer::deleted);
  }

  std::uint64_t requests_ = 0;
};

TEST_F(TwoSidedOnSharedMemory, PollingThreadsAreLinearizable) { run(two_sided::Waiting::polling); }

TEST_F(TwoSidedOnSharedMemory, BlockingThreadsAreLinearizable) {
  run(two_sided::Waiting::blocking);
}

}  // namespace
}  // namespace falafel::two_sided_test
