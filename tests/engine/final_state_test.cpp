// Tests that the reader of final states reports each known fault, on memories built by hand with a
// single fault.
#include "tests/engine/final_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/layout/container.h"
#include "engine/layout/control_message.h"
#include "engine/layout/entry.h"
#include "engine/layout/key_hash.h"
#include "engine/layout/references.h"
#include "engine/layout/superblock.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::Entry;
using engine::RegionState;

const engine::Geometry geometry{.table_entries = 8,
                                .region_bytes = 256,
                                .region_count = 2,
                                .mature_bytes = 512,
                                .fingerprint_bits = 8,
                                .size_class_bits = 3};

// A server's memory and bookkeeping, changed directly.
struct Memory {
  std::vector<std::byte> chunk = std::vector<std::byte>(geometry.chunk_bytes());
  engine::ServerInspection inspection;

  Memory() {
    write(0, engine::to_bytes(engine::make_superblock(geometry, {}, 1)));
    inspection.regions.resize(geometry.region_count);
    inspection.mature_spaces.resize(engine::semi_space_count);
    inspection.mature_spaces[0].active = true;
  }

  void write(std::uint64_t offset, std::span<const std::byte> bytes) {
    std::memcpy(chunk.data() + offset, bytes.data(), bytes.size());
  }
  void set_entry(std::uint64_t slot, Entry entry) {
    write(geometry.entry_offset(slot), engine::to_bytes(entry.word()));
  }
  Entry entry(std::uint64_t slot) const {
    std::uint64_t word = 0;
    std::memcpy(&word, chunk.data() + geometry.entry_offset(slot), sizeof word);
    return Entry(word);
  }
  // Returns the offset of the container.
  std::uint64_t add(std::uint64_t slot, const Bytes& key, const Bytes& value) {
    std::uint64_t& used_bytes = inspection.mature_spaces[0].used_bytes;
    const std::uint64_t offset = geometry.mature_offset(0) + used_bytes;
    engine::write_container(key, value, std::span(chunk).subspan(offset));
    const std::uint64_t length_bytes = engine::container_bytes(key.size(), value.size());
    set_entry(slot, Entry().pointing_to(engine::References(geometry).to(
                        offset, engine::hash_of(key, {}), length_bytes)));
    used_bytes += geometry.round_up_to_unit(length_bytes);
    return offset;
  }
  FinalState read() const { return read_final_state(chunk, geometry, {}, inspection); }
};

std::uint64_t home_of(const Bytes& key) {
  return engine::home_slot(key, {}, geometry.table_entries);
}

// The `number`-th key whose search starts at slot 3.
Bytes key_at_3(int number) {
  for (int candidate = 0;; ++candidate) {
    const Bytes key = bytes_of(fmt::format("key {}", candidate));
    if (home_of(key) == 3 && number-- == 0) return key;
  }
}

// A chain with two live keys and a deleted one.
Memory sound_memory() {
  Memory memory;
  memory.add(3, key_at_3(0), bytes_of("zero"));
  memory.add(4, key_at_3(1), bytes_of("one"));
  memory.add(5, key_at_3(2), bytes_of("two"));
  memory.set_entry(4, memory.entry(4).with_deleted());
  return memory;
}

TEST(FinalState, OfASoundMemoryIsItsContents) {
  const FinalState state = sound_memory().read();
  EXPECT_TRUE(state.problems.empty()) << state.problems.front();
  EXPECT_EQ(state.contents,
            (Contents{{key_at_3(0), bytes_of("zero")}, {key_at_3(2), bytes_of("two")}}));
  EXPECT_EQ(state.deleted_keys, 1U);
  EXPECT_EQ(state.container_bytes, sound_memory().inspection.mature_spaces[0].used_bytes);
}

struct Fault {
  std::string_view reported;
  std::function<void(Memory&)> make;
};

TEST(FinalState, ReportsEachFault) {
  const std::vector<Fault> faults{
      {"superblock is no longer valid", [](Memory& memory) { memory.chunk[20] ^= std::byte{1}; }},
      {"is locked", [](Memory& memory) { memory.set_entry(3, memory.entry(3).with_locked()); }},
      {"is empty and deleted", [](Memory& memory) { memory.set_entry(0, Entry().with_deleted()); }},
      {"before it is empty", [](Memory& memory) { memory.set_entry(4, Entry()); }},
      {"have the same key", [](Memory& memory) { memory.add(6, key_at_3(1), bytes_of("again")); }},
      {"which is not that of its container",
       [](Memory& memory) {
         const Entry entry = memory.entry(5);
         memory.set_entry(5, entry.moved_to(entry.reference() ^ 0x8000'0000));
       }},
      {"shares its container", [](Memory& memory) { memory.set_entry(6, memory.entry(5)); }},
      {"no container verifies",
       [](Memory& memory) { memory.chunk[geometry.mature_offset(0) + 26] ^= std::byte{1}; }},
      {"outside of what is used of a mature space",
       [](Memory& memory) {
         const auto offset = geometry.to_units(geometry.region_offset(0));
         memory.set_entry(5, Entry().pointing_to(offset));
       }},
      {"bytes in use of the other mature space",
       [](Memory& memory) {
         memory.inspection.mature_spaces[0].active = false;
         memory.inspection.mature_spaces[1].active = true;
       }},
      {"no container verifies",
       [](Memory& memory) { memory.inspection.mature_spaces[0].used_bytes -= 8; }},
      {"begins in another one",
       [](Memory& memory) {
         const Bytes inner_key = key_at_3(4);
         Bytes inner(engine::container_bytes(inner_key.size(), 0));
         engine::write_container(inner_key, {}, inner);
         const Bytes outer_key = key_at_3(3);
         Bytes outer(32 - engine::container_bytes(outer_key.size(), 0));
         outer.insert(outer.end(), inner.begin(), inner.end());
         const std::uint64_t offset = memory.add(6, outer_key, outer);
         memory.set_entry(7, Entry().pointing_to(geometry.to_units(offset + 32)));
       }},
      {"although nobody has it",
       [](Memory& memory) { memory.inspection.regions[1].state = RegionState::granted; }},
      {"books of 3 regions", [](Memory& memory) { memory.inspection.regions.resize(3); }},
      {"waits for clients",
       [](Memory& memory) { memory.inspection.mature_spaces[1].waiting = true; }},
      {"2 active", [](Memory& memory) { memory.inspection.mature_spaces[1].active = true; }}};
  for (const Fault& fault : faults) {
    Memory memory = sound_memory();
    fault.make(memory);
    std::string all;
    for (const std::string& problem : memory.read().problems) all += problem + "\n";
    EXPECT_NE(all.find(fault.reported), std::string::npos)
        << "not reported: " << fault.reported << "; but\n"
        << all;
  }
}

}  // namespace
}  // namespace falafel::engine_test
