#include "checkers/collector.h"

#include <fmt/format.h>

#include <map>
#include <string>

namespace falafel::checkers {
namespace {

using engine::RegionState;

Judgement holds() {
  return {.verdict = Verdict::holds, .property = "collector", .explanation = {}};
}

Judgement collector_violated(std::string property, std::string explanation,
                             std::vector<std::uint64_t> slots = {}) {
  return {.verdict = Verdict::violated,
          .property = "collector." + std::move(property),
          .explanation = std::move(explanation),
          .slots = std::move(slots)};
}

// Explains why no container may be at this offset; empty if one may.
std::string find_problem_of_place(const MemoryView& view, std::uint64_t offset) {
  const engine::Geometry& geometry = view.geometry;
  if (offset == engine::Geometry::stand_in_offset()) return {};
  const std::uint64_t regions_begin = geometry.region_offset(0);
  if (offset >= regions_begin && offset < geometry.region_offset(geometry.region_count)) {
    const std::uint64_t region = (offset - regions_begin) / geometry.region_bytes;
    const RegionState state = view.regions[region].state;
    if (state != RegionState::free && state != RegionState::waiting) return {};
    return fmt::format("into region {}, which is {}", region, engine::to_string(state));
  }
  const auto space = geometry.mature_space_at(offset);
  if (!space) return "outside regions and mature spaces";
  const std::uint64_t used_bytes = view.mature_spaces[*space].used_bytes;
  if (offset < geometry.mature_offset(*space) + used_bytes) return {};
  return fmt::format("into mature space {}, of which {} bytes are in use", *space, used_bytes);
}

Judgement check_books(const MemoryView& view) {
  for (std::size_t region = 0; region < view.regions.size(); ++region) {
    const RegionState state = view.regions[region].state;
    if (state != RegionState::free) {
      return collector_violated(
          "lost-memory", fmt::format("region {} is {}, although no client is connected", region,
                                     engine::to_string(state)));
    }
  }
  for (std::size_t space = 0; space < view.mature_spaces.size(); ++space) {
    const engine::MatureSpaceInspection& mature = view.mature_spaces[space];
    const bool may_be_full = mature.active || view.geometry.has_blocks();
    if (mature.waiting || (!may_be_full && mature.used_bytes > 0)) {
      return collector_violated(
          "lost-memory", fmt::format("mature space {} is not active but still {}", space,
                                     mature.waiting ? "waits for clients" : "holds containers"));
    }
  }
  return holds();
}

Judgement check_entry(const MemoryView& view, std::uint64_t slot, engine::Entry entry) {
  if (entry.is_empty()) return holds();
  const std::string problem =
      find_problem_of_place(view, view.geometry.to_offset(entry.reference()));
  if (problem.empty()) return holds();
  return collector_violated(
      "dangling-entry",
      fmt::format("slot {} ({}) points {}", slot, describe(entry, view.geometry), problem), {slot});
}

}  // namespace

Judgement check_entries(const MemoryView& view, std::uint64_t slot, engine::Entry next) {
  for (std::uint64_t each = 0; each < view.end_of_slots(); ++each) {
    const engine::Entry entry = each == slot ? next : view.entry(each);
    if (entry.is_empty()) continue;
    const std::uint64_t offset = view.geometry.to_offset(entry.reference());
    if (!find_problem_of_place(view, offset).empty()) return check_entry(view, each, entry);
  }
  return holds();
}

Judgement check_repaired(const MemoryView& view) {
  for (std::uint64_t slot = 0; slot < view.end_of_slots(); ++slot) {
    const engine::Entry entry = view.entry(slot);
    const bool may_be_frozen = slot < view.geometry.first_slot(view.tables().last);
    if (entry.is_locked() || (entry.is_frozen() && !may_be_frozen)) {
      return {.verdict = Verdict::violated,
              .property = "table.locked",
              .explanation = fmt::format("slot {} ({}) has a flag that nobody takes away", slot,
                                         describe(entry, view.geometry)),
              .slots = {slot}};
    }
    if (Judgement judgement = check_entry(view, slot, entry); judgement.verdict != Verdict::holds) {
      return judgement;
    }
  }
  return check_books(view);
}

Judgement check_collector(const MemoryView& view) {
  std::map<std::uint64_t, std::uint64_t> ends;  // the end of each container, by its offset
  for (std::uint64_t slot = 0; slot < view.end_of_slots(); ++slot) {
    const engine::Entry entry = view.entry(slot);
    if (Judgement judgement = check_entry(view, slot, entry); judgement.verdict != Verdict::holds) {
      return judgement;
    }
    const auto stored = entry.is_empty() ? std::nullopt : read_stored(view, entry);
    if (!stored || stored->offset == engine::Geometry::stand_in_offset()) continue;
    if (!ends.emplace(stored->offset, stored->offset + stored->size_bytes).second) {
      return collector_violated(
          "overlap",
          fmt::format("slot {} points to the container at {}, and so does another slot", slot,
                      stored->offset),
          {slot});
    }
  }
  std::uint64_t end = 0;
  for (const auto& [offset, container_end] : ends) {
    if (offset < end) {
      return collector_violated(
          "overlap", fmt::format("the container at {} begins inside another container", offset));
    }
    end = container_end;
  }
  return check_books(view);
}

}  // namespace falafel::checkers
