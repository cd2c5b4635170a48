// The memory of a store, built by hand.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "checkers/judgement.h"
#include "checkers/memory_view.h"
#include "engine/layout/container.h"
#include "engine/layout/references.h"
#include "fabric/text.h"

namespace falafel::checkers {

using engine::Entry;
using engine::Geometry;

using fabric::bytes_of;

// A store at rest with four slots, two regions and two mature spaces.
class Memory {
 public:
  Memory() : chunk_(geometry_.chunk_bytes()), regions_(2), mature_spaces_(2) {
    mature_spaces_[0].active = true;
  }

  MemoryView view() const {
    return {.geometry = geometry_,
            .hash_key = hash_key_,
            .chunk = chunk_,
            .regions = regions_,
            .mature_spaces = mature_spaces_};
  }

  std::uint64_t home(const std::string& key) const {
    return engine::home_slot(bytes_of(key), hash_key_, geometry_.table_entries);
  }
  // A key whose home slot is `slot`.
  std::string key_at(std::uint64_t slot, int which = 0) const {
    for (int number = 0;; ++number) {
      const std::string key = "key " + std::to_string(number);
      if (home(key) == slot && which-- == 0) return key;
    }
  }

  // Instead of semi-spaces; block 0 is active.
  void use_blocks(std::uint64_t bytes, std::uint32_t count) {
    geometry_.mature_bytes = bytes;
    geometry_.mature_space_count = count;
    chunk_.resize(geometry_.chunk_bytes());
    mature_spaces_.resize(count);
  }
  // Appends a container to a mature space.
  std::uint64_t add_container_to(std::uint32_t space, const std::string& key) {
    engine::MatureSpaceInspection& mature = mature_spaces_[space];
    const std::uint64_t offset = geometry_.mature_offset(space) + mature.used_bytes;
    write_container(offset, key, "value");
    mature.used_bytes += geometry_.round_up_to_unit(engine::container_bytes(key.size(), 5));
    return offset;
  }

  // Appends a container to the active mature space.
  std::uint64_t add_container(const std::string& key, const std::string& value = "value") {
    const std::uint64_t offset = geometry_.mature_offset(0) + mature_spaces_[0].used_bytes;
    write_container(offset, key, value);
    mature_spaces_[0].used_bytes +=
        geometry_.round_up_to_unit(engine::container_bytes(key.size(), value.size()));
    return offset;
  }
  void write_container(std::uint64_t offset, const std::string& key, const std::string& value) {
    engine::write_container(bytes_of(key), bytes_of(value), std::span(chunk_).subspan(offset));
  }
  // The entry of a container that add_container() or write_container() has written.
  Entry entry_to(std::uint64_t offset) const {
    const auto bytes = std::span(chunk_).subspan(offset);
    const auto header = engine::read_container_header(bytes, engine::Verification::off);
    const auto key = engine::read_container_key(bytes, *header, engine::Verification::off);
    return Entry().pointing_to(engine::References(geometry_).to(
        offset, engine::hash_of(*key, hash_key_), header->container_bytes()));
  }
  void set_entry(std::uint64_t slot, Entry entry) {
    const std::uint64_t word = entry.word();
    std::memcpy(chunk_.data() + geometry_.entry_offset(slot), &word, sizeof word);
  }
  void put(std::uint64_t slot, const std::string& key) {
    set_entry(slot, entry_to(add_container(key)));
  }

  Geometry geometry_{.table_entries = 4,
                     .region_bytes = 64,
                     .region_count = 2,
                     .mature_bytes = 512,
                     .fingerprint_bits = 8,
                     .size_class_bits = 3};
  engine::HashKey hash_key_{};
  std::vector<std::byte> chunk_;
  std::vector<engine::RegionInspection> regions_;
  std::vector<engine::MatureSpaceInspection> mature_spaces_;
};

inline void expect_violation(const Judgement& judgement, const std::string& property) {
  EXPECT_EQ(judgement.verdict, Verdict::violated);
  EXPECT_EQ(judgement.property, property);
  EXPECT_FALSE(judgement.explanation.empty());
}

}  // namespace falafel::checkers
