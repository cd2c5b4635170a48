#include "tools/scenarios/pilaf/contents.h"

#include <cstring>
#include <span>
#include <string>

namespace falafel::pilaf_scenario {

LoggedMap::Contents contents_of(const pilaf::ServerInspection& server, Values values) {
  LoggedMap::Contents contents;
  const std::span<const std::byte> memory = server.memory;
  for (std::uint64_t slot = 0; slot < server.geometry.table_entries; ++slot) {
    pilaf::Entry entry;
    std::memcpy(&entry, memory.data() + pilaf::Geometry::entry_offset(slot), sizeof entry);
    if (!entry.is_in_use()) continue;
    const pilaf::ExtentPointer pointer = entry.pointer();
    const auto extent =
        pilaf::parse_extent(memory.subspan(server.geometry.extent_offset(pointer), pointer.bytes));
    if (!extent) continue;  // find_problems reports it
    std::string key(extent->key.size(), ' ');
    std::memcpy(key.data(), extent->key.data(), key.size());
    contents[key] = decode_value(extent->value, values);
  }
  return contents;
}

}  // namespace falafel::pilaf_scenario
