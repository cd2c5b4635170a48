// C-Hint on shared memory, with real threads: the histories of several clients on few keys are
// linearizable, through evictions and the ends of leases.
#include <fmt/format.h>

#include <functional>
#include <utility>

#include "stores/c_hint/client.h"
#include "stores/c_hint/invariants.h"
#include "stores/c_hint/server.h"
#include "tests/stores/load/shared_memory.h"

namespace falafel::c_hint_test {
namespace {

using c_hint::Client;
using c_hint::Server;
using stores_test::millisecond_ns;

// Leases that outlast several operations of a busy machine.
constexpr std::uint64_t shortest_lease_ns = 5 * millisecond_ns;
constexpr std::uint32_t queues = 8;
constexpr std::uint64_t most_items = 4;

c_hint::Options small_options() {
  c_hint::Options options;
  options.safeguards = c_hint::Safeguards::hardened();
  options.items_bytes = most_items * options.min_block_bytes;
  options.queues = queues;
  options.unit_of_empty_memory_ns = shortest_lease_ns;
  options.unit_of_full_memory_ns = shortest_lease_ns;
  options.report_interval_ns = millisecond_ns;
  options.clock_error_ns = 10'000;
  options.max_clients = 8;
  options.acknowledge_timeout_ns = 10 * millisecond_ns;
  return options;
}

// Now and then, all clients rest together until all leases have ended. Then each stores keys that
// nobody reads, more than the memory holds, so the server has to evict and can. These keys have
// leases, too: without another rest, they would keep the memory until the next one, and no client
// would get a pointer.
class RestingClient final : public stores_test::AnyClient {
 public:
  // `meet` returns when all clients have called it.
  RestingClient(fabric::Host& host, Client& client, std::uint32_t number,
                std::function<void()> meet)
      : host_(host), client_(client), number_(number), meet_(std::move(meet)) {}

  stores_test::Found get(std::string_view key) override {
    rest();
    return client_.get(key);
  }
  stores_test::Answer set(std::string_view key, std::string_view value) override {
    rest();
    return client_.set(key, value);
  }
  stores_test::Answer remove(std::string_view key) override {
    rest();
    return client_.remove(key);
  }

 private:
  void rest() {
    constexpr std::uint64_t operations_between = 100;
    if (++operations_ % operations_between != 0) return;
    meet_();
    let_leases_end();
    for (std::uint64_t item = 0; item <= most_items; ++item) {
      client_.set(fmt::format("unread {}.{}", number_, item), "value");
    }
    meet_();
    let_leases_end();
  }
  void let_leases_end() { host_.sleep_until(host_.now_ns() + 2 * queues * shortest_lease_ns); }

  fabric::Host& host_;
  stores_test::ServedClient<Client> client_;
  std::uint32_t number_;
  std::function<void()> meet_;
  std::uint64_t operations_ = 0;
};

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
    operate(host, RestingClient(host, **client, number, [&] { meet(host); }), number);
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
