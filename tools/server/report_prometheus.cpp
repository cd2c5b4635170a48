// The text format of Prometheus, version 0.0.4: for each metric, its help, its type and its
// samples.
#include <fmt/format.h>

#include <cstddef>

#include "tools/server/server_report.h"

namespace falafel::server_program {
namespace {

std::string gauge(std::string_view name, std::string_view meaning, double value) {
  return fmt::format("# HELP falafel_{0} {1}\n# TYPE falafel_{0} gauge\nfalafel_{0} {2}\n", name,
                     meaning, value);
}

std::string counter(std::string_view name, std::string_view meaning, std::uint64_t value) {
  return fmt::format(
      "# HELP falafel_{0}_total {1}\n# TYPE falafel_{0}_total counter\nfalafel_{0}_total {2}\n",
      name, meaning, value);
}

std::string memory(const ServerReport& report) {
  std::string text =
      "# HELP falafel_memory_bytes bytes of the server's memory by use\n"
      "# TYPE falafel_memory_bytes gauge\n";
  for (const ChunkPart& part : account_for_chunk(report)) {
    text += fmt::format("falafel_memory_bytes{{part=\"{}\"}} {}\n", part.name, part.bytes);
  }
  return text;
}

std::string evicted_ages(const ServerReport& report) {
  const engine::AgeHistogram& ages = report.inspection.statistics.evicted_ages;
  std::string text =
      "# HELP falafel_evicted_age_seconds ages of the values deleted to make room\n"
      "# TYPE falafel_evicted_age_seconds histogram\n";
  std::uint64_t count = 0;
  for (std::size_t bucket = 0; bucket < ages.ends_s.size(); ++bucket) {
    count += ages.counts[bucket];
    text += fmt::format("falafel_evicted_age_seconds_bucket{{le=\"{}\"}} {}\n", ages.ends_s[bucket],
                        count);
  }
  count += ages.counts.back();
  return text + fmt::format(
                    "falafel_evicted_age_seconds_bucket{{le=\"+Inf\"}} {0}\n"
                    "falafel_evicted_age_seconds_sum {1}\nfalafel_evicted_age_seconds_count {0}\n",
                    count, ages.sum_s);
}

std::uint64_t count_awaited(const ServerReport& report) {
  std::uint64_t count = 0;
  for (const auto& client : report.inspection.clients) count += client.awaited ? 1U : 0U;
  return count;
}

std::uint64_t count_quarantined(const ServerReport& report) {
  std::uint64_t count = 0;
  for (const auto& client : report.inspection.clients) count += client.quarantined ? 1U : 0U;
  return count;
}

}  // namespace

std::string to_prometheus(const ServerReport& report) {
  const engine::ServerInspection& inspection = report.inspection;
  std::string text = gauge("uptime_seconds", "seconds since the server started",
                           static_cast<double>(report.uptime_ns) / 1e9);
  text += gauge("clients", "connected clients", static_cast<double>(inspection.clients.size()));
  text += gauge("clients_awaited", "clients that collected memory is waiting for",
                static_cast<double>(count_awaited(report)));
  text += gauge("clients_quarantined", "fenced clients whose requests have not been flushed",
                static_cast<double>(count_quarantined(report)));
  text += gauge("requests_waiting", "pending requests for a region",
                static_cast<double>(inspection.requests_waiting));
  text += gauge("memory_held_bytes", "bytes of memory that the store holds now",
                static_cast<double>(inspection.held_bytes));
  text += gauge("memory_limit_bytes", "bytes of memory that the store can hold",
                static_cast<double>(report.geometry.chunk_bytes()));
  text += gauge("table_entries", "number of slots in the table",
                static_cast<double>(present_table_entries(report)));
  text += gauge("table_entries_limit", "number of slots to which the table can grow",
                static_cast<double>(report.geometry.entries_of(report.geometry.most_tables - 1)));
  text += gauge("tables_in_use", "number of tables with keys; more than 1 while the table grows",
                static_cast<double>(inspection.tables.last - inspection.tables.first + 1));
  text +=
      gauge("idle", "1 if nothing is left to collect, reclaim or grant", inspection.idle ? 1 : 0);
  text += memory(report);
  for (const Counter& entry : counters()) {
    text += counter(entry.name, entry.meaning, entry.value_in(report));
  }
  return text + evicted_ages(report);
}

}  // namespace falafel::server_program
