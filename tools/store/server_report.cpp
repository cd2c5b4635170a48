#include "tools/store/server_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/layout/entry.h"

namespace falafel::store {
namespace {

using engine::RegionState;
using engine::ServerStatistics;

constexpr std::array region_states{RegionState::free, RegionState::granted, RegionState::released,
                                   RegionState::collecting, RegionState::waiting};

std::uint64_t sum(const std::vector<ChunkPart>& parts) {
  std::uint64_t bytes = 0;
  for (const ChunkPart& part : parts) bytes += part.bytes;
  return bytes;
}

}  // namespace

std::uint64_t count_regions(const ServerReport& report, RegionState state) {
  return static_cast<std::uint64_t>(
      std::ranges::count(report.inspection.regions, state, &engine::RegionInspection::state));
}

std::vector<ChunkPart> account_for_chunk(const ServerReport& report) {
  const engine::Geometry& geometry = report.geometry;
  std::vector<ChunkPart> parts{{"superblock", engine::superblock_bytes},
                               {"status line", engine::status_line_bytes},
                               {"stand-in", engine::stand_in_bytes},
                               {"table", geometry.table_entries * engine::entry_bytes}};
  for (const RegionState state : region_states) {
    parts.push_back({fmt::format("regions {}", to_string(state)),
                     count_regions(report, state) * geometry.region_bytes});
  }
  for (std::size_t space = 0; space < report.inspection.mature_spaces.size(); ++space) {
    const engine::MatureSpaceInspection& mature = report.inspection.mature_spaces[space];
    parts.push_back({fmt::format("mature space {} used", space), mature.used_bytes});
    parts.push_back({fmt::format("mature space {} {}", space, mature.waiting ? "waiting" : "free"),
                     geometry.mature_bytes - mature.used_bytes});
  }
  // What lies between them, so that each begins at a multiple of 64 bytes.
  const std::uint64_t alignment =
      geometry.region_offset(0) - geometry.table_offset() -
      geometry.table_entries * engine::entry_bytes + geometry.mature_offset(0) -
      geometry.region_offset(geometry.region_count) + geometry.chunk_bytes() -
      geometry.mature_offset(0) - engine::mature_space_count * geometry.mature_bytes;
  parts.push_back({"alignment", alignment});
  FALAFEL_ASSERT(sum(parts) == geometry.chunk_bytes(), "{} of {} bytes accounted for", sum(parts),
                 geometry.chunk_bytes());
  return parts;
}

const std::vector<Counter>& counters() {
  static const std::vector<Counter> all{
      {"clients_fenced", "clients that left or were given up", &ServerStatistics::clients_fenced},
      {"clients_expelled", "clients fenced for a breach of the protocol",
       &ServerStatistics::clients_expelled},
      {"flushes_overdue", "fenced clients whose requests were not flushed in time",
       &ServerStatistics::flushes_overdue},
      {"regions_granted", "regions given to clients", &ServerStatistics::regions_granted},
      {"regions_denied", "requests refused because memory was full",
       &ServerStatistics::regions_denied},
      {"regions_collected", "regions whose data were moved to a mature space",
       &ServerStatistics::regions_collected},
      {"mature_collections", "collections of a mature space",
       &ServerStatistics::mature_collections},
      {"mature_measurements", "times that what lives in the mature space was measured",
       &ServerStatistics::mature_measurements},
      {"regions_asked_back", "questions to clients to give regions back",
       &ServerStatistics::regions_asked_back},
      {"containers_copied", "values that collections moved", &ServerStatistics::containers_copied},
      {"containers_unreadable", "values that failed their checksum when they were to be moved",
       &ServerStatistics::containers_unreadable},
      {"entries_given_up", "entries that changed whenever they were to be moved",
       &ServerStatistics::entries_given_up},
      {"scans_given_up", "scans of memory given up for a walk over the table",
       &ServerStatistics::scans_given_up},
      {"cleanups", "walks over the table to remove deleted entries", &ServerStatistics::cleanups},
      {"entries_cleaned", "deleted entries removed", &ServerStatistics::entries_cleaned},
      {"entries_repaired", "entries that no client writes, made harmless",
       &ServerStatistics::entries_repaired},
      {"updates_lost", "changes of entries in which a client was faster",
       &ServerStatistics::updates_lost}};
  return all;
}

}  // namespace falafel::store
