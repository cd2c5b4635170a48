#include <nlohmann/json.hpp>

#include "tools/server/server_report.h"

namespace falafel::server_program {
namespace {

using Json = nlohmann::json;

Json geometry_json(const engine::Geometry& geometry) {
  return {{"unit_bytes", geometry.unit_bytes},
          {"table_entries", geometry.table_entries},
          {"region_bytes", geometry.region_bytes},
          {"region_count", geometry.region_count},
          {"mature_bytes", geometry.mature_bytes},
          {"mature_space_count", geometry.mature_space_count},
          {"fingerprint_bits", geometry.fingerprint_bits},
          {"size_class_bits", geometry.size_class_bits},
          {"most_tables", geometry.most_tables}};
}

// `entries`: of the last one, into which new keys go.
Json tables_json(const ServerReport& report) {
  const engine::Tables& tables = report.inspection.tables;
  return {
      {"first", tables.first}, {"last", tables.last}, {"entries", present_table_entries(report)}};
}

Json regions_json(const ServerReport& report) {
  Json states = Json::object();
  for (const engine::RegionInspection& region : report.inspection.regions) {
    Json& count = states[std::string(to_string(region.state))];
    count = count.is_null() ? 1 : count.get<std::uint64_t>() + 1;
  }
  return states;
}

// There may be thousands.
Json blocks_json(const ServerReport& report) {
  std::uint64_t free = 0;
  std::uint64_t waiting = 0;
  for (const engine::MatureSpaceInspection& block : report.inspection.mature_spaces) {
    waiting += block.waiting ? 1U : 0U;
    free += !block.active && !block.waiting && block.used_bytes == 0 ? 1U : 0U;
  }
  const std::uint64_t blocks = report.inspection.mature_spaces.size();
  return {
      {"active", 1}, {"full", blocks - 1 - free - waiting}, {"waiting", waiting}, {"free", free}};
}

Json mature_spaces_json(const ServerReport& report) {
  if (report.geometry.has_blocks()) return blocks_json(report);
  Json spaces = Json::array();
  for (const engine::MatureSpaceInspection& space : report.inspection.mature_spaces) {
    spaces.push_back(
        {{"active", space.active}, {"waiting", space.waiting}, {"used_bytes", space.used_bytes}});
  }
  return spaces;
}

Json clients_json(const ServerReport& report) {
  Json clients = Json::array();
  for (const engine::ClientInspection& client : report.inspection.clients) {
    Json regions = Json::array();
    for (std::size_t index = 0; index < report.inspection.regions.size(); ++index) {
      const engine::RegionInspection& region = report.inspection.regions[index];
      if (region.state == engine::RegionState::granted && region.client == client.number) {
        regions.push_back(index);
      }
    }
    clients.push_back({{"number", client.number},
                       {"regions", std::move(regions)},
                       {"silence_ns", client.silence_ns},
                       {"awaited", client.awaited},
                       {"leaving", client.leaving},
                       {"quarantined", client.quarantined}});
  }
  return clients;
}

Json evicted_ages_json(const ServerReport& report) {
  const engine::AgeHistogram& ages = report.inspection.statistics.evicted_ages;
  return {{"ends_s", ages.ends_s}, {"counts", ages.counts}, {"sum_s", ages.sum_s}};
}

}  // namespace

std::string to_json(const ServerReport& report) {
  Json parts = Json::array();
  for (const ChunkPart& part : account_for_chunk(report)) {
    parts.push_back({{"part", part.name}, {"bytes", part.bytes}});
  }
  Json statistics = Json::object();
  for (const Counter& counter : counters()) {
    statistics[std::string(counter.name)] = counter.value_in(report);
  }
  const auto breach = report.inspection.last_breach;
  return Json{{"name", report.name},
              {"process_id", report.process_id},
              {"uptime_ns", report.uptime_ns},
              {"max_clients", report.max_clients},
              {"memory_file", report.memory_file.empty() ? Json() : Json(report.memory_file)},
              {"geometry", geometry_json(report.geometry)},
              {"chunk",
               {{"bytes", report.geometry.chunk_bytes()},
                {"held_bytes", report.inspection.held_bytes},
                {"grows", report.memory_grows},
                {"parts", std::move(parts)}}},
              {"tables", tables_json(report)},
              {"regions", regions_json(report)},
              {"mature_spaces", mature_spaces_json(report)},
              {"clients", clients_json(report)},
              {"requests_waiting", report.inspection.requests_waiting},
              {"statistics", std::move(statistics)},
              {"evicted_ages", evicted_ages_json(report)},
              {"last_breach", breach ? Json(std::string(to_string(*breach))) : Json()},
              {"idle", report.inspection.idle}}
             .dump(2) +
         "\n";
}

}  // namespace falafel::server_program
