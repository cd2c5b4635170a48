// Tests how a client treats wrong checksums.
#include <gtest/gtest.h>

#include "tests/stores/pilaf/bytes.h"
#include "tests/stores/pilaf/store.h"

namespace falafel::pilaf_test {
namespace {

using pilaf::Answer;
using pilaf::Client;
using pilaf::Safeguards;

// A table of one slot, so the tests know where the key is.
StoreOptions store_of_one_slot(const Safeguards& safeguards) {
  StoreOptions options;
  options.options.table_entries = 1;
  options.options.safeguards = safeguards;
  return options;
}

TEST(Lookup, AnswersBusyBeyondTheLimitOfRetries) {
  StoreOptions options = store_of_one_slot(Safeguards::published());
  options.options.max_retries = 5;
  TestStore store(options);
  store.add_client([&](fabric::Host&, Client& client) {
    client.set(bytes_of("key"), bytes_of("value"));
    store.damage_entry(0);
    const auto result = client.get(bytes_of("key"));
    EXPECT_EQ(result.answer, Answer::busy);
    EXPECT_EQ(result.statistics.entry_retries, 6U);
    store.damage_entry(0);  // repairs it
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::found);
  });
  EXPECT_EQ(describe(store.run()), "");
}

TEST(Lookup, AsksTheServerBeyondTheLimitOfRetries) {
  StoreOptions options = store_of_one_slot(Safeguards::hardened());
  options.options.retries_before_message = 5;
  TestStore store(options);
  store.add_client([&](fabric::Host&, Client& client) {
    client.set(bytes_of("key"), bytes_of("value"));
    store.damage_entry(0);
    const auto result = client.get(bytes_of("key"));
    EXPECT_EQ(text_of(result.value), "value");
    EXPECT_EQ(result.statistics.entry_retries, 6U);
    EXPECT_EQ(result.statistics.message_gets, 1U);
    store.damage_entry(0);
  });
  EXPECT_EQ(describe(store.run()), "");
}

TEST(Lookup, ReadsTheEntryAgainAfterADamagedExtent) {
  StoreOptions options = store_of_one_slot(Safeguards::published());
  options.options.max_retries = 2;
  TestStore store(options);
  store.add_client([&](fabric::Host&, Client& client) {
    client.set(bytes_of("key"), bytes_of("value"));
    store.damage_extent(0);
    const auto result = client.get(bytes_of("key"));
    EXPECT_EQ(result.answer, Answer::busy);
    EXPECT_EQ(result.statistics.extent_retries, 3U);
    EXPECT_EQ(result.statistics.round_trips, 6U);
    store.damage_extent(0);
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::found);
  });
  EXPECT_EQ(describe(store.run()), "");
}

}  // namespace
}  // namespace falafel::pilaf_test
