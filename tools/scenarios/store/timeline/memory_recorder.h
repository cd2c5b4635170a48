// Records the changes of the server's memory: the table's entries with their containers, and the
// uses of regions and mature spaces. It inspects the memory after each step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "checkers/memory_view.h"
#include "tools/scenarios/store/timeline/store_memory.h"

namespace falafel::store_scenario {

class MemoryRecorder {
 public:
  explicit MemoryRecorder(const engine::Geometry& geometry);

  // Bytes that are about to change. With `by_client`, a WRITE changes them, so they count as
  // written.
  void note_write(std::uint64_t offset, std::uint64_t length_bytes, bool by_client);
  // The memory after `step`. A restarted server numbers its clients from the start: its first one
  // is connection `first_connection`.
  void look(std::uint64_t step, const checkers::MemoryView& view, std::uint32_t first_connection);

  Memory take() { return std::move(memory_); }

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
  };
  struct Slot {
    std::uint64_t word = 0;
    std::uint32_t container = timeline::none;
    Range bytes{};  // of the container, as far as known
  };

  // Returns whether entries or their containers have changed.
  bool look_at_slots(std::uint64_t step, const checkers::MemoryView& view);
  bool is_written(const Range& bytes) const;
  void read_slot(std::uint64_t step, std::uint64_t slot, engine::Entry entry,
                 const checkers::MemoryView& view);
  std::uint32_t number_of(const checkers::StoredContainer& stored);
  void look_at_regions(std::uint64_t step, const checkers::MemoryView& view,
                       std::uint32_t first_connection, bool slots_changed);
  void look_at_spaces(std::uint64_t step, const checkers::MemoryView& view, bool slots_changed);
  // The bytes of containers that live entries point to.
  std::uint64_t live_bytes(const Range& bytes) const;

  engine::Geometry geometry_;
  Memory memory_;
  std::vector<Slot> slots_;
  std::vector<RegionUse> regions_;
  std::vector<std::uint64_t> incarnations_;   // by region
  std::vector<std::uint64_t> written_bytes_;  // by region, since the grant
  std::vector<SpaceUse> spaces_;
  std::vector<Range> written_;  // since the last inspection
  std::map<std::tuple<std::uint64_t, std::string, std::string>, std::uint32_t> numbers_;
};

}  // namespace falafel::store_scenario
