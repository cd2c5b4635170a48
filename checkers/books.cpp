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

}  // namespace

Judgement check_mature_spaces(const MemoryView& view) {
  const std::uint64_t mature_bytes = view.geometry.mature_bytes;
  std::uint64_t active_spaces = 0;
  std::uint64_t used_bytes = 0;
  for (const MatureSpaceInspection& space : view.mature_spaces) {
    if (space.used_bytes > mature_bytes) {
      return books_violated("mature-spaces",
                            fmt::format("{} bytes are in use in a mature space of {} bytes",
                                        space.used_bytes, mature_bytes));
    }
    if (!space.active) continue;
    ++active_spaces;
    used_bytes = space.used_bytes;
  }
  if (active_spaces != 1) {
    return books_violated("mature-spaces",
                          fmt::format("{} mature spaces are active instead of one", active_spaces));
  }
  const auto outstanding = static_cast<std::uint64_t>(
      std::ranges::count_if(view.regions, [](const RegionInspection& region) {
        return region.state == RegionState::granted || region.state == RegionState::released;
      }));
  const std::uint64_t promised_bytes = outstanding * view.geometry.region_bytes;
  if (used_bytes + promised_bytes <= mature_bytes) return books_hold();
  return books_violated(
      "overcommitted",
      fmt::format(
          "the active mature space has {} bytes in use and must have room for {} regions of {} "
          "bytes, but its size is {} bytes",
          used_bytes, outstanding, view.geometry.region_bytes, mature_bytes));
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
