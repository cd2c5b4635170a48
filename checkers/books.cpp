#include "checkers/books.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace falafel::checkers {
namespace {

using engine::MatureSpaceInspection;
using engine::RegionInspection;
using engine::RegionState;

Judgement books_hold() {
  return {.verdict = Verdict::holds, .property = "books", .explanation = {}};
}

Judgement books_violated(std::string property, std::string explanation) {
  return {.verdict = Verdict::violated,
          .property = "books." + std::move(property),
          .explanation = std::move(explanation)};
}

Judgement check_room_of_semi_space(const MemoryView& view, std::uint64_t outstanding_regions) {
  const std::uint64_t mature_bytes = view.geometry.mature_bytes;
  const std::uint64_t promised_bytes = outstanding_regions * view.geometry.region_bytes;
  const auto active = std::ranges::find(view.mature_spaces, true, &MatureSpaceInspection::active);
  if (active->used_bytes + promised_bytes <= mature_bytes) return books_hold();
  return books_violated(
      "overcommitted",
      fmt::format(
          "the active mature space has {} bytes in use and must have room for {} regions of {} "
          "bytes, but its size is {} bytes",
          active->used_bytes, outstanding_regions, view.geometry.region_bytes, mature_bytes));
}

// Each region may open a block.
Judgement check_room_of_blocks(const MemoryView& view, std::uint64_t outstanding_regions) {
  const auto free_blocks =
      std::ranges::count_if(view.mature_spaces, [](const MatureSpaceInspection& space) {
        return space.held && !space.active && !space.waiting && space.used_bytes == 0;
      });
  if (static_cast<std::uint64_t>(free_blocks) >= outstanding_regions) return books_hold();
  return books_violated("overcommitted",
                        fmt::format("{} blocks are free, but each of {} regions may need one",
                                    free_blocks, outstanding_regions));
}

}  // namespace

Judgement check_mature_spaces(const MemoryView& view) {
  const std::uint64_t mature_bytes = view.geometry.mature_bytes;
  std::uint64_t active_spaces = 0;
  for (const MatureSpaceInspection& space : view.mature_spaces) {
    if (space.used_bytes > mature_bytes) {
      return books_violated("mature-spaces",
                            fmt::format("{} bytes are in use in a mature space of {} bytes",
                                        space.used_bytes, mature_bytes));
    }
    if (space.active) ++active_spaces;
  }
  if (active_spaces != 1) {
    return books_violated("mature-spaces",
                          fmt::format("{} mature spaces are active instead of one", active_spaces));
  }
  const auto outstanding = static_cast<std::uint64_t>(
      std::ranges::count_if(view.regions, [](const RegionInspection& region) {
        return region.state == RegionState::granted || region.state == RegionState::released;
      }));
  return view.geometry.has_blocks() ? check_room_of_blocks(view, outstanding)
                                    : check_room_of_semi_space(view, outstanding);
}

Judgement check_owners(std::span<const RegionInspection> regions,
                       std::span<const std::uint32_t> clients) {
  for (std::size_t region = 0; region < regions.size(); ++region) {
    const bool is_there = std::ranges::find(clients, regions[region].client) != clients.end();
    if (regions[region].state != RegionState::granted || is_there) continue;
    return books_violated(
        "no-owner", fmt::format("region {} is granted to client {}, which is not connected", region,
                                regions[region].client));
  }
  return books_hold();
}

}  // namespace falafel::checkers
