// The time to live of items (C-Hint 3.5): when they are gone, and what clients can still READ.
#include <gtest/gtest.h>

#include "tests/stores/c_hint/bytes.h"
#include "tests/stores/c_hint/store.h"

namespace falafel::c_hint_test {
namespace {

using c_hint::Answer;
using c_hint::Client;
using c_hint::GetResult;
using c_hint::Safeguards;

constexpr std::uint64_t life_ns = 2 * millisecond_ns;  // leases last 10 milliseconds

StoreOptions hardened() {
  StoreOptions options;
  options.options.safeguards = Safeguards::hardened();
  return options;
}

void sleep(fabric::Host& host, std::uint64_t duration_ns) {
  host.sleep_until(host.now_ns() + duration_ns);
}

void set_and_outlive(fabric::Host& host, Client& client) {
  EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value"), life_ns).answer, Answer::stored);
  sleep(host, life_ns - millisecond_ns);
  EXPECT_EQ(client.get(bytes_of("key")).statistics.pointer_hits, 1U);
  sleep(host, millisecond_ns);
}

TEST(Lives, EndForReadsAndMessages) {
  for (const auto form : {c_hint::LeaseForm::term, c_hint::LeaseForm::absolute_end}) {
    for (const auto kind : {c_hint::LeaseKind::by_popularity, c_hint::LeaseKind::endless}) {
      for (const bool has_backend : {true, false}) {
        StoreOptions options = hardened();
        options.has_backend = has_backend;
        options.options.lease_in_reply = form;
        options.options.lease = kind;
        options.options.clock_error_ns = 0;
        const StoreRun run = run_client(options, [](fabric::Host& host, Client& client) {
          set_and_outlive(host, client);
          const GetResult late = client.get(bytes_of("key"));
          EXPECT_EQ(late.answer, Answer::not_found);
          EXPECT_EQ(late.statistics.expired_pointers, 1U);
        });
        EXPECT_EQ(describe(run), "");
        EXPECT_EQ(run.server.statistics.shard.expirations, 1U);
        EXPECT_EQ(run.server.free_bytes, 1'024U);
      }
    }
  }
}

TEST(Lives, OfRemovedAndReportedItemsHaveEnded) {
  for (const bool reports : {true, false}) {
    const StoreRun run = run_client(hardened(), [&](fabric::Host& host, Client& client) {
      set_and_outlive(host, client);
      if (reports) {
        EXPECT_EQ(client.report().statistics.renewed_leases, 0U);
        EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
      }
      EXPECT_EQ(client.remove(bytes_of("key")).answer, Answer::not_found);
    });
    EXPECT_EQ(describe(run), "");
    EXPECT_EQ(run.server.statistics.shard.expirations, 1U);
  }
}

// The last SET decides, also where it changes an item in place whose lease is longer.
TEST(Lives, AreThoseOfTheLastSet) {
  for (const auto update : {c_hint::Update::in_place_if_it_fits, c_hint::Update::out_of_place}) {
    StoreOptions options = hardened();
    options.options.update = update;
    const StoreRun run = run_client(options, [](fabric::Host& host, Client& client) {
      client.set(bytes_of("shorter"), bytes_of("value"));
      client.set(bytes_of("shorter"), bytes_of("new"), life_ns);
      client.set(bytes_of("endless"), bytes_of("value"), life_ns);
      client.set(bytes_of("endless"), bytes_of("new"));
      sleep(host, life_ns);
      EXPECT_EQ(client.get(bytes_of("shorter")).answer, Answer::not_found);
      EXPECT_EQ(text_of(client.get(bytes_of("endless")).value), "new");
    });
    EXPECT_EQ(describe(run), "");
  }
}

TEST(Lives, EndInTheBackend) {
  TestStore store(hardened());
  store.add_client([&](fabric::Host& host, Client& client) {
    client.set(bytes_of("key"), bytes_of("value"), life_ns);
    client.set(bytes_of("other"), bytes_of("value"), life_ns);
    store.restart_server(host);
    EXPECT_EQ(text_of(client.get(bytes_of("key")).value), "value");
    EXPECT_EQ(client.get(bytes_of("key")).statistics.pointer_hits, 1U);
    sleep(host, life_ns);
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
    EXPECT_EQ(client.remove(bytes_of("other")).answer, Answer::not_found);
  });
  EXPECT_EQ(describe(store.run()), "");
}

// As published, a lease may be longer than the life. The server notices the end when somebody asks
// for the item; from then on, the mark stops READs, and the memory waits for the lease.
TEST(Lives, ThatLeasesOutliveEndAtTheNextMessage) {
  TestStore store({});
  int turn = 0;
  store.add_client([&](fabric::Host& host, Client& client) {
    client.set(bytes_of("key"), bytes_of("value"), life_ns);
    sleep(host, life_ns);
    const GetResult expired = client.get(bytes_of("key"));
    EXPECT_EQ(text_of(expired.value), "value");
    EXPECT_EQ(expired.statistics.pointer_hits, 1U);
    turn = 1;
    while (turn != 2) sleep(host, microsecond_ns);
    const GetResult marked = client.get(bytes_of("key"));
    EXPECT_EQ(marked.answer, Answer::not_found);
    EXPECT_EQ(marked.statistics.changed_items, 1U);
  });
  store.add_client([&](fabric::Host& host, Client& client) {
    while (turn != 1) sleep(host, microsecond_ns);
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
    turn = 2;
  });
  const StoreRun run = store.run();
  EXPECT_EQ(describe(run), "");
  EXPECT_EQ(run.server.waiting.size(), 1U);
}

}  // namespace
}  // namespace falafel::c_hint_test
