#include "tools/scenarios/store/vocabulary.h"

#include <fmt/format.h>

#include <cstring>

#include "checkers/memory_view.h"
#include "engine/layout/entry.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

std::string StoreVocabulary::host(std::uint32_t number) const {
  return number == 0 ? "server" : client_hosts(scenario_)[number - 1];
}

std::string StoreVocabulary::place(std::uint64_t offset) const {
  const engine::Geometry& geometry = scenario_.geometry;
  if (offset < engine::Geometry::status_line_offset()) return "the superblock";
  if (offset < engine::Geometry::stand_in_offset()) return "the status line";
  if (offset < engine::Geometry::table_offset()) return "the stand-in";
  if (const auto slot = geometry.slot_at(offset)) return fmt::format("slot {}", *slot);
  for (std::uint64_t region = 0; region < geometry.region_count; ++region) {
    const std::uint64_t begin = geometry.region_offset(region);
    if (offset >= begin && offset < begin + geometry.region_bytes) {
      return fmt::format("{} (region {}, byte {})", offset, region, offset - begin);
    }
  }
  if (const auto space = geometry.mature_space_at(offset)) {
    return fmt::format("{} (mature space {}, byte {})", offset, *space,
                       offset - geometry.mature_offset(*space));
  }
  return fmt::format("{}", offset);
}

std::string StoreVocabulary::word(std::uint64_t word) const {
  return checkers::describe(engine::Entry(word), scenario_.geometry);
}

std::string StoreVocabulary::data(std::uint64_t offset, std::span<const std::byte> data) const {
  if (!scenario_.geometry.slot_at(offset))
    return fmt::format("{} bytes at {}", data.size(), place(offset));
  std::string text;
  for (std::size_t position = 0; position + engine::entry_bytes <= data.size();
       position += engine::entry_bytes) {
    std::uint64_t entry = 0;
    std::memcpy(&entry, data.data() + position, sizeof entry);
    text +=
        fmt::format("{}{}: {}", position == 0 ? "" : "; ", place(offset + position), word(entry));
  }
  return text;
}

}  // namespace falafel::store_scenario
