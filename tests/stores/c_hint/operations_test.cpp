// Answers and costs of single operations, when clients READ, and effects of leases on memory.
#include <gtest/gtest.h>

#include <string>

#include "stores/c_hint/layout.h"
#include "tests/stores/c_hint/bytes.h"
#include "tests/stores/c_hint/store.h"

namespace falafel::c_hint_test {
namespace {

using c_hint::Answer;
using c_hint::Client;
using c_hint::GetResult;
using c_hint::Options;
using c_hint::Safeguards;

void store_read_and_remove(Client& client) {
  EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
  EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::stored);
  EXPECT_EQ(text_of(client.get(bytes_of("key")).value), "value");
  EXPECT_EQ(client.set(bytes_of("key"), {}).answer, Answer::stored);
  const GetResult empty = client.get(bytes_of("key"));
  EXPECT_EQ(empty.answer, Answer::found);
  EXPECT_TRUE(empty.value.empty());
  EXPECT_EQ(client.remove(bytes_of("key")).answer, Answer::deleted);
  EXPECT_EQ(client.remove(bytes_of("key")).answer, Answer::not_found);
  EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
  EXPECT_EQ(client.ping().answer, Answer::found);
}

TEST(Operations, StoreReadAndRemove) {
  const Options small = Types::small_options();
  for (const Options& system : {small, c_hint::original(small), c_hint::lru(small),
                                c_hint::multi_queue(small), c_hint::approximate_lru(small)}) {
    for (const auto update : {c_hint::Update::in_place_if_it_fits, c_hint::Update::out_of_place}) {
      for (const Safeguards& safeguards : {Safeguards::published(), Safeguards::hardened()}) {
        for (const bool has_backend : {true, false}) {
          StoreOptions options;
          options.options = system;
          options.has_backend = has_backend;
          options.options.update = update;
          options.options.safeguards = safeguards;
          const StoreRun run = run_client(
              options, [](fabric::Host&, Client& client) { store_read_and_remove(client); });
          EXPECT_EQ(describe(run), "");
        }
      }
    }
  }
}

TEST(Operations, RefuseWhatIsNoKeyOrTooLarge) {
  const StoreRun run = run_client({}, [](fabric::Host&, Client& client) {
    const std::vector<std::byte> large(512);
    EXPECT_EQ(client.get({}).answer, Answer::invalid_key);
    EXPECT_EQ(client.set({}, {}).answer, Answer::invalid_key);
    EXPECT_EQ(client.remove({}).answer, Answer::invalid_key);
    EXPECT_EQ(client.set(bytes_of("key"), large).answer, Answer::value_too_large);
    EXPECT_EQ(client.get(large).answer, Answer::not_found);
    EXPECT_EQ(client.remove(large).answer, Answer::not_found);
  });
  EXPECT_EQ(describe(run), "");
  EXPECT_EQ(run.server.statistics.requests, 0U);
}

TEST(Operations, GetByOneReadWhileTheLeaseRuns) {
  const StoreRun run = run_client({}, [](fabric::Host& host, Client& client) {
    client.set(bytes_of("key"), bytes_of("value"));
    const GetResult by_read = client.get(bytes_of("key"));
    EXPECT_EQ(by_read.statistics.pointer_hits, 1U);
    EXPECT_EQ(by_read.statistics.verbs, 1U);
    EXPECT_EQ(by_read.statistics.round_trips, 1U);
    EXPECT_EQ(by_read.statistics.bytes_received, c_hint::item_bytes_of(3, 5));
    host.sleep_until(host.now_ns() + 10 * millisecond_ns);
    const GetResult by_message = client.get(bytes_of("key"));
    EXPECT_EQ(text_of(by_message.value), "value");
    EXPECT_EQ(by_message.statistics.expired_pointers, 1U);
    EXPECT_EQ(by_message.statistics.message_gets, 1U);
    EXPECT_EQ(client.get(bytes_of("key")).statistics.pointer_hits, 1U);
  });
  EXPECT_EQ(describe(run), "");
  EXPECT_EQ(run.server.statistics.requests, 2U);
}

// Another client's change is seen by the version, by the mark, or by other contents.
TEST(Operations, NoticeWhatOthersChanged) {
  for (const auto update : {c_hint::Update::in_place_if_it_fits, c_hint::Update::out_of_place}) {
    StoreOptions options;
    options.options.update = update;
    TestStore store(options);
    int turn = 0;
    store.add_client([&](fabric::Host& host, Client& client) {
      client.set(bytes_of("key"), bytes_of("old"));
      turn = 1;
      while (turn != 2) host.sleep_until(host.now_ns() + microsecond_ns);
      const GetResult result = client.get(bytes_of("key"));
      EXPECT_EQ(text_of(result.value), "new");
      EXPECT_EQ(result.statistics.changed_items, 1U);
    });
    store.add_client([&](fabric::Host& host, Client& client) {
      while (turn != 1) host.sleep_until(host.now_ns() + microsecond_ns);
      client.set(bytes_of("key"), bytes_of("new"));
      turn = 2;
    });
    EXPECT_EQ(describe(store.run()), "");
  }
}

TEST(Operations, ReadThroughWhatIsNotCached) {
  StoreOptions options;
  options.options.safeguards = Safeguards::hardened();
  TestStore store(options);
  store.add_client([&](fabric::Host& host, Client& client) {
    client.set(bytes_of("key"), bytes_of("value"));
    store.restart_server(host);
    const GetResult result = client.get(bytes_of("key"));
    EXPECT_EQ(text_of(result.value), "value");
    EXPECT_EQ(result.statistics.pointer_hits, 0U);
    EXPECT_EQ(client.get(bytes_of("key")).statistics.pointer_hits, 1U);
  });
  const StoreRun run = store.run();
  EXPECT_EQ(describe(run), "");
  EXPECT_EQ(run.server.statistics.shard.misses, 1U);
}

// Sixteen items of one block fill the memory.
std::string key_of(int number) { return "key " + std::to_string(number); }

TEST(Eviction, WaitsForLeases) {
  StoreOptions options;
  options.options.safeguards = Safeguards::hardened();
  const StoreRun run = run_client(options, [](fabric::Host& host, Client& client) {
    for (int number = 0; number < 17; ++number) {
      EXPECT_EQ(client.set(bytes_of(key_of(number)), bytes_of("v")).answer, Answer::stored);
    }
    EXPECT_EQ(client.get(bytes_of(key_of(0))).statistics.pointer_hits, 1U);
    EXPECT_EQ(client.get(bytes_of(key_of(16))).statistics.pointer_hits, 0U);
    host.sleep_until(host.now_ns() + 20 * millisecond_ns);
    EXPECT_EQ(text_of(client.get(bytes_of(key_of(16))).value), "v");
    EXPECT_EQ(client.get(bytes_of(key_of(16))).statistics.pointer_hits, 1U);
  });
  EXPECT_EQ(describe(run), "");
  EXPECT_EQ(run.server.statistics.directory.evictions, 1U);
  EXPECT_EQ(run.server.statistics.directory.refusals, 2U);
}

TEST(Eviction, LosesValuesWithoutABackend) {
  StoreOptions options;
  options.has_backend = false;
  const StoreRun run = run_client(options, [](fabric::Host& host, Client& client) {
    for (int number = 0; number < 16; ++number) {
      EXPECT_EQ(client.set(bytes_of(key_of(number)), bytes_of("v")).answer, Answer::stored);
    }
    EXPECT_EQ(client.set(bytes_of(key_of(16)), bytes_of("v")).answer, Answer::out_of_memory);
    host.sleep_until(host.now_ns() + 20 * millisecond_ns);
    EXPECT_EQ(client.set(bytes_of(key_of(16)), bytes_of("v")).answer, Answer::stored);
    EXPECT_EQ(client.get(bytes_of(key_of(0))).answer, Answer::not_found);
    EXPECT_EQ(client.get(bytes_of(key_of(1))).answer, Answer::found);
  });
  EXPECT_EQ(describe(run), "");
}

// The first client's lease of "key" lasts 5.5 milliseconds, because half of the memory is free.
// When it is full, the second client gets one of 1, and the server forgets the first one. It evicts
// the item in vain for a larger one, so nothing overwrites it, and a REMOVE finds nothing to mark.
GetResult get_after_a_shorter_lease(const Safeguards& safeguards) {
  StoreOptions options;
  options.options.safeguards = safeguards;
  options.options.queues = 1;
  options.options.probes = 8;
  options.options.items_bytes = 512;
  options.options.unit_of_empty_memory_ns = 10 * millisecond_ns;
  options.options.unit_of_full_memory_ns = millisecond_ns;
  TestStore store(options);
  int turn = 0;
  GetResult result;
  store.add_client([&](fabric::Host& host, Client& client) {
    for (const char* const key : {"1", "2", "3", "key"}) client.set(bytes_of(key), bytes_of("old"));
    turn = 1;
    while (turn != 2) host.sleep_until(host.now_ns() + microsecond_ns);
    result = client.get(bytes_of("key"));
  });
  store.add_client([&](fabric::Host& host, Client& client) {
    while (turn != 1) host.sleep_until(host.now_ns() + microsecond_ns);
    for (const char* const key : {"5", "6", "7", "8"}) client.set(bytes_of(key), bytes_of("v"));
    client.get(bytes_of("key"));
    host.sleep_until(host.now_ns() + 3 * millisecond_ns);
    client.set(bytes_of("large"), std::vector<std::byte>(100));
    EXPECT_EQ(client.remove(bytes_of("key")).answer, Answer::deleted);
    turn = 2;
  });
  EXPECT_EQ(describe(store.run()), "");
  return result;
}

TEST(Leases, ShorterOnesLetTheServerForgetLongerOnes) {
  Safeguards without = Safeguards::hardened();
  without.lease_never_shortens = false;
  without.clock_margin = false;
  EXPECT_EQ(text_of(get_after_a_shorter_lease(without).value), "old");
  EXPECT_EQ(get_after_a_shorter_lease(Safeguards::hardened()).answer, Answer::not_found);
}

TEST(Reclamation, OfRemovedItemsWaitsForLeases) {
  const StoreRun run = run_client({}, [](fabric::Host&, Client& client) {
    client.set(bytes_of("key"), bytes_of("value"));
    client.remove(bytes_of("key"));
  });
  EXPECT_EQ(describe(run), "");
  EXPECT_EQ(run.server.waiting.size(), 1U);
  EXPECT_EQ(run.server.free_bytes, 1'024U - 64U);
}

TEST(Reclamation, MarksReplacedItems) {
  StoreOptions options;
  options.options.update = c_hint::Update::out_of_place;
  const StoreRun run = run_client(options, [](fabric::Host&, Client& client) {
    client.set(bytes_of("key"), bytes_of("old"));
    client.set(bytes_of("key"), bytes_of("new"));
  });
  EXPECT_EQ(describe(run), "");
  ASSERT_EQ(run.server.waiting.size(), 1U);
  const std::uint64_t offset = run.server.waiting.begin()->second;
  const auto view =
      c_hint::parse_item({c_hint::Verification::versions},
                         std::span(run.server.memory).subspan(offset, c_hint::item_bytes_of(3, 3)));
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->header.state, c_hint::ItemState::deleted);
}

TEST(Reports, RenewLeases) {
  for (const auto path : {c_hint::ReportPath::write_and_notify, c_hint::ReportPath::message}) {
    StoreOptions options;
    options.options.report = path;
    const StoreRun run = run_client(options, [](fabric::Host& host, Client& client) {
      client.set(bytes_of("key"), bytes_of("value"));
      EXPECT_EQ(client.get(bytes_of("key")).statistics.pointer_hits, 1U);
      host.sleep_until(host.now_ns() + 8 * millisecond_ns);
      const c_hint::Result reported = client.report();
      EXPECT_EQ(reported.answer, Answer::found);
      EXPECT_EQ(reported.statistics.renewed_leases, 1U);
      host.sleep_until(host.now_ns() + 8 * millisecond_ns);
      EXPECT_EQ(client.get(bytes_of("key")).statistics.pointer_hits, 1U);
    });
    EXPECT_EQ(describe(run), "");
    EXPECT_EQ(run.server.statistics.directory.renewals, 1U);
  }
}

TEST(Reports, AreSentWhenTheyAreDue) {
  StoreOptions options;
  options.options.report_interval_ns = millisecond_ns;
  const StoreRun run = run_client(options, [](fabric::Host& host, Client& client) {
    client.set(bytes_of("key"), bytes_of("value"));
    EXPECT_EQ(client.get(bytes_of("key")).statistics.reports, 0U);
    host.sleep_until(host.now_ns() + millisecond_ns);
    EXPECT_EQ(client.get(bytes_of("key")).statistics.reports, 1U);
    EXPECT_EQ(client.get(bytes_of("key")).statistics.reports, 0U);
  });
  EXPECT_EQ(describe(run), "");
}

TEST(Reports, OfItemsThatAreGoneRenewNothing) {
  TestStore store({});
  store.add_client([&](fabric::Host& host, Client& client) {
    client.set(bytes_of("key"), bytes_of("value"));
    store.restart_server(host);
    const c_hint::Result reported = client.report();
    EXPECT_EQ(reported.statistics.renewed_leases, 0U);
  });
  EXPECT_EQ(describe(store.run()), "");
}

TEST(Fragmentation, SwitchesReadsOff) {
  StoreOptions options;
  options.options.least_contiguous_percent = 75;
  const StoreRun run = run_client(options, [](fabric::Host&, Client& client) {
    client.set(bytes_of("key"), bytes_of("value"));  // 512 of 960 free bytes are in one block
    const GetResult result = client.get(bytes_of("key"));
    EXPECT_EQ(text_of(result.value), "value");
    EXPECT_EQ(result.statistics.pointer_hits, 0U);
  });
  EXPECT_EQ(describe(run), "");
}

}  // namespace
}  // namespace falafel::c_hint_test
