// A server starts over memory that was planted as a former process could have left it: locks in
// the middle of a removal, two semi-spaces with data, blocks of which none is free.
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/layout/references.h"
#include "engine/layout/status_line.h"
#include "engine/server/collector.h"
#include "engine/server/kept_chunk.h"
#include "engine/server/memory_recovery.h"
#include "engine/server/table_recovery.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "tests/engine/planted.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::Chunk;
using engine::Entry;
using engine::Geometry;

constexpr std::uint64_t container_length = 32;
constexpr Geometry small_geometry{.table_entries = 8,
                                  .region_bytes = 2 * container_length,
                                  .region_count = 2,
                                  .mature_bytes = 4 * container_length};

Geometry geometry_with_blocks() {
  Geometry geometry = small_geometry;
  geometry.mature_space_count = 4;
  return geometry;
}

// A chunk with entries and containers of the test's choice. `key_of(slot)` has its home there.
class Planting {
 public:
  Planting(fabric::Host& host, const Geometry& geometry)
      : host_(host),
        options_{.geometry = geometry, .hash_key = engine::HashKey{}, .kept_memory = "store"},
        chunk_(engine::open_chunk(host, options_).value().chunk),
        book_(geometry) {}

  Bytes key_of(std::uint64_t slot) const { return key_at(slot, 0, small_geometry.table_entries); }
  // Writes a container of the key that has its home in `home` and returns an entry for it.
  Entry container_at(std::uint64_t offset, std::uint64_t home) const {
    const Bytes container = container_of(key_of(home), bytes_of("1"));
    EXPECT_EQ(chunk_.geometry.round_up_to_unit(container.size()), container_length);
    chunk_.write(offset, container);
    return Entry().pointing_to(
        engine::References(chunk_.geometry)
            .to(offset, engine::hash_of(key_of(home), chunk_.hash_key), container.size()));
  }
  std::uint64_t in_region(std::uint64_t number) const {
    return chunk_.geometry.region_offset(0) + number * container_length;
  }
  std::uint64_t in_space(std::uint32_t space, std::uint64_t number) const {
    return chunk_.geometry.mature_offset(space) + number * container_length;
  }
  void put(std::uint64_t slot, Entry entry) const {
    chunk_.block->store(chunk_.geometry.entry_offset(slot), entry.word());
  }
  // A live key in its home slot.
  void put_key(std::uint64_t slot, std::uint64_t offset) const {
    put(slot, container_at(offset, slot));
  }
  Entry at(std::uint64_t slot) const { return chunk_.load_entry(slot); }
  Entry next(Entry entry) const { return entry.with_next_tag(chunk_.geometry.tag_bits); }
  // The space in which the entry's container is.
  std::optional<std::uint32_t> space_of(std::uint64_t slot) const {
    EXPECT_TRUE(chunk_.read_container(at(slot), Chunk::Part::key_and_value));
    return chunk_.geometry.mature_space_at(chunk_.geometry.to_offset(at(slot).reference()));
  }

  std::uint64_t recover_table() { return engine::TableRecovery(host_, chunk_, options_).run(); }
  const engine::MatureSpaces& recover_memory() {
    engine::HeldMemory held(options_.geometry, false, chunk_.block, book_.mature(),
                            statistics_.commits_refused);
    EXPECT_TRUE(engine::MemoryRecovery(host_, chunk_, options_, book_, held, statistics_).run());
    return book_.mature();
  }

  fabric::Host& host() const { return host_; }
  const Chunk& chunk() const { return chunk_; }
  const engine::ServerOptions& options() const { return options_; }
  engine::MemoryBook& book() { return book_; }
  engine::ServerStatistics& statistics() { return statistics_; }

 private:
  fabric::Host& host_;
  engine::ServerOptions options_;
  Chunk chunk_;
  engine::MemoryBook book_;
  engine::ServerStatistics statistics_;
};

void with_planting(const Geometry& geometry, const std::function<void(Planting&)>& body) {
  fabric::FiberStackPool stacks;
  const auto strategy = sim::make_strategy({}, 1);
  sim::Simulation simulation({}, *strategy, stacks);
  simulation.add_host({.name = "server", .role = sim::Role::server}, [&](fabric::Host& host) {
    Planting planting(host, geometry);
    body(planting);
  });
  const sim::RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, sim::Outcome::completed) << result.explanation;
}

TEST(TableRecovery, UnlocksWhatARemovalHasNotMoved) {
  with_planting(small_geometry, [](Planting& planting) {
    const Entry live = planting.container_at(planting.in_region(0), 1);
    const Entry deleted = planting.container_at(planting.in_region(1), 0).with_deleted();
    const Entry end = planting.next(planting.next(Entry()));
    planting.put(0, deleted.with_locked());
    planting.put(1, live.with_locked());
    planting.put(2, end.with_locked());
    planting.recover_table();
    EXPECT_FALSE(planting.at(0).is_locked());
    EXPECT_EQ(planting.at(1), planting.next(live));
    EXPECT_EQ(planting.at(2), planting.next(end));
  });
}

TEST(TableRecovery, KnowsAnEntryThatHasMovedByItsKey) {
  with_planting(small_geometry, [](Planting& planting) {
    const Entry old = planting.container_at(planting.in_region(0), 1);
    const Entry overwritten = planting.container_at(planting.in_region(1), 1);
    planting.put(1, overwritten);
    planting.put(2, old.with_locked());
    planting.recover_table();
    EXPECT_EQ(planting.at(1), overwritten);
    EXPECT_EQ(planting.at(2), planting.next(planting.chunk().stand_in_for(old)));
  });
}

TEST(TableRecovery, DoesNotBringBackAKeyThatWasDeletedAfterItMoved) {
  with_planting(small_geometry, [](Planting& planting) {
    const Entry old = planting.container_at(planting.in_region(0), 1);
    planting.put(1, old.with_deleted());
    planting.put(2, old.with_locked());
    planting.recover_table();
    for (const std::uint64_t slot : {1U, 2U}) {
      EXPECT_EQ(planting.at(slot), planting.next(planting.chunk().stand_in_for(old))) << slot;
    }
  });
}

TEST(TableRecovery, LeavesAnEvenNumberOfRebindings) {
  with_planting(small_geometry, [](Planting& planting) {
    for (const std::uint64_t found : {4U, 5U}) {
      planting.chunk().block->store(engine::rebindings_offset, found);
      const std::uint64_t even = found == 4 ? 4 : 6;
      EXPECT_EQ(planting.recover_table(), even);
      EXPECT_EQ(planting.chunk().block->load(engine::rebindings_offset), even);
    }
  });
}

TEST(MemoryRecovery, KnowsTheActiveSpaceAndWhereItsDataEnds) {
  with_planting(small_geometry, [](Planting& planting) {
    planting.put_key(0, planting.in_space(1, 0));
    planting.put_key(1, planting.in_space(1, 2));
    const engine::MatureSpaces& mature = planting.recover_memory();
    EXPECT_EQ(mature.active(), 1U);
    EXPECT_EQ(mature[1].used_bytes, 3 * container_length);
    EXPECT_EQ(mature.free_count(), 1U);
  });
}

// The first space ends with data, so nothing fits behind it. The second one has more data.
TEST(MemoryRecovery, FinishesACollectionInTheDirectionThatHasRoom) {
  with_planting(small_geometry, [](Planting& planting) {
    planting.put_key(0, planting.in_space(0, 3));
    planting.put_key(1, planting.in_space(0, 2));
    planting.put_key(2, planting.in_space(1, 0));
    const engine::MatureSpaces& mature = planting.recover_memory();
    EXPECT_EQ(mature.active(), 1U);
    for (const std::uint64_t slot : {0U, 1U, 2U}) EXPECT_EQ(planting.space_of(slot), 1U) << slot;
    EXPECT_EQ(mature[1].used_bytes, 3 * container_length);
    EXPECT_EQ(mature[0].used_bytes, 0U);
  });
}

TEST(MemoryRecovery, TakesTheDirectionWithFewerCopiesIfBothHaveRoom) {
  with_planting(small_geometry, [](Planting& planting) {
    planting.put_key(0, planting.in_space(0, 0));
    planting.put_key(1, planting.in_space(0, 1));
    planting.put_key(2, planting.in_space(1, 0));
    EXPECT_EQ(planting.recover_memory().active(), 0U);
    EXPECT_EQ(planting.space_of(2), 0U);
  });
}

TEST(MemoryRecovery, CollectsRegions) {
  with_planting(small_geometry, [](Planting& planting) {
    planting.put_key(0, planting.in_space(0, 0));
    planting.put_key(1, planting.in_region(1));
    const engine::MatureSpaces& mature = planting.recover_memory();
    EXPECT_EQ(planting.space_of(1), 0U);
    EXPECT_EQ(mature[0].used_bytes, 2 * container_length);
    EXPECT_EQ(planting.book().count(engine::RegionState::free), 2U);
  });
}

// The region was being collected into the second block, and no other one is free.
TEST(MemoryRecovery, PutsARegionIntoTheRestOfABlock) {
  with_planting(geometry_with_blocks(), [](Planting& planting) {
    planting.put_key(0, planting.in_space(0, 3));
    planting.put_key(1, planting.in_space(1, 0));
    planting.put_key(2, planting.in_space(2, 3));
    planting.put_key(3, planting.in_region(1));
    const engine::MatureSpaces& mature = planting.recover_memory();
    EXPECT_EQ(planting.space_of(3), 1U);
    EXPECT_EQ(mature.free_count(), 1U);
    EXPECT_EQ(mature[3].used_bytes, 0U);
  });
}

// The last block was being collected into the second one.
TEST(MemoryRecovery, FreesABlockIfNoneIsFree) {
  with_planting(geometry_with_blocks(), [](Planting& planting) {
    planting.put_key(0, planting.in_space(0, 3));
    planting.put_key(1, planting.in_space(0, 2));
    planting.put_key(2, planting.in_space(1, 0));
    planting.put_key(3, planting.in_space(2, 3));
    planting.put_key(4, planting.in_space(2, 1));
    planting.put_key(5, planting.in_space(3, 3));
    const engine::MatureSpaces& mature = planting.recover_memory();
    EXPECT_EQ(mature.free_count(), 1U);
    EXPECT_EQ(planting.space_of(5), 1U);
    EXPECT_EQ(mature[3].used_bytes, 0U);
  });
}

// The connection breaks while its first update is in flight.
class DoubtfulUpdater : public engine::EntryUpdater {
 public:
  bool is_full() const override { return false; }
  bool has_outcomes_in_doubt() const override { return !in_doubt_.empty(); }
  void submit(const engine::EntryUpdate& update) override {
    if (!is_broken_) {
      is_broken_ = true;
      in_doubt_.push_back({.update = update, .succeeded = false, .current = update.expected});
      return;
    }
    references.push_back(update.desired.reference());
    done_.push_back({.update = update, .succeeded = true, .current = update.expected});
  }
  std::optional<engine::UpdateOutcome> next() override {
    std::deque<engine::UpdateOutcome>& outcomes = in_doubt_.empty() ? done_ : in_doubt_;
    if (outcomes.empty()) return std::nullopt;
    const engine::UpdateOutcome outcome = outcomes.front();
    outcomes.pop_front();
    return outcome;
  }
  std::vector<std::uint32_t> references;  // in the order in which they came into the table

 private:
  bool is_broken_ = false;
  std::deque<engine::UpdateOutcome> in_doubt_;
  std::deque<engine::UpdateOutcome> done_;
};

TEST(CollectionOfKeptMemory, SwapsEntriesInTheOrderOfTheCopies) {
  with_planting(small_geometry, [](Planting& planting) {
    planting.put_key(0, planting.in_region(0));
    planting.put_key(1, planting.in_region(1));
    DoubtfulUpdater updater;
    engine::Collector collector(planting.host(), planting.chunk(), planting.options(), updater,
                                planting.book(), planting.statistics());
    collector.move_regions({0});
    collector.settle();
    ASSERT_EQ(updater.references.size(), 2U);
    EXPECT_LT(updater.references[0], updater.references[1]);
  });
}

}  // namespace
}  // namespace falafel::engine_test
