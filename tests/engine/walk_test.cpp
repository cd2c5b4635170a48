// Double collect, word by word: which changes between the two passes over a chain are permitted.
#include "engine/client/walk.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/client/pending_operation.h"
#include "engine/client/session.h"
#include "engine/layout/status_line.h"
#include "tests/engine/planted.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::Entry;
using engine::Walk;
using Validation = Walk::Validation;

constexpr std::uint64_t first_slot = 5;
constexpr std::uint64_t end_slot = first_slot + 3;  // the empty end of the chain
constexpr std::uint32_t tag_bits = 30;

struct Change {
  std::string name;
  std::function<void(Server&)> apply;
  Validation by_words;
  Validation by_keys;
};

void change_entry(Server& server, std::uint64_t slot, Entry (*change)(Entry)) {
  store_entry(server, slot, change(load_entry(server, slot)));
}

void advance_rebindings(Server& server, std::uint64_t steps) {
  server.memory().store(engine::rebindings_offset,
                        server.memory().load(engine::rebindings_offset) + steps);
}

Entry overwritten(Entry entry) {
  return entry.moved_to(entry.reference() + 4).with_next_tag(tag_bits);
}

std::vector<Change> changes() {
  return {
      {"nothing", [](Server&) {}, Validation::unchanged, Validation::unchanged},
      {"a key is overwritten",
       [](Server& server) { change_entry(server, first_slot, overwritten); }, Validation::changed,
       Validation::unchanged},
      {"a key is deleted",
       [](Server& server) {
         change_entry(server, first_slot + 1, [](Entry entry) { return entry.with_deleted(); });
       },
       Validation::changed, Validation::unchanged},
      {"all keys are overwritten",
       [](Server& server) {
         for (std::uint64_t slot = first_slot; slot < end_slot; ++slot) {
           change_entry(server, slot, overwritten);
         }
       },
       Validation::changed, Validation::unchanged},
      {"a cleanup is through, and a key is overwritten",
       [](Server& server) {
         advance_rebindings(server, 2);
         change_entry(server, first_slot, overwritten);
       },
       Validation::changed, Validation::changed},
      {"a cleanup has begun, and a key is overwritten",
       [](Server& server) {
         advance_rebindings(server, 1);
         change_entry(server, first_slot, overwritten);
       },
       Validation::changed, Validation::changed},
      {"a cleanup elsewhere is through", [](Server& server) { advance_rebindings(server, 2); },
       Validation::unchanged, Validation::unchanged},
      {"an entry is locked",
       [](Server& server) {
         change_entry(server, first_slot, [](Entry entry) { return entry.with_locked(); });
       },
       Validation::changed, Validation::changed},
      {"an entry becomes empty",
       [](Server& server) {
         change_entry(server, first_slot,
                      [](Entry entry) { return entry.pointing_to(0).with_next_tag(tag_bits); });
       },
       Validation::changed, Validation::changed},
      {"a key is inserted at the end",
       [](Server& server) {
         const Entry inserted =
             load_entry(server, first_slot).with_tag_of(load_entry(server, end_slot));
         store_entry(server, end_slot, inserted.with_next_tag(tag_bits));
       },
       Validation::changed, Validation::changed},
      {"the end was another one's meanwhile",
       [](Server& server) {
         change_entry(server, end_slot, [](Entry entry) { return entry.with_next_tag(tag_bits); });
       },
       Validation::changed, Validation::changed},
  };
}

// Three occupied entries and an empty one, read in two chunks, changed, and read again.
Validation validate(TestStore& store, fabric::Host& host, Walk::By by, const Change& change,
                    std::uint64_t rebindings_before) {
  Server& server = *store.server();
  const Entry occupied =
      Entry{}.pointing_to(server.geometry().to_units(server.geometry().region_offset(0)));
  for (std::uint64_t slot = first_slot; slot < end_slot; ++slot)
    store_entry(server, slot, occupied);
  server.memory().store(engine::rebindings_offset, rebindings_before);

  const auto session = std::make_shared<engine::Session>(
      host, engine::ClientOptions{.readahead = {.chunk_entries = 2}});
  EXPECT_TRUE(session->open(store.address()));
  auto result = Validation::disconnected;
  {
    engine::PendingOperation operation(engine::OperationContext{session});
    operation.begin();
    Walk walk(operation, first_slot, by);
    EXPECT_TRUE(walk.read_chunk());
    EXPECT_TRUE(walk.read_chunk());
    EXPECT_EQ(walk.occupied_entries(), 1U);
    change.apply(server);
    result = walk.validate(1);
  }
  session->close();
  for (std::uint64_t slot = first_slot; slot <= end_slot; ++slot)
    store_entry(server, slot, Entry{});
  server.memory().store(engine::rebindings_offset, 0);
  return result;
}

void run_walks(const std::function<void(TestStore&, fabric::Host&)>& body) {
  fabric::FiberStackPool stacks;
  StoreOptions options;
  options.server.geometry.table_entries = 16;
  options.server.cleanup_percent = 100;
  TestStore store(options, stacks);
  store.add_host("client", [&](fabric::Host& host) { body(store, host); });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

TEST(Walk, ComparesWordsOrKeys) {
  run_walks([](TestStore& store, fabric::Host& host) {
    for (const Change& change : changes()) {
      EXPECT_EQ(validate(store, host, Walk::By::words, change, 6), change.by_words) << change.name;
      EXPECT_EQ(validate(store, host, Walk::By::keys, change, 6), change.by_keys) << change.name;
    }
  });
}

// During a cleanup, only unchanged words are meaningful.
TEST(Walk, WaitsForACleanupOnlyIfWordsHaveChanged) {
  run_walks([](TestStore& store, fabric::Host& host) {
    for (const Change& change : changes()) {
      const Validation expected =
          change.by_words == Validation::changed ? Validation::cleaning : Validation::unchanged;
      EXPECT_EQ(validate(store, host, Walk::By::keys, change, 7), expected) << change.name;
    }
  });
}

}  // namespace
}  // namespace falafel::engine_test
