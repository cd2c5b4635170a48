// Clients of one host that share their pointers and reports (C-Hint 4).
#include "stores/c_hint/node_cache.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "stores/c_hint/layout.h"
#include "tests/stores/c_hint/bytes.h"
#include "tests/stores/c_hint/store.h"

namespace falafel::c_hint_test {
namespace {

using c_hint::Client;
using c_hint::GetResult;
using c_hint::NodeCache;

// Runs two clients of one host.
void run_two(TestStore& store, const StoreOptions& options, bool share,
             const std::function<void(fabric::Host&, Client&, Client&)>& body) {
  store.add_host("clients", [&](fabric::Host& host) {
    const auto node = share ? std::make_shared<NodeCache>(options.options) : nullptr;
    const auto connect = [&] {
      return Client::connect(host, store.address(), options.options, node).value();
    };
    const auto first = connect();
    const auto second = connect();
    body(host, *first, *second);
  });
  EXPECT_EQ(describe(store.run()), "");
}

TEST(NodeCache, SharesPointers) {
  for (const bool share : {true, false}) {
    const StoreOptions options;
    TestStore store(options);
    run_two(store, options, share, [&](fabric::Host&, Client& first, Client& second) {
      first.set(bytes_of("key"), bytes_of("value"));
      const GetResult result = second.get(bytes_of("key"));
      EXPECT_EQ(text_of(result.value), "value");
      EXPECT_EQ(result.statistics.pointer_hits, share ? 1U : 0U);
    });
  }
}

// One client reports for both, with the READs of both. The SET is an access, too.
TEST(NodeCache, MergesReports) {
  for (const bool counts : {true, false}) {
    StoreOptions options;
    options.options.report_interval_ns = millisecond_ns;
    options.options.report_counts = counts;
    TestStore store(options);
    run_two(store, options, true, [&](fabric::Host& host, Client& first, Client& second) {
      first.set(bytes_of("key"), bytes_of("value"));
      for (int read = 0; read < 4; ++read) {
        first.get(bytes_of("key"));
        if (read < 3) second.get(bytes_of("key"));
      }
      host.sleep_until(host.now_ns() + millisecond_ns);
      EXPECT_EQ(second.get(bytes_of("key")).statistics.reports, 1U);
      EXPECT_EQ(first.get(bytes_of("key")).statistics.reports, 0U);
      const std::uint64_t hash = c_hint::hash_of_key(bytes_of("key"));
      EXPECT_EQ(store.server().directory_of(hash).queue_of(hash), counts ? 3U : 1U);
    });
  }
}

// The second client does not know yet that another run of the server has none of the items.
TEST(NodeCache, HasPointersOfOneRunOfTheServer) {
  const StoreOptions options;
  TestStore store(options);
  run_two(store, options, true, [&](fabric::Host& host, Client& first, Client& second) {
    first.set(bytes_of("key"), bytes_of("value"));
    store.restart_server(host);
    first.ping();
    first.set(bytes_of("key"), bytes_of("new"));
    EXPECT_TRUE(second.leased_pointers().empty());
    const GetResult result = second.get(bytes_of("key"));
    EXPECT_EQ(text_of(result.value), "new");
    EXPECT_EQ(result.statistics.reconnections, 1U);
  });
}

TEST(NodeCache, RefusesClientsOfAnotherRun) {
  NodeCache node(Types::small_options());
  node.connected_to(1, 0);
  node.pointers_of(1)->put(7, {.version = 2});
  node.connected_to(1, 0);
  EXPECT_NE(node.pointers_of(1)->find(7), nullptr);
  node.connected_to(2, 0);
  EXPECT_EQ(node.pointers_of(1), nullptr);
  EXPECT_EQ(node.pointers_of(2)->find(7), nullptr);
}

}  // namespace
}  // namespace falafel::c_hint_test
