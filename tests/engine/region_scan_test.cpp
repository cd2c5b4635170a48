// Tests the collector on memory laid out by hand, which can contain what no correct client leaves
// there.
#include "engine/server/region_scan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/layout/container.h"
#include "engine/layout/key_hash.h"
#include "engine/server/collector.h"
#include "engine/server/fiber_mutex.h"
#include "engine/server/processor_updater.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "tests/engine/rival_updater.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::Collection;
using engine::Entry;
using engine::Geometry;

void run_on_a_host(const std::function<void(fabric::Host&)>& body) {
  const sim::SimulationOptions options;
  fabric::FiberStackPool stacks;
  const auto strategy = sim::make_strategy(options, 1);
  sim::Simulation simulation(options, *strategy, stacks);
  simulation.add_host({.name = "server", .role = sim::Role::server}, body);
  EXPECT_EQ(simulation.run().outcome, sim::Outcome::completed);
}

// A server's memory with region 0 released, and its collector.
class LaidOutMemory {
 public:
  LaidOutMemory(fabric::Host& host, const Geometry& layout, Collection collection)
      : host_(host),
        chunk_(make_chunk(host, layout)),
        updater_(std::make_unique<engine::ProcessorUpdater>(chunk_)),
        book_(layout) {
    options_.collection = collection;
    options_.geometry = layout;
    book_.grant(0, 1);
    book_.set_state(0, engine::RegionState::collecting);
  }

  const engine::Chunk& chunk() const { return chunk_; }
  // `rival` may replace an entry just before the collector updates it.
  void set_rival(const std::function<std::optional<Entry>(Entry)>& rival) {
    updater_.set_rival([this, rival](const engine::EntryUpdate& update) {
      if (const auto other = rival(entry(update.slot))) set_entry(update.slot, *other);
    });
  }
  const engine::ServerStatistics& statistics() const { return statistics_; }
  std::uint64_t region_begin() const { return chunk_.geometry.region_offset(0); }

  // Writes a container at this offset from the region's start; returns its end in whole units.
  std::uint64_t write(std::uint64_t at, const Bytes& key, const Bytes& value) {
    Bytes bytes(engine::container_bytes(key.size(), value.size()));
    engine::write_container(key, value, bytes);
    write_bytes(at, bytes);
    return at + chunk_.geometry.round_up_to_unit(bytes.size());
  }
  // Region 1 is collected along with region 0.
  void release_second_region() {
    regions_.push_back(1);
    book_.grant(1, 2);
    book_.set_state(1, engine::RegionState::collecting);
  }
  void write_bytes(std::uint64_t at, const Bytes& bytes) {
    chunk_.write(region_begin() + at, bytes);
  }
  // Makes an entry in the first empty slot of the key's chain point there.
  std::uint64_t publish(const Bytes& key, std::uint64_t at) {
    return publish_offset(key, region_begin() + at);
  }
  // Stores the key with an empty value in the mature space. Returns its slot.
  std::uint64_t store_mature(const Bytes& key) {
    Bytes bytes(engine::container_bytes(key.size(), 0));
    engine::write_container(key, {}, bytes);
    const std::uint64_t offset = book_.mature().allocate(bytes.size());
    chunk_.write(offset, bytes);
    return publish_offset(key, offset);
  }
  std::uint64_t publish_offset(const Bytes& key, std::uint64_t offset) {
    const std::uint64_t entries = chunk_.geometry.table_entries;
    std::uint64_t slot = engine::home_slot(key, chunk_.hash_key, entries);
    while (!entry(slot).is_empty()) slot = (slot + 1) % entries;
    set_entry(slot, Entry{}.pointing_to(chunk_.geometry.to_units(offset)));
    return slot;
  }
  Entry entry(std::uint64_t slot) const { return chunk_.load_entry(slot); }
  void set_entry(std::uint64_t slot, Entry entry) {
    chunk_.block->store(chunk_.geometry.entry_offset(slot), entry.word());
  }

  void collect() {
    engine::Collector collector(host_, chunk_, options_, updater_, book_, statistics_);
    collector.move_regions(regions_);
    collector.settle();
  }
  std::uint64_t measured_live_bytes(engine::FiberMutex& moving) {
    engine::Collector collector(host_, chunk_, options_, updater_, book_, statistics_);
    std::uint64_t live_bytes = 0;
    for (const engine::LiveSpace& space : collector.measure_mature_spaces(moving)) {
      live_bytes += space.live_bytes;
    }
    return live_bytes;
  }
  // As a cleanup does it.
  void shift(std::uint64_t from, std::uint64_t to) {
    set_entry(to, entry(from));
    ++statistics_.entries_shifted;
    set_entry(from, {});
  }
  std::uint64_t copied_bytes() const { return book_.mature().allocated_bytes(); }
  bool is_in_region(Entry entry) const {
    const std::uint64_t offset = chunk_.geometry.to_offset(entry.reference());
    return offset >= region_begin() && offset < region_begin() + chunk_.geometry.region_bytes;
  }
  bool is_stand_in(Entry entry) const {
    return entry.is_deleted() &&
           chunk_.geometry.to_offset(entry.reference()) == Geometry::stand_in_offset();
  }
  std::optional<Bytes> value_at(std::uint64_t slot) const {
    const auto container = chunk_.read_container(entry(slot), engine::Chunk::Part::key_and_value);
    return container ? std::optional(container->value) : std::nullopt;
  }

 private:
  static engine::Chunk make_chunk(fabric::Host& host, const Geometry& layout) {
    engine::Chunk chunk{.geometry = layout,
                        .hash_key = {},
                        .block = host.allocate_memory(layout.chunk_bytes()).value()};
    Bytes stand_in(engine::container_header_bytes);
    engine::write_unreadable_container(stand_in);
    chunk.write(Geometry::stand_in_offset(), stand_in);
    return chunk;
  }

  fabric::Host& host_;
  engine::Chunk chunk_;
  RivalUpdater updater_;
  engine::MemoryBook book_;
  std::vector<std::uint32_t> regions_{0};
  engine::ServerOptions options_;
  engine::ServerStatistics statistics_;
};

constexpr Geometry small_geometry{
    .table_entries = 16, .region_bytes = 1'024, .region_count = 2, .mature_bytes = 4'096};

// Returns keys with the same home slot.
std::vector<Bytes> colliding_keys(std::size_t count, const Geometry& layout) {
  std::map<std::uint64_t, std::vector<Bytes>> keys;
  for (int number = 0;; ++number) {
    const Bytes key = bytes_of(fmt::format("key {}", number));
    auto& same = keys[engine::home_slot(key, {}, layout.table_entries)];
    same.push_back(key);
    if (same.size() == count) return same;
  }
}

class CollectedRegionTest : public testing::TestWithParam<Collection> {
 protected:
  void on_memory(const std::function<void(LaidOutMemory&)>& body,
                 const Geometry& layout = small_geometry) {
    run_on_a_host([&](fabric::Host& host) {
      LaidOutMemory memory(host, layout, GetParam());
      body(memory);
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Engine, CollectedRegionTest,
                         testing::Values(Collection::scan_memory, Collection::walk_table),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST_P(CollectedRegionTest, MovesAWholeChain) {
  on_memory([](LaidOutMemory& memory) {
    const std::vector<Bytes> keys = colliding_keys(4, small_geometry);
    std::vector<std::uint64_t> slots;
    std::uint64_t at = 0;
    for (const Bytes& key : keys) {
      const std::uint64_t begin = at;
      at = memory.write(at, key, key);
      slots.push_back(memory.publish(key, begin));
    }
    memory.collect();
    for (std::size_t index = 0; index < keys.size(); ++index) {
      EXPECT_FALSE(memory.is_in_region(memory.entry(slots[index]))) << index;
      EXPECT_EQ(memory.value_at(slots[index]), keys[index]) << index;
    }
    EXPECT_EQ(memory.copied_bytes(), at);
  });
}

TEST_P(CollectedRegionTest, LeavesGarbageBehind) {
  on_memory([](LaidOutMemory& memory) {
    const Bytes key = bytes_of("key");
    const std::uint64_t second = memory.write(0, key, bytes_of("old"));
    memory.write(second, key, bytes_of("new"));
    const std::uint64_t slot = memory.publish(key, second);
    memory.collect();
    EXPECT_EQ(memory.value_at(slot), bytes_of("new"));
    EXPECT_EQ(memory.copied_bytes(),
              small_geometry.round_up_to_unit(engine::container_bytes(3, 3)));
  });
}

// A hole contains the start of an older container whose lengths extend over newer data.
TEST_P(CollectedRegionTest, DoesNotTrustTheLengthsOfGarbage) {
  on_memory([](LaidOutMemory& memory) {
    memory.write(0, bytes_of("stale"), Bytes(900));
    const std::uint64_t begin = small_geometry.round_up_to_unit(engine::container_bytes(5, 0));
    memory.write(begin, bytes_of("key"), bytes_of("value"));
    const std::uint64_t slot = memory.publish(bytes_of("key"), begin);
    memory.collect();
    EXPECT_FALSE(memory.is_in_region(memory.entry(slot)));
    EXPECT_EQ(memory.value_at(slot), bytes_of("value"));
  });
}

// The same with a key whose live container is elsewhere: an entry of that key does not make this
// one live.
TEST_P(CollectedRegionTest, ContainersInsideValuesAreNotTakenForOthers) {
  on_memory([](LaidOutMemory& memory) {
    Bytes value(engine::container_bytes(3, 3) + 5);
    engine::write_container(bytes_of("key"), bytes_of("bad"), std::span(value));
    const std::uint64_t begin = memory.write(0, bytes_of("other"), value);
    memory.write(begin, bytes_of("key"), bytes_of("good"));
    const std::uint64_t slot = memory.publish(bytes_of("key"), begin);
    const std::uint64_t other = memory.publish(bytes_of("other"), 0);
    memory.collect();
    EXPECT_EQ(memory.value_at(slot), bytes_of("good"));
    EXPECT_EQ(memory.value_at(other), value);
  });
}

TEST_P(CollectedRegionTest, KeepsTheKeyOfADeletedEntry) {
  on_memory([](LaidOutMemory& memory) {
    memory.write(0, bytes_of("key"), Bytes(300));
    const std::uint64_t slot = memory.publish(bytes_of("key"), 0);
    memory.set_entry(slot, memory.entry(slot).with_deleted());
    memory.collect();
    EXPECT_FALSE(memory.is_in_region(memory.entry(slot)));
    EXPECT_TRUE(memory.entry(slot).is_deleted());
    EXPECT_EQ(memory.value_at(slot), Bytes());
    EXPECT_EQ(memory.copied_bytes(),
              small_geometry.round_up_to_unit(engine::container_bytes(3, 0)));
  });
}

TEST_P(CollectedRegionTest, TriesAgainAfterADelete) {
  on_memory([](LaidOutMemory& memory) {
    memory.write(0, bytes_of("key"), bytes_of("value"));
    const std::uint64_t slot = memory.publish(bytes_of("key"), 0);
    memory.set_rival([](Entry now) -> std::optional<Entry> {
      return now.is_deleted() ? std::nullopt : std::optional(now.with_deleted());
    });
    memory.collect();
    EXPECT_FALSE(memory.is_in_region(memory.entry(slot)));
    EXPECT_TRUE(memory.entry(slot).is_deleted());
    EXPECT_EQ(memory.statistics().updates_lost, 1U);
  });
}

TEST_P(CollectedRegionTest, GivesUpAnEntryThatChangesForEver) {
  on_memory([](LaidOutMemory& memory) {
    const std::uint64_t second = memory.write(0, bytes_of("hostile"), bytes_of("value"));
    memory.write(second, bytes_of("key"), bytes_of("value"));
    const std::uint64_t hostile = memory.publish(bytes_of("hostile"), 0);
    const std::uint64_t slot = memory.publish(bytes_of("key"), second);
    const std::uint32_t watched = memory.entry(hostile).reference();
    constexpr int for_ever = 1'000;
    constexpr int most_attempts = 16;
    int changes = 0;
    memory.set_rival([&](Entry now) -> std::optional<Entry> {
      if (now.reference() != watched || changes == for_ever) return std::nullopt;
      ++changes;
      return now.with_next_tag(30);
    });
    memory.collect();
    EXPECT_LE(changes, most_attempts);
    EXPECT_EQ(memory.statistics().entries_given_up, 1U);
    EXPECT_FALSE(memory.is_in_region(memory.entry(slot)));
    EXPECT_EQ(memory.value_at(slot), bytes_of("value"));
  });
}

TEST_P(CollectedRegionTest, MovesAnEntryWithALockOfNobody) {
  on_memory([](LaidOutMemory& memory) {
    memory.write(0, bytes_of("key"), bytes_of("value"));
    const std::uint64_t slot = memory.publish(bytes_of("key"), 0);
    memory.set_entry(slot, memory.entry(slot).with_locked());
    memory.collect();
    EXPECT_FALSE(memory.is_in_region(memory.entry(slot)));
    EXPECT_FALSE(memory.entry(slot).is_locked());
    EXPECT_EQ(memory.value_at(slot), bytes_of("value"));
  });
}

TEST_P(CollectedRegionTest, CopiesNoMoreThanItFreesWhenContainersOverlap) {
  on_memory([](LaidOutMemory& memory) {
    const std::uint64_t unit = small_geometry.unit_bytes;
    // Each container is the value of the previous one, and all extend to the end of the region.
    std::vector<Bytes> nested{Bytes(100)};
    std::vector<std::uint64_t> slots;
    const std::vector<Bytes> keys = colliding_keys(12, small_geometry);
    const std::uint64_t step = engine::container_header_bytes + unit;
    for (std::size_t index = 0; index < keys.size(); ++index) {
      Bytes key = keys[index];
      key.resize(unit);  // the value begins at a unit boundary
      Bytes bytes(engine::container_bytes(key.size(), nested.back().size()));
      engine::write_container(key, nested.back(), bytes);
      nested.push_back(bytes);
    }
    memory.write_bytes(0, nested.back());
    for (std::size_t index = 0; index < keys.size(); ++index) {
      Bytes key = keys[keys.size() - 1 - index];
      key.resize(unit);
      slots.push_back(memory.publish(key, index * step));
    }
    memory.collect();
    EXPECT_LE(memory.copied_bytes(), small_geometry.region_bytes);
  });
}

TEST_P(CollectedRegionTest, CopiesNoMoreThanItFreesWhenEntriesShareAContainer) {
  on_memory([](LaidOutMemory& memory) {
    memory.write(0, bytes_of("key"), Bytes(500));
    for (std::uint64_t slot = 0; slot < small_geometry.table_entries; ++slot) {
      memory.publish(bytes_of("key"), 0);
    }
    memory.collect();
    EXPECT_LE(memory.copied_bytes(), small_geometry.region_bytes);
  });
}

// A client that fills its region with shared containers does not prevent copies from another
// region.
TEST_P(CollectedRegionTest, CopiesNoMoreOfARegionThanThatRegionHas) {
  on_memory([](LaidOutMemory& memory) {
    memory.release_second_region();
    memory.write(0, bytes_of("shared"), Bytes(500));
    const std::uint64_t last = small_geometry.table_entries - 1;
    for (std::uint64_t slot = 0; slot < last; ++slot) memory.publish(bytes_of("shared"), 0);
    const Bytes value(900, std::byte{1});
    memory.write(small_geometry.region_bytes, bytes_of("honest"), value);
    const std::uint64_t slot = memory.publish(bytes_of("honest"), small_geometry.region_bytes);
    memory.collect();
    EXPECT_EQ(memory.value_at(slot), value);
    EXPECT_LE(memory.copied_bytes(), 2 * small_geometry.region_bytes);
  });
}

TEST_P(CollectedRegionTest, DoesNotReadBeyondTheRegion) {
  on_memory([](LaidOutMemory& memory) {
    const std::uint64_t at = small_geometry.region_bytes - 64;
    memory.write(at, bytes_of("key"), Bytes(small_geometry.region_bytes));
    memory.publish(bytes_of("key"), at);
    memory.collect();
    EXPECT_EQ(memory.copied_bytes(), 0U);
  });
}

// A sequence of headers of long keys: comparing all their checksums would take far too long.
TEST_P(CollectedRegionTest, GivesUpAScanThatTakesLongerThanAWalk) {
  Geometry layout = small_geometry;
  layout.region_bytes = 128 * 1'024;
  layout.mature_bytes = 4 * layout.region_bytes;
  on_memory(
      [&](LaidOutMemory& memory) {
        Bytes header(engine::container_bytes(60'000, 0));
        engine::write_container(Bytes(60'000), {}, header);
        header.resize(engine::container_header_bytes);
        const std::uint64_t live = 64 * 1'024;
        for (std::uint64_t at = 0; at < live; at += header.size()) memory.write_bytes(at, header);
        memory.write(live + 64, bytes_of("key"), bytes_of("value"));
        const std::uint64_t slot = memory.publish(bytes_of("key"), live + 64);
        memory.collect();
        EXPECT_EQ(memory.value_at(slot), bytes_of("value"));
        EXPECT_FALSE(memory.is_in_region(memory.entry(slot)));
        EXPECT_EQ(memory.statistics().scans_given_up,
                  GetParam() == Collection::scan_memory ? 1U : 0U);
      },
      layout);
}

// Random regions with live, overwritten and deleted containers, and holes with remnants of earlier
// contents.
TEST_P(CollectedRegionTest, LosesNothing) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t bound) { return random() % bound; };
  for (int round = 0; round < 300; ++round) {
    Geometry layout = small_geometry;
    layout.unit_bytes = round % 2 == 0 ? 8 : 64;
    on_memory(
        [&](LaidOutMemory& memory) {
          std::map<Bytes, std::uint64_t> places;
          for (int generation = 0; generation < 2; ++generation) {
            places.clear();
            for (std::uint64_t at = 0; at + 200 < layout.region_bytes;) {
              const Bytes key = bytes_of(fmt::format("key {}", below(8)));
              const std::uint64_t begin = at;
              if (below(4) == 0) {  // leaves a hole
                at += layout.unit_bytes * (1 + below(3));
                continue;
              }
              at = memory.write(at, key, Bytes(below(100), std::byte{7}));
              places[key] = begin;
            }
          }
          std::map<Bytes, std::pair<std::uint64_t, std::optional<Bytes>>> expected;
          for (const auto& [key, at] : places) {
            const std::uint64_t slot = memory.publish(key, at);
            const bool deleted = below(4) == 0;
            expected[key] = {slot, deleted ? Bytes() : memory.value_at(slot)};
            if (deleted) memory.set_entry(slot, memory.entry(slot).with_deleted());
          }
          memory.collect();
          for (const auto& [key, place] : expected) {
            ASSERT_FALSE(memory.is_in_region(memory.entry(place.first))) << round;
            ASSERT_EQ(memory.value_at(place.first), place.second) << round;
          }
        },
        layout);
  }
}

// While an entry moves, it is in two slots. A walk took it for two, and the server refused a SET
// for which there was room.
TEST(Measurement, WaitsUntilNobodyMovesEntries) {
  run_on_a_host([](fabric::Host& host) {
    LaidOutMemory memory(host, small_geometry, Collection::walk_table);
    const Bytes key = bytes_of("key");
    const std::uint64_t slot = memory.store_mature(key);
    const std::uint64_t other_slot = (slot + 1) % small_geometry.table_entries;
    engine::FiberMutex moving(host);
    const fabric::FiberId mover = host.spawn({.name = "mover"}, [&] {
      const std::unique_lock lock(moving);
      memory.set_entry(other_slot, memory.entry(slot));
      host.sleep_until(host.now_ns() + 10 * microsecond_ns);
      memory.set_entry(slot, {});
    });
    host.sleep_until(host.now_ns() + 5 * microsecond_ns);
    EXPECT_EQ(memory.measured_live_bytes(moving), memory.copied_bytes());
    host.join(mover);
  });
}

// A scan counted the key as garbage.
TEST(Measurement, FindsAKeyThatMovesBehindItsSearch) {
  // The scan lets others run after 1,024 steps. Those are the bytes of the key and then the slots.
  constexpr std::size_t key_bytes = 1'000;
  constexpr std::uint64_t slots_before = 60;
  Geometry layout = small_geometry;
  layout.table_entries = 128;
  run_on_a_host([&](fabric::Host& host) {
    LaidOutMemory memory(host, layout, Collection::scan_memory);
    const Bytes key(key_bytes, std::byte{'k'});
    std::uint64_t first_slot = 0;
    for (std::uint64_t count = 0; count < slots_before; ++count) {
      const std::uint64_t slot = memory.publish_offset(key, Geometry::stand_in_offset());
      if (count == 0) first_slot = slot;
    }
    const std::uint64_t slot = memory.store_mature(key);
    engine::FiberMutex moving(host);
    const fabric::FiberId mover =
        host.spawn({.name = "mover"}, [&] { memory.shift(slot, first_slot); });
    EXPECT_EQ(memory.measured_live_bytes(moving), memory.copied_bytes());
    EXPECT_EQ(memory.entry(slot), Entry{});
    host.join(mover);
  });
}

}  // namespace
}  // namespace falafel::engine_test
