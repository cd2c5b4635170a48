#include "tools/scenarios/store/timeline/store_memory.h"

#include <utility>

#include "explorer/timeline/columns.h"
#include "fabric/assert.h"
#include "tools/scenarios/store/timeline/page_script.h"

namespace falafel::store_scenario {
namespace {

using Json = nlohmann::ordered_json;

Json geometry_to_json(const engine::Geometry& geometry) {
  Json mature_offsets = Json::array();
  for (std::uint32_t space = 0; space < geometry.mature_space_count; ++space) {
    mature_offsets.push_back(geometry.mature_offset(space));
  }
  return {{"unit_bytes", geometry.unit_bytes},
          {"offset_bits", geometry.offset_bits()},
          {"table_offset", engine::Geometry::table_offset()},
          {"table_entries", geometry.table_entries},
          {"later_tables_offset", geometry.later_tables_offset()},
          {"slot_count", geometry.slot_count()},
          {"region_offset", geometry.region_offset(0)},
          {"region_bytes", geometry.region_bytes},
          {"region_count", geometry.region_count},
          {"mature_offsets", std::move(mature_offsets)},
          {"mature_bytes", geometry.mature_bytes}};
}

Json memory_to_json(const Memory& memory, timeline::Texts& texts) {
  Json json;
  json["containers"] =
      timeline::Columns()
          .add("offset", memory.containers, [](const Container& stored) { return stored.offset; })
          .add("size", memory.containers, [](const Container& stored) { return stored.size_bytes; })
          .add("key", memory.containers, [&](const Container& stored) { return texts(stored.key); })
          .add("value", memory.containers,
               [&](const Container& stored) { return texts(stored.value); })
          .take();
  json["slots"] =
      timeline::Columns()
          .add("step", memory.slots, [](const SlotChange& change) { return change.step; })
          .add("slot", memory.slots, [](const SlotChange& change) { return change.slot; })
          .add("word", memory.slots,
               [](const SlotChange& change) { return timeline::word_to_json(change.word); })
          .add("container", memory.slots,
               [](const SlotChange& change) { return timeline::number_to_json(change.container); })
          .take();
  json["regions"] =
      timeline::Columns()
          .add("step", memory.regions, [](const RegionChange& change) { return change.step; })
          .add("region", memory.regions, [](const RegionChange& change) { return change.region; })
          .add("state", memory.regions,
               [&](const RegionChange& change) { return texts(to_string(change.use.state)); })
          .add("connection", memory.regions,
               [](const RegionChange& change) {
                 return timeline::number_to_json(change.use.connection);
               })
          .add("written", memory.regions,
               [](const RegionChange& change) { return change.use.written_bytes; })
          .add("live", memory.regions,
               [](const RegionChange& change) { return change.use.live_bytes; })
          .take();
  json["spaces"] =
      timeline::Columns()
          .add("step", memory.spaces, [](const SpaceChange& change) { return change.step; })
          .add("space", memory.spaces, [](const SpaceChange& change) { return change.space; })
          .add("active", memory.spaces, [](const SpaceChange& change) { return change.use.active; })
          .add("waiting", memory.spaces,
               [](const SpaceChange& change) { return change.use.waiting; })
          .add("used", memory.spaces,
               [](const SpaceChange& change) { return change.use.used_bytes; })
          .add("live", memory.spaces,
               [](const SpaceChange& change) { return change.use.live_bytes; })
          .take();
  return json;
}

}  // namespace

nlohmann::ordered_json StoreMemory::to_json(timeline::Texts& texts) const {
  Json lanes = Json::array();
  for (const std::uint32_t lane : connection_lanes) {
    lanes.push_back(timeline::number_to_json(lane));
  }
  return {{"geometry", geometry_to_json(geometry)},
          {"connection_lanes", std::move(lanes)},
          {"memory", memory_to_json(memory, texts)}};
}

std::string_view StoreMemory::page_script() const { return store_scenario::page_script(); }

const StoreMemory& store_memory(const timeline::Timeline& timeline) {
  FALAFEL_ASSERT(timeline.program_part != nullptr, "not a timeline of the store");
  return static_cast<const StoreMemory&>(*timeline.program_part);
}

}  // namespace falafel::store_scenario
