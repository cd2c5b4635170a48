// The server grows: it takes all connections down, and clients connect again.
#include <gtest/gtest.h>

#include <string>

#include "tests/stores/pilaf/bytes.h"
#include "tests/stores/pilaf/store.h"

namespace falafel::pilaf_test {
namespace {

using pilaf::Answer;
using pilaf::Client;
using pilaf::PutOnReset;

StoreOptions tiny_store() {
  StoreOptions options;
  options.options.table_entries = 4;
  options.options.extents_bytes = 256;
  return options;
}

Bytes key_of(int number) { return bytes_of("key " + std::to_string(number)); }

// Stores this number of keys, and finds each of them at the end.
void fill(Client& client, int keys, bool expects_answers) {
  for (int number = 0; number < keys; ++number) {
    const Answer answer = client.set(key_of(number), key_of(number)).answer;
    EXPECT_TRUE(answer == Answer::stored || !expects_answers);
  }
  for (int number = 0; number < keys; ++number) {
    const auto found = client.get(key_of(number));
    EXPECT_EQ(found.answer, Answer::found) << number;
    EXPECT_EQ(found.value, key_of(number));
  }
}

class Growth : public testing::TestWithParam<pilaf::Announcement> {};

TEST_P(Growth, KeepsAllKeys) {
  StoreOptions options = tiny_store();
  options.options.announce = GetParam();
  TestStore store(options);
  std::uint64_t reconnections = 0;
  store.add_client([&](fabric::Host&, Client& client) {
    // The requests that make the server grow have no reply, but are carried out.
    fill(client, 40, false);
    reconnections = client.statistics().reconnections;
  });
  const StoreRun run = store.run();
  EXPECT_EQ(describe(run), "");
  EXPECT_EQ(run.server.statistics.keys, 40U);
  EXPECT_GE(run.server.statistics.table_growths, 4U);
  EXPECT_GE(run.server.statistics.extents_growths, 4U);
  EXPECT_GE(reconnections, 5U);  // one request can make both grow
}
INSTANTIATE_TEST_SUITE_P(Announced, Growth,
                         testing::Values(pilaf::Announcement::none,
                                         pilaf::Announcement::message_first));

TEST(Growing, IsNoUnknownOutcomeForClientsThatSendAgain) {
  StoreOptions options = tiny_store();
  options.options.put_on_reset = PutOnReset::send_again;
  options.options.safeguards = pilaf::Safeguards::hardened();
  TestStore store(options);
  store.add_client([](fabric::Host&, Client& client) { fill(client, 40, true); });
  const StoreRun run = store.run();
  EXPECT_EQ(describe(run), "");
  EXPECT_GE(run.server.statistics.requests_repeated, 4U);
}

TEST(Growing, IsNoticedByAClientThatOnlyReads) {
  TestStore store(tiny_store());
  bool has_grown = false;
  store.add_client([&](fabric::Host&, Client& client) {
    fill(client, 40, false);
    has_grown = true;
  });
  store.add_client([&](fabric::Host& host, Client& client) {
    while (!has_grown) host.sleep_until(host.now_ns() + 10 * microsecond_ns);
    EXPECT_EQ(client.get(key_of(39)).answer, Answer::found);
    EXPECT_GE(client.statistics().reconnections, 1U);
  });
  EXPECT_EQ(describe(store.run()), "");
}

TEST(Growing, FailsWithoutMemoryAndKeepsTheClients) {
  StoreOptions options = tiny_store();
  options.server_max_registrations = 3;  // the two areas, and the buffers of one client
  TestStore store(options);
  store.add_client([](fabric::Host&, Client& client) {
    Answer answer = Answer::stored;
    int stored = 0;
    while (answer == Answer::stored) answer = client.set(key_of(stored++), {}).answer;
    EXPECT_EQ(answer, Answer::out_of_memory);
    EXPECT_EQ(client.get(key_of(0)).answer, Answer::found);
    EXPECT_EQ(client.remove(key_of(0)).answer, Answer::deleted);
    EXPECT_EQ(client.statistics().reconnections, 0U);
  });
  EXPECT_EQ(describe(store.run()), "");
}

}  // namespace
}  // namespace falafel::pilaf_test
