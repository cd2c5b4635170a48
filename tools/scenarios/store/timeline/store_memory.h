// The server's memory in the timeline of a run of the store: the table's entries with their
// containers, and the uses of regions and mature spaces.
//
// Each record is valid from its step until the next record of the same place.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/layout/geometry.h"
#include "engine/layout/inspection.h"
#include "explorer/timeline/program_part.h"
#include "explorer/timeline/timeline.h"

namespace falafel::store_scenario {

// A container as it could be read through an entry.
struct Container {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::string key;
  std::string value;
};

struct SlotChange {
  std::uint64_t step = 0;
  std::uint64_t slot = 0;
  std::uint64_t word = 0;
  // none: the entry is empty or its container is invalid
  std::uint32_t container = timeline::none;
};

// Before their first record, regions are free and spaces unused. Live bytes belong to containers
// that live entries point to. The unwritten part of a region is free, and the rest is garbage.
struct RegionUse {
  engine::RegionState state{};
  std::uint32_t connection = timeline::none;  // granted: the owner, by the server's numbering
  std::uint64_t written_bytes = 0;
  std::uint64_t live_bytes = 0;

  friend bool operator==(const RegionUse&, const RegionUse&) = default;
};
struct RegionChange {
  std::uint64_t step = 0;
  std::uint32_t region = 0;
  RegionUse use{};
};

struct SpaceUse {
  bool active = false;
  bool waiting = false;
  std::uint64_t used_bytes = 0;
  std::uint64_t live_bytes = 0;

  friend bool operator==(const SpaceUse&, const SpaceUse&) = default;
};
struct SpaceChange {
  std::uint64_t step = 0;
  std::uint32_t space = 0;
  SpaceUse use{};
};

struct Memory {
  std::vector<Container> containers;
  std::vector<SlotChange> slots;
  std::vector<RegionChange> regions;
  std::vector<SpaceChange> spaces;
};

class StoreMemory final : public timeline::ProgramPart {
 public:
  nlohmann::ordered_json to_json(timeline::Texts& texts) const override;
  std::string_view page_script() const override;

  engine::Geometry geometry{};
  Memory memory;
  std::vector<std::uint32_t> connection_lanes;  // by the server's numbering; none: unknown
};
// The memory of a timeline of the store.
const StoreMemory& store_memory(const timeline::Timeline& timeline);

}  // namespace falafel::store_scenario
