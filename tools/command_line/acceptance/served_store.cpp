#include "tools/command_line/acceptance/served_store.h"

#include <fmt/format.h>

#include "checkers/collector.h"
#include "checkers/memory_view.h"
#include "checkers/table.h"
#include "fabric/time_units.h"
#include "tools/command_line/acceptance/protocol.h"

namespace falafel::acceptance {
namespace {

// The server gives up on a killed client after its heartbeat time-out, then fences it.
constexpr std::uint64_t rest_patience_ns = 180 * fabric::second_ns;

bool comes_to_rest(fabric::Host& host, const engine::Server& server) {
  const std::uint64_t deadline_ns = host.now_ns() + rest_patience_ns;
  while (host.now_ns() < deadline_ns) {
    const engine::ServerInspection inspection = server.inspect();
    if (inspection.idle && inspection.statistics.clients_connected == 0) return true;
    host.sleep_until(host.now_ns() + 10 * fabric::millisecond_ns);
  }
  return false;
}

}  // namespace

engine::Geometry store_geometry() {
  return {.unit_bytes = 8,
          .table_entries = 256,
          .region_bytes = 8'192,
          .region_count = 32,
          .mature_bytes = 262'144};
}

fabric::Result<std::unique_ptr<engine::Server>> start_small_store(fabric::Host& host) {
  engine::ServerOptions options;
  options.geometry = store_geometry();
  options.service = store_service;
  options.max_clients = 64;
  options.cleanup_percent = 2;
  options.cleanup_interval_ns = 200 * fabric::millisecond_ns;
  return engine::Server::start(host, options);
}

std::string judge_store(fabric::Host& host, engine::Server& server, std::string& summary) {
  if (!comes_to_rest(host, server)) {
    return fmt::format("the server does not come to rest: {} clients are connected",
                       server.inspect().statistics.clients_connected);
  }
  const engine::ServerInspection inspection = server.inspect();
  const engine::ServerStatistics& statistics = inspection.statistics;
  summary = fmt::format(
      "{} regions granted, {} collected, {} mature collections, {} cleanups, {} clients fenced",
      statistics.regions_granted, statistics.regions_collected, statistics.mature_collections,
      statistics.cleanups, statistics.clients_fenced);
  const checkers::MemoryView view{.geometry = server.geometry(),
                                  .hash_key = server.hash_key(),
                                  .chunk = server.memory().bytes(),
                                  .regions = inspection.regions,
                                  .mature_spaces = inspection.mature_spaces};
  for (const checkers::Judgement& judgement :
       {checkers::check_table(view), checkers::check_collector(view)}) {
    if (judgement.verdict != checkers::Verdict::holds)
      return judgement.property + ": " + judgement.explanation;
  }
  return {};
}

}  // namespace falafel::acceptance
