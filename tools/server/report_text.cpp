#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "tools/server/server_report.h"

namespace falafel::server_program {
namespace {

std::string chunk_lines(const ServerReport& report) {
  std::string text = fmt::format(
      "memory: {} bytes{}{}\n", report.geometry.chunk_bytes(),
      report.memory_grows
          ? fmt::format(" at most, of which it holds {}", report.inspection.held_bytes)
          : "",
      report.memory_file.empty() ? "" : fmt::format(", in the file '{}'", report.memory_file));
  for (const ChunkPart& part : account_for_chunk(report)) {
    if (part.bytes > 0) text += fmt::format("  {:<22}{:>16}\n", part.name, part.bytes);
  }
  return text;
}

std::uint64_t count_regions_of(const ServerReport& report, std::uint32_t client) {
  std::uint64_t count = 0;
  for (const engine::RegionInspection& region : report.inspection.regions) {
    count += region.state == engine::RegionState::granted && region.client == client ? 1U : 0U;
  }
  return count;
}

std::string_view describe_leaving(const engine::ClientInspection& client) {
  if (client.quarantined) return ", fenced but not flushed: in quarantine";
  return client.leaving ? ", leaving" : "";
}

std::string client_lines(const ServerReport& report) {
  std::string text =
      fmt::format("clients: {} of {}\n", report.inspection.clients.size(), report.max_clients);
  for (const engine::ClientInspection& client : report.inspection.clients) {
    text += fmt::format(
        "  client {}: {} regions, silent for {:.1f} s{}{}\n", client.number,
        count_regions_of(report, client.number), static_cast<double>(client.silence_ns) / 1e9,
        client.awaited ? ", memory is waiting for it" : "", describe_leaving(client));
  }
  return text;
}

std::string waiting_lines(const ServerReport& report) {
  std::uint64_t spaces = 0;
  for (const auto& space : report.inspection.mature_spaces) spaces += space.waiting ? 1U : 0U;
  return fmt::format(
      "waiting: {} regions and {} mature spaces until clients are quiescent, {} regions to be "
      "collected, "
      "{} requests for a region\nidle: {}\n",
      count_regions(report, engine::RegionState::waiting), spaces,
      count_regions(report, engine::RegionState::released), report.inspection.requests_waiting,
      report.inspection.idle ? "yes" : "no");
}

std::string evicted_age_lines(const ServerReport& report) {
  const engine::AgeHistogram& ages = report.inspection.statistics.evicted_ages;
  std::string text;
  for (std::size_t bucket = 0; bucket < ages.counts.size(); ++bucket) {
    if (ages.counts[bucket] == 0) continue;
    const std::string age = bucket < ages.ends_s.size()
                                ? fmt::format("at most {} s", ages.ends_s[bucket])
                                : fmt::format("over {} s", ages.ends_s.back());
    text += fmt::format("  {:<22}{:>16}\n", "evicted, " + age, ages.counts[bucket]);
  }
  return text;
}

}  // namespace

std::string to_text(const ServerReport& report) {
  const engine::Geometry& geometry = report.geometry;
  std::string text = fmt::format(
      "server '{}', process {}, for {:.0f} s\ntable: {} entries; {} regions of {} bytes; {} "
      "mature spaces of {} bytes\n",
      report.name, report.process_id, static_cast<double>(report.uptime_ns) / 1e9,
      present_table_entries(report), geometry.region_count, geometry.region_bytes,
      geometry.mature_space_count, geometry.mature_bytes);
  text += chunk_lines(report) + client_lines(report) + waiting_lines(report) + "since the start:\n";
  for (const Counter& counter : counters()) {
    text += fmt::format("  {:<22}{:>16}\n", counter.name, counter.value_in(report));
  }
  text += evicted_age_lines(report);
  if (report.inspection.last_breach) {
    text +=
        fmt::format("  last client expelled for: {}\n", to_string(*report.inspection.last_breach));
  }
  return text;
}

}  // namespace falafel::server_program
