#include "tools/server/server_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/layout/entry.h"

namespace falafel::server_program {
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

static void add_semi_spaces(std::vector<ChunkPart>& parts, const ServerReport& report) {
  for (std::size_t space = 0; space < report.inspection.mature_spaces.size(); ++space) {
    const engine::MatureSpaceInspection& mature = report.inspection.mature_spaces[space];
    parts.push_back({fmt::format("mature space {} used", space), mature.used_bytes});
    parts.push_back({fmt::format("mature space {} {}", space, mature.waiting ? "waiting" : "free"),
                     report.geometry.mature_bytes - mature.used_bytes});
  }
}

// There may be thousands. The rest of a full block counts as used.
static void add_blocks(std::vector<ChunkPart>& parts, const ServerReport& report) {
  const std::uint64_t block_bytes = report.geometry.mature_bytes;
  ChunkPart used{"mature space used", 0};
  ChunkPart free{"mature space free", 0};
  ChunkPart waiting{"mature space waiting", 0};
  for (const engine::MatureSpaceInspection& block : report.inspection.mature_spaces) {
    const bool is_full = !block.active && block.used_bytes > 0;
    used.bytes += is_full ? block_bytes : block.used_bytes;
    if (block.waiting) waiting.bytes += block_bytes;
    if (block.active) free.bytes += block_bytes - block.used_bytes;
    if (!block.active && !block.waiting && !is_full) free.bytes += block_bytes;
  }
  parts.insert(parts.end(), {used, free, waiting});
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
  if (geometry.has_blocks()) {
    add_blocks(parts, report);
  } else {
    add_semi_spaces(parts, report);
  }
  if (geometry.can_grow()) parts.push_back({"later tables", geometry.later_tables_bytes()});
  // The padding that aligns each part to 64 bytes.
  const std::uint64_t alignment =
      geometry.region_offset(0) - geometry.table_offset() -
      geometry.table_entries * engine::entry_bytes + geometry.mature_offset(0) -
      geometry.region_offset(geometry.region_count) + geometry.chunk_bytes() -
      geometry.mature_offset(0) - geometry.mature_space_count * geometry.mature_bytes -
      geometry.later_tables_bytes();
  parts.push_back({"alignment", alignment});
  FALAFEL_ASSERT(sum(parts) == geometry.chunk_bytes(), "{} of {} bytes accounted for", sum(parts),
                 geometry.chunk_bytes());
  return parts;
}

std::uint64_t present_table_entries(const ServerReport& report) {
  return report.geometry.entries_of(report.inspection.tables.last);
}

template <std::uint64_t ServerStatistics::*member>
static std::uint64_t statistic(const ServerReport& report) {
  return report.inspection.statistics.*member;
}

const std::vector<Counter>& counters() {
  static const std::vector<Counter> all{
      {"clients_fenced", "clients fenced after they left or failed",
       statistic<&ServerStatistics::clients_fenced>},
      {"clients_expelled", "clients fenced for a protocol violation",
       statistic<&ServerStatistics::clients_expelled>},
      {"flushes_overdue", "fenced clients whose requests were not flushed in time",
       statistic<&ServerStatistics::flushes_overdue>},
      {"regions_granted", "regions granted to clients",
       statistic<&ServerStatistics::regions_granted>},
      {"regions_denied", "region requests denied because memory was full",
       statistic<&ServerStatistics::regions_denied>},
      {"regions_postponed", "region requests of clients that have reached their quota",
       statistic<&ServerStatistics::regions_postponed>},
      {"regions_collected", "regions whose live data was moved to a mature space",
       statistic<&ServerStatistics::regions_collected>},
      {"mature_collections", "collections of a mature space",
       statistic<&ServerStatistics::mature_collections>},
      {"mature_measurements", "measurements of live data in the mature space",
       statistic<&ServerStatistics::mature_measurements>},
      {"regions_asked_back", "requests to clients to return regions",
       statistic<&ServerStatistics::regions_asked_back>},
      {"containers_copied", "values moved by collections",
       statistic<&ServerStatistics::containers_copied>},
      {"containers_unreadable", "values not moved because their checksum failed",
       statistic<&ServerStatistics::containers_unreadable>},
      {"entries_given_up", "entries not moved because they changed at every attempt",
       statistic<&ServerStatistics::entries_given_up>},
      {"scans_given_up", "memory scans abandoned in favor of a walk over the table",
       statistic<&ServerStatistics::scans_given_up>},
      {"cleanups", "passes over the table that remove deleted entries",
       statistic<&ServerStatistics::cleanups>},
      {"entries_cleaned", "deleted entries removed", statistic<&ServerStatistics::entries_cleaned>},
      {"entries_repaired", "invalid entries that were repaired",
       statistic<&ServerStatistics::entries_repaired>},
      {"updates_lost", "entry updates that lost to a client",
       statistic<&ServerStatistics::updates_lost>},
      {"values_expired", "expired values that collections dropped",
       statistic<&ServerStatistics::values_expired>},
      {"values_evicted", "values deleted to make room",
       statistic<&ServerStatistics::values_evicted>},
      {"tables_begun", "growths of the table", statistic<&ServerStatistics::tables_begun>},
      {"entries_moved", "entries moved to another table",
       statistic<&ServerStatistics::entries_moved>},
      {"commits_refused", "attempts to hold more memory that the system refused",
       statistic<&ServerStatistics::commits_refused>},
      {"blocks_released", "blocks of memory given back to the system",
       statistic<&ServerStatistics::blocks_released>},
      {"descriptor_shortages", "attempts to accept a client for which there was no file descriptor",
       [](const ServerReport& report) { return report.descriptor_shortages; }}};
  return all;
}

}  // namespace falafel::server_program
