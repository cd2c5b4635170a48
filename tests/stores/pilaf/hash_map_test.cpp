// The server's hash map against std::map, and what a client finds in its memory after each single
// store.
#include "stores/pilaf/hash_map.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "fabric/random.h"
#include "stores/pilaf/invariants.h"
#include "tests/stores/pilaf/bytes.h"

namespace falafel::pilaf {
namespace {

using pilaf_test::bytes_of;
using pilaf_test::text_of;

// Memory of this process, which reports every word that changes.
class PlainMemory final : public fabric::MemoryBlock {
 public:
  explicit PlainMemory(std::uint64_t size_bytes) : bytes_(size_bytes) {}

  std::function<void()> on_store;

  std::span<std::byte> bytes() override { return bytes_; }
  std::uint64_t load(std::uint64_t offset) override {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + offset, sizeof word);
    return word;
  }
  void store(std::uint64_t offset, std::uint64_t value) override {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    if (on_store) on_store();
  }
  std::uint64_t compare_and_swap(std::uint64_t, std::uint64_t, std::uint64_t) override { return 0; }
  void read(std::uint64_t offset, std::span<std::byte> destination) override {
    std::memcpy(destination.data(), bytes_.data() + offset, destination.size());
  }
  void write(std::uint64_t offset, std::span<const std::byte> source) override {
    ASSERT_EQ(source.size() % fabric::word_bytes, 0U);
    for (std::size_t at = 0; at < source.size(); at += fabric::word_bytes) {
      std::uint64_t word = 0;
      std::memcpy(&word, source.data() + at, sizeof word);
      store(offset + at, word);
    }
  }
  std::uint64_t wait_until_changed(std::uint64_t offset, std::uint64_t, std::uint64_t) override {
    return load(offset);
  }
  fabric::Result<void> commit(std::uint64_t /*offset*/, std::uint64_t /*length_bytes*/) override {
    return {};
  }
  void release(std::uint64_t /*offset*/, std::uint64_t /*length_bytes*/) override {}

 private:
  std::vector<std::byte> bytes_;
};

class Subject {
 public:
  Subject(const Options& options, std::uint64_t seed)
      : options_(options),
        random_(seed),
        memory_(std::make_shared<PlainMemory>(geometry().block_bytes())),
        map_(options_, geometry(), memory_,
             [this](std::uint64_t bound) { return random_.below(bound); }) {}

  HashMap& map() { return map_; }
  PlainMemory& memory() { return *memory_; }

  // As the server does.
  void put(const std::string& key, const std::string& value) {
    while (true) {
      switch (map_.put(bytes_of(key), bytes_of(value))) {
        case PutOutcome::stored: return;
        case PutOutcome::table_full: grow_table(); break;
        case PutOutcome::extents_full: grow_extents(); break;
      }
    }
  }

  std::vector<std::string> problems() {
    ServerInspection inspection{.geometry = map_.geometry(),
                                .ways = options_.ways,
                                .memory = {},
                                .allocated = map_.allocator().allocated(),
                                .free_bytes = map_.allocator().free_bytes()};
    inspection.memory.assign(memory_->bytes().begin(), memory_->bytes().end());
    return find_problems(inspection);
  }

 private:
  Geometry geometry() const {
    return {.table_entries = options_.table_entries,
            .extents_bytes = options_.extents_bytes,
            .hash_seed = *options_.hash_seed};
  }
  void grow_table() {
    Geometry larger = map_.geometry();
    std::optional<HashMap::Placement> placement;
    while (!placement) {
      larger.table_entries *= 2;
      larger.hash_seed = random_.next();
      placement = map_.place_all(larger);
    }
    move(larger, placement);
  }
  void grow_extents() {
    Geometry larger = map_.geometry();
    larger.extents_bytes *= 2;
    move(larger, std::nullopt);
  }
  void move(const Geometry& larger, const std::optional<HashMap::Placement>& placement) {
    auto memory = std::make_shared<PlainMemory>(larger.block_bytes());
    memory->on_store = memory_->on_store;
    map_.move_to(larger, memory, placement);
    memory_ = memory;
  }

  Options options_;
  fabric::RandomGenerator random_;
  std::shared_ptr<PlainMemory> memory_;
  HashMap map_;
};

Options draw_options() {
  Options options;
  options.table_entries = *rc::gen::element<std::uint64_t>(1, 2, 4, 8, 64);
  options.extents_bytes = *rc::gen::element<std::uint64_t>(64, 256, 1'024, 65'536);
  options.ways = *rc::gen::inRange(1U, 4U);
  options.max_kicks = *rc::gen::element(1U, 3U, 500U);
  options.update = *rc::gen::element(Update::out_of_place, Update::in_place_if_it_fits);
  options.hash_seed = *rc::gen::arbitrary<std::uint64_t>();
  options.safeguards.absence_validation = *rc::gen::arbitrary<bool>();
  return options;
}

RC_GTEST_PROP(HashMap, AgreesWithStdMap, ()) {
  Subject subject(draw_options(), *rc::gen::arbitrary<std::uint64_t>());
  std::map<std::string, std::string> model;
  const auto steps = *rc::gen::inRange(0, 60);
  for (int step = 0; step < steps; ++step) {
    const std::string key = "key " + std::to_string(*rc::gen::inRange(0, 24));
    if (*rc::gen::weightedElement<bool>({{2, true}, {1, false}})) {
      const std::string value(*rc::gen::inRange<std::size_t>(0, 300),
                              static_cast<char>('a' + step % 26));
      subject.put(key, value);
      model[key] = value;
    } else {
      RC_ASSERT(subject.map().remove(bytes_of(key)) == (model.erase(key) > 0));
    }
    for (int number = 0; number < 24; ++number) {
      const std::string any = "key " + std::to_string(number);
      const auto found = subject.map().get(bytes_of(any));
      RC_ASSERT(found.has_value() == model.contains(any));
      if (found) RC_ASSERT(text_of(*found) == model.at(any));
    }
    RC_ASSERT(subject.map().keys() == model.size());
    RC_ASSERT(subject.problems() == std::vector<std::string>());
  }
}

// The keys that a client could find now: those of all entries and extents that verify.
std::map<std::string, int> visible_keys(PlainMemory& memory, const Geometry& geometry) {
  std::map<std::string, int> keys;
  const std::span<const std::byte> bytes = memory.bytes();
  for (std::uint64_t slot = 0; slot < geometry.table_entries; ++slot) {
    Entry entry;
    std::memcpy(&entry, bytes.data() + Geometry::entry_offset(slot), sizeof entry);
    if (!entry.verifies() || !entry.is_in_use()) continue;
    const auto extent = bytes.subspan(geometry.extent_offset(entry.pointer()), entry.extent_bytes);
    if (const auto view = parse_extent(extent)) ++keys[text_of(view->key)];
  }
  return keys;
}

// How many keys are in no slot at some moment while other keys are inserted. The entry that is just
// being written does not verify, so a key may be invisible, but not absent: it is in the other of
// two slots, or it is the one that is written. So only the slots of moves count here.
std::uint64_t moments_of_absence(bool moves_from_the_end) {
  Options options;
  options.table_entries = 16;
  options.extents_bytes = 4'096;
  options.hash_seed = 3;
  options.safeguards.moves_from_the_end = moves_from_the_end;
  Subject subject(options, 1);
  std::set<std::string> stored;
  std::uint64_t absences = 0;
  const Geometry geometry = subject.map().geometry();
  subject.memory().on_store = [&] {
    const auto visible = visible_keys(subject.memory(), geometry);
    for (const std::string& key : stored) {
      if (!visible.contains(key)) ++absences;
    }
  };
  for (int number = 0; number < 14; ++number) {
    const std::string key = std::to_string(number);
    if (subject.map().put(bytes_of(key), bytes_of("value")) != PutOutcome::stored) break;
    stored.insert(key);
  }
  EXPECT_GE(stored.size(), 12U);
  return absences;
}

TEST(HashMap, EveryKeyIsInASlotWhileKeysMove) {
  EXPECT_EQ(moments_of_absence(true), 0U);
  EXPECT_GT(moments_of_absence(false), 0U);
}

// The place of each key in its probe sequence.
std::map<std::string, std::uint64_t> places_of(Subject& subject) {
  const Geometry& geometry = subject.map().geometry();
  const std::span<const std::byte> bytes = subject.memory().bytes();
  std::map<std::string, std::uint64_t> places;
  for (std::uint64_t slot = 0; slot < geometry.table_entries; ++slot) {
    Entry entry;
    std::memcpy(&entry, bytes.data() + Geometry::entry_offset(slot), sizeof entry);
    if (!entry.is_in_use()) continue;
    const auto key =
        parse_extent(bytes.subspan(geometry.extent_offset(entry.pointer()), entry.extent_bytes))
            ->key;
    const ProbeSequence slots = slots_of(key, geometry.hash_seed, 3, geometry.table_entries);
    for (std::uint64_t place = 0; place < slots.size(); ++place) {
      if (slots[place] == slot) places[text_of(key)] = place;
    }
  }
  return places;
}

// The reason for absence validation. A lookup that reads the earlier slot of such a key before the
// move, and the later one after it, does not find the key, although it is in a slot at all times.
TEST(HashMap, MovesKeysToSlotsThatALookupHasPassed) {
  Options options;
  options.table_entries = 64;
  options.extents_bytes = 8'192;
  options.hash_seed = 3;
  Subject subject(options, 1);
  std::uint64_t moved_behind = 0;
  for (int number = 0; number < 54; ++number) {
    const auto before = places_of(subject);
    const auto key = bytes_of(std::to_string(number));
    if (subject.map().put(key, bytes_of("value")) != PutOutcome::stored) break;
    const auto after = places_of(subject);
    for (const auto& [stored, place] : before) moved_behind += after.at(stored) < place ? 1 : 0;
  }
  EXPECT_GT(moved_behind, 0U);
}

TEST(HashMap, CountsTheChangesOfASlot) {
  Options options;
  options.table_entries = 1;
  options.extents_bytes = 256;
  options.hash_seed = 1;
  options.safeguards.absence_validation = true;
  Subject subject(options, 1);
  const auto entry = [&] {
    Entry read;
    std::memcpy(&read, subject.memory().bytes().data(), sizeof read);
    return read;
  };
  const Entry before = entry();
  subject.put("key", "value");
  EXPECT_EQ(entry().changes(), 1U);
  subject.map().remove(bytes_of("key"));
  EXPECT_EQ(entry().changes(), 2U);
  EXPECT_FALSE(entry() == before);
}

TEST(HashMap, UpdatesInPlaceWhatFits) {
  Options options;
  options.table_entries = 4;
  options.extents_bytes = 256;
  options.hash_seed = 1;
  options.update = Update::in_place_if_it_fits;
  Subject subject(options, 1);
  subject.put("key", "value");
  const auto before = subject.map().allocator().allocated();
  subject.put("key", "other");
  EXPECT_EQ(subject.map().allocator().allocated(), before);
  subject.put("key", std::string(100, 'x'));
  EXPECT_NE(subject.map().allocator().allocated(), before);
  EXPECT_EQ(text_of(*subject.map().get(bytes_of("key"))), std::string(100, 'x'));
}

}  // namespace
}  // namespace falafel::pilaf
