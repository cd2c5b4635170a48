// Eviction: which values the hand deletes, that a full cache refuses no SET, and that reports of
// accesses keep values in it.
#include "engine/server/eviction.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/layout/access_report.h"
#include "engine/layout/container.h"
#include "engine/layout/pinned.h"
#include "engine/local_memory.h"
#include "engine/probes.h"
#include "engine/server/container_reader.h"
#include "engine/server/loopback.h"
#include "engine/server/processor_updater.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "tests/engine/rival_updater.h"
#include "tests/engine/small_cache.h"
#include "tests/engine/store.h"
#include "tools/scenarios/store/raw_client.h"

namespace falafel::engine_test {
namespace {

namespace probes = engine::probes;

using engine::Entry;
using engine::Eviction;

// A table of eight entries whose even slots point to values of 64 bytes in the mature space, and
// whose odd slots point into a region.
class EvictedTable {
 public:
  static constexpr std::uint64_t value_bytes = 64;
  static constexpr std::uint64_t slots = 8;

  explicit EvictedTable(fabric::Host& host)
      : chunk_{.geometry = {.table_entries = slots, .values_expire = true},
               .hash_key = {},
               .block = nullptr},
        updater_(nullptr),
        book_(chunk_.geometry),
        domain_(host.device(0).create_protection_domain()),
        connector_(host, *domain_, options_),
        reader_(host, chunk_, book_, connector_, 0,
                engine::allocate_local_memory(host, *domain_, 4'096).value()),
        moving_(host) {
    chunk_.block = host.allocate_memory(chunk_.geometry.chunk_bytes()).value();
    updater_ = std::make_unique<RivalUpdater>(std::make_unique<engine::ProcessorUpdater>(chunk_));
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
      Bytes container(engine::container_bytes(1, value_bytes));
      engine::write_container(bytes_of(std::to_string(slot)), Bytes(value_bytes), container);
      const std::uint64_t offset =
          slot % 2 == 0
              ? book_.mature().allocate(chunk_.geometry.round_up_to_unit(container.size()))
              : chunk_.geometry.region_offset(0) +
                    slot * chunk_.geometry.round_up_to_unit(container.size());
      chunk_.write(offset, container);
      set_entry(slot, Entry{}.pointing_to(chunk_.geometry.to_units(offset)));
    }
    eviction_.emplace(host, chunk_, options_, book_, *updater_, reader_, moving_, statistics_);
  }

  Eviction& eviction() { return *eviction_; }
  RivalUpdater& updater() { return *updater_; }
  const engine::ServerStatistics& statistics() const { return statistics_; }
  Entry entry(std::uint64_t slot) const { return chunk_.load_entry(slot); }
  void set_entry(std::uint64_t slot, Entry entry) {
    chunk_.block->store(chunk_.geometry.entry_offset(slot), entry.word());
  }
  void pin(std::uint64_t slot) {
    Bytes value(value_bytes);
    std::fill_n(value.begin(), engine::expiry_bytes, std::byte{0xff});
    Bytes container(engine::container_bytes(1, value_bytes));
    engine::write_container(bytes_of(std::to_string(slot)), value, container);
    chunk_.write(chunk_.geometry.to_offset(entry(slot).reference()), container);
  }
  std::string deleted() const {
    std::string text;
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
      if (entry(slot).is_deleted()) text += std::to_string(slot);
    }
    return text;
  }

 private:
  engine::Chunk chunk_;
  engine::ServerOptions options_;
  std::unique_ptr<RivalUpdater> updater_;
  engine::MemoryBook book_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  engine::LoopbackConnector connector_;
  engine::ContainerReader reader_;
  engine::FiberMutex moving_;
  engine::ServerStatistics statistics_;
  std::optional<Eviction> eviction_;
};

void on_table(const std::function<void(EvictedTable&)>& body) {
  const sim::SimulationOptions options;
  fabric::FiberStackPool stacks;
  const auto strategy = sim::make_strategy(options, 1);
  sim::Simulation simulation(options, *strategy, stacks);
  simulation.add_host({.name = "server", .role = sim::Role::server}, [&](fabric::Host& host) {
    EvictedTable table(host);
    body(table);
  });
  EXPECT_EQ(simulation.run().outcome, sim::Outcome::completed);
}

TEST(Eviction, DeletesNoMoreOfTheMatureSpaceThanItNeeds) {
  on_table([](EvictedTable& table) {
    const auto freed = table.eviction().free_memory(EvictedTable::value_bytes + 1);
    EXPECT_EQ(table.deleted(), "02");
    EXPECT_EQ(freed.entries, 2U);
    EXPECT_EQ(freed.bytes, 2 * EvictedTable::value_bytes);
    EXPECT_FALSE(freed.met_deleted);
    EXPECT_EQ(table.statistics().values_evicted, 2U);
    table.eviction().free_memory(1);  // the hand goes on
    EXPECT_EQ(table.deleted(), "024");
  });
}

TEST(Eviction, SparesAnAccessedValueOnce) {
  on_table([](EvictedTable& table) {
    table.eviction().on_accessed(0);
    table.eviction().on_accessed(4);
    table.eviction().free_memory(1);
    EXPECT_EQ(table.deleted(), "2");
    table.eviction().free_memory(EvictedTable::value_bytes * 2);
    EXPECT_EQ(table.deleted(), "026");
    table.eviction().on_accessed(4);
    table.eviction().free_memory(EvictedTable::value_bytes);
    EXPECT_EQ(table.deleted(), "0246");  // nothing else was left
  });
}

TEST(Eviction, EndsWhenNothingIsLeft) {
  on_table([](EvictedTable& table) {
    for (std::uint64_t slot = 0; slot < EvictedTable::slots; ++slot) {
      table.eviction().on_accessed(slot);
    }
    EXPECT_EQ(table.eviction().free_memory(1'000'000).entries, 4U);
    const auto freed = table.eviction().free_memory(1);
    EXPECT_EQ(freed.entries, 0U);
    EXPECT_TRUE(freed.met_deleted);
    EXPECT_EQ(table.deleted(), "0246");
  });
}

TEST(Eviction, DeletesValuesOfRegionsForTheTableOnly) {
  on_table([](EvictedTable& table) {
    EXPECT_EQ(table.eviction().free_entries(3).entries, 3U);
    EXPECT_EQ(table.deleted(), "012");
  });
}

TEST(Eviction, TouchesNeitherLockedNorEmptyEntries) {
  on_table([](EvictedTable& table) {
    const Entry locked = table.entry(0).with_locked();
    const Entry empty = table.entry(2).pointing_to(0);
    table.set_entry(0, locked);
    table.set_entry(2, empty);
    table.eviction().free_entries(100);
    EXPECT_EQ(table.entry(0), locked);
    EXPECT_EQ(table.entry(2), empty);
  });
}

TEST(Eviction, SparesPinnedValues) {
  on_table([](EvictedTable& table) {
    for (const std::uint64_t slot : {0U, 1U, 6U}) table.pin(slot);
    EXPECT_EQ(table.eviction().free_memory(1).entries, 1U);
    EXPECT_EQ(table.deleted(), "2");
    EXPECT_EQ(table.eviction().free_entries(100).entries, 4U);
    EXPECT_EQ(table.deleted(), "23457");
    EXPECT_EQ(table.eviction().free_memory(1).entries, 0U);
    EXPECT_EQ(table.eviction().free_entries(1).entries, 0U);
    EXPECT_EQ(table.deleted(), "23457");
    EXPECT_EQ(table.statistics().values_evicted, 5U);
  });
}

TEST(Eviction, DoesNotDeleteAValueThatAClientHasJustStored) {
  on_table([](EvictedTable& table) {
    const Entry stored = table.entry(1).with_next_tag(30);
    table.updater().set_rival([&](const engine::EntryUpdate& update) {
      if (update.slot == 0) table.set_entry(0, stored);
    });
    const auto freed = table.eviction().free_memory(1);
    EXPECT_EQ(table.entry(0), stored);
    EXPECT_EQ(table.deleted(), "2");
    EXPECT_EQ(freed.entries, 1U);
    EXPECT_EQ(table.statistics().updates_lost, 1U);
  });
}

// Reports

RC_GTEST_PROP(AccessReport, SurvivesItsMessage, ()) {
  engine::AccessReport report{.count = *rc::gen::inRange<std::size_t>(1, 5)};
  for (std::size_t index = 0; index < report.count; ++index) {
    report.slots[index] = *rc::gen::inRange<std::uint64_t>(0, engine::most_cache_entries);
  }
  const auto read =
      engine::to_access_report(engine::to_message(report), engine::most_cache_entries);
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->count == report.count);
  RC_ASSERT(read->slots == report.slots);
}

TEST(AccessReport, HasOneToFourSlotsOfTheTable) {
  const auto is_valid = [](std::size_t count, std::uint64_t slot) {
    const engine::AccessReport report{.count = count, .slots = {slot, slot, slot, slot}};
    return engine::to_access_report(engine::to_message(report), 10).has_value();
  };
  EXPECT_FALSE(is_valid(0, 1));
  EXPECT_TRUE(is_valid(1, 9));
  EXPECT_TRUE(is_valid(4, 9));
  EXPECT_FALSE(is_valid(4, 10));
  EXPECT_FALSE(is_valid(5, 1));
}

void send_raw_report(const StoreOptions& options, std::uint64_t slot, std::uint64_t expelled) {
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  store.add_host("raw client", [&](fabric::Host& host) {
    const auto client = store_scenario::RawClient::connect(host, store.address());
    ASSERT_NE(client, nullptr);
    client->send(engine::to_message({.count = 1, .slots = {slot}}));
    host.sleep_until(host.now_ns() + millisecond_ns);
    EXPECT_EQ(store.server()->inspect().statistics.clients_expelled, expelled);
    client->send({.kind = engine::MessageKind::goodbye});
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

TEST(AccessReport, OfNoClientIsExpelled) {
  send_raw_report(small_cache(true), 255, 0);
  send_raw_report(small_cache(true), 256, 1);
  send_raw_report(small_cache(false), 255, 0);
  StoreOptions no_cache = small_cache(false);
  no_cache.server.geometry.values_expire = false;
  send_raw_report(no_cache, 0, 1);
}

// Full caches

int stored_of(Client& client, int count, std::size_t value_bytes) {
  int stored = 0;
  for (int number = 0; number < count; ++number) {
    const Bytes key = bytes_of(fmt::format("key {}", number));
    if (client.set(key, Bytes(value_bytes)).answer == Answer::stored) ++stored;
  }
  return stored;
}

TEST(FullCache, EvictsBeforeItRefuses) {
  const StoreRun refusing = run_on_cache(small_cache(false), [](fabric::Host&, Client& client) {
    EXPECT_LT(stored_of(client, 200, 100), 50);
  });
  EXPECT_EQ(refusing.inspection.statistics.values_evicted, 0U);
  const StoreRun evicting = run_on_cache(small_cache(true), [](fabric::Host&, Client& client) {
    EXPECT_EQ(stored_of(client, 200, 100), 200);
    EXPECT_EQ(client.get(bytes_of("key 199")).answer, Answer::found);
    EXPECT_EQ(client.get(bytes_of("key 0")).answer, Answer::not_found);
  });
  EXPECT_GT(evicting.inspection.statistics.values_evicted, 150U);
  EXPECT_GT(evicting.probe(probes::value_evicted), 150U);
}

// A mature space in which keys take all the room: a cleanup has to remove them.
TEST(FullCache, RemovesTheKeysOfEvictedValues) {
  StoreOptions options = small_cache(true);
  options.server.cleanup_percent = 100;
  run_on_cache(options, [](fabric::Host&, Client& client) {
    for (int number = 0; number < 200; ++number) {
      const Bytes key = bytes_of(fmt::format("key {:0>100}", number));
      EXPECT_EQ(client.set(key, {}).answer, Answer::stored) << number;
    }
  });
}

TEST(FullCache, EvictsForASlot) {
  StoreOptions options = small_cache(true);
  options.server.geometry.table_entries = 16;
  options.server.geometry.mature_bytes = 1'048'576;
  const StoreRun run = run_on_cache(options, [](fabric::Host&, Client& client) {
    EXPECT_EQ(stored_of(client, 100, 10), 100);
    EXPECT_EQ(client.get(bytes_of("key 99")).answer, Answer::found);
  });
  EXPECT_GE(run.inspection.statistics.values_evicted, 84U);
}

int found_of(Client& client, int count) {
  int found = 0;
  for (int number = 0; number < count; ++number) {
    if (client.get(bytes_of(fmt::format("key {}", number))).answer == Answer::found) ++found;
  }
  return found;
}

// Other values come and go, and pinned ones that are overwritten or deleted make room.
TEST(FullCache, KeepsPinnedValues) {
  run_on_cache(small_cache(true), [](fabric::Host&, Client& client) {
    for (int number = 0; number < 5; ++number) {
      const Bytes key = bytes_of(fmt::format("pinned {}", number));
      EXPECT_EQ(client.set(key, Bytes(100), engine::pinned_time_to_live_ns).answer, Answer::stored);
    }
    EXPECT_EQ(stored_of(client, 200, 100), 200);
    for (int number = 0; number < 5; ++number) {
      const Bytes key = bytes_of(fmt::format("pinned {}", number));
      const engine::GetResult result = client.get(key);
      EXPECT_EQ(result.answer, Answer::found) << number;
      EXPECT_EQ(result.expires_ns, engine::pinned_expiry_ns);
      EXPECT_EQ(client.set(key, Bytes(100)).answer, Answer::stored);
    }
    EXPECT_EQ(stored_of(client, 200, 100), 200);
    EXPECT_EQ(client.get(bytes_of("pinned 0")).answer, Answer::not_found);
  });
}

// Returns the number of values that were stored before the first refusal, which has this answer.
int pinned_until_full(Client& client, Answer refusal) {
  for (int number = 0; number < 1'000; ++number) {
    const Bytes key = bytes_of(fmt::format("key {}", number));
    const Answer answer = client.set(key, Bytes(100), engine::pinned_time_to_live_ns).answer;
    if (answer == Answer::stored) continue;
    EXPECT_EQ(answer, refusal);
    return number;
  }
  return 1'000;
}

TEST(FullCache, RefusesIfAllValuesArePinned) {
  const StoreRun run = run_on_cache(small_cache(true), [](fabric::Host& host, Client& client) {
    const int pinned = pinned_until_full(client, Answer::out_of_memory);
    EXPECT_GT(pinned, 10);
    EXPECT_EQ(found_of(client, pinned), pinned);
    for (int number = 0; number < pinned; ++number) {
      client.remove(bytes_of(fmt::format("key {}", number)));
    }
    host.sleep_until(host.now_ns() + millisecond_ns);
    EXPECT_EQ(stored_of(client, 200, 100), 200);
  });
  EXPECT_GT(run.probe(probes::value_spared), 0U);
}

TEST(FullCache, RefusesIfAllEntriesArePinned) {
  StoreOptions options = small_cache(true);
  options.server.geometry.table_entries = 16;
  options.server.geometry.mature_bytes = 1'048'576;
  run_on_cache(options, [](fabric::Host&, Client& client) {
    EXPECT_EQ(pinned_until_full(client, Answer::table_full), 16);
    EXPECT_EQ(found_of(client, 16), 16);
    EXPECT_EQ(client.remove(bytes_of("key 3")).answer, Answer::deleted);
    EXPECT_EQ(client.set(bytes_of("another"), Bytes(100)).answer, Answer::stored);
    EXPECT_EQ(client.set(bytes_of("one more"), Bytes(100)).answer, Answer::stored);
    EXPECT_EQ(found_of(client, 16), 15);
  });
}

TEST(FullCache, KeepsWhatClientsRead) {
  run_on_cache(small_cache(true), [](fabric::Host&, Client& client) {
    const Bytes hot = bytes_of("hot");
    client.set(hot, Bytes(100));
    int found = 0;
    for (int number = 0; number < 300; ++number) {
      client.set(bytes_of(fmt::format("key {}", number)), Bytes(100));
      for (int access = 0; access < 20; ++access) {
        if (client.get(hot).answer == Answer::found) ++found;
      }
    }
    EXPECT_GT(found, 5'000);  // of 6,000
  });
}

TEST(FullCache, IsOnlyAnOptionOfCaches) {
  fabric::FiberStackPool stacks;
  const sim::SimulationOptions options;
  const auto strategy = sim::make_strategy(options, 1);
  sim::Simulation simulation(options, *strategy, stacks);
  simulation.add_host({.name = "server", .role = sim::Role::server}, [](fabric::Host& host) {
    const auto refused = engine::Server::start(host, {.evicts = true});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, fabric::ErrorCode::invalid_argument);
    EXPECT_NE(refused.error().detail.find("evicts"), std::string::npos);
  });
  EXPECT_EQ(simulation.run().outcome, sim::Outcome::completed);
}

// The model is a map that may lose a key at any time.
RC_GTEST_PROP(FullCache, NeverFindsAnOldValue, ()) {
  enum class Kind : std::uint8_t { get, set, remove };
  struct Step {
    Kind kind;
    int key;
    std::size_t bytes;
  };
  const auto steps = *rc::gen::container<std::vector<Step>>(rc::gen::exec([] {
    return Step{.kind = *rc::gen::weightedElement<Kind>(
                    {{4, Kind::get}, {6, Kind::set}, {1, Kind::remove}}),
                .key = *rc::gen::inRange(0, 30),
                .bytes = *rc::gen::inRange<std::size_t>(8, 120)};
  }));
  StoreOptions options = small_cache(true);
  options.seed = *rc::gen::arbitrary<std::uint64_t>();
  options.server.geometry.table_entries = *rc::gen::element<std::uint64_t>(8, 256);
  options.server.geometry.mature_bytes = *rc::gen::element<std::uint64_t>(512, 1'024, 4'096);
  options.client.location_cache.entries = *rc::gen::element(0U, 8U);
  std::map<int, Bytes> model;
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    int number = 0;
    for (const Step& step : steps) {
      const Bytes key = bytes_of(std::to_string(step.key));
      if (step.kind == Kind::set) {
        Bytes value = bytes_of(std::to_string(++number));
        value.resize(step.bytes);
        store.require(client.set(key, value).answer == Answer::stored, "a SET was refused");
        model[step.key] = value;
      } else if (step.kind == Kind::remove) {
        client.remove(key);
        model.erase(step.key);
      } else {
        const engine::GetResult result = client.get(key);
        const auto expected = model.find(step.key);
        if (result.answer == Answer::found) {
          store.require(expected != model.end() && result.value == expected->second,
                        "a GET found a value that is not the last one");
        } else {
          store.require(result.answer == Answer::not_found, "a GET was refused");
          model.erase(step.key);
        }
      }
    }
  });
  const StoreRun run = store.run();
  RC_ASSERT(run.problems.empty());
}

}  // namespace
}  // namespace falafel::engine_test
