// The server: serves until it is stopped, waits until it is idle, and has its memory checked.
#include <fmt/format.h>

#include "checkers/collector.h"
#include "checkers/memory_view.h"
#include "checkers/table.h"
#include "tests/hang_limit.h"
#include "tests/vm/driver/control.h"
#include "tests/vm/driver/driver.h"

namespace falafel::driver {
namespace {

bool comes_to_rest(fabric::Host& host, const engine::Server& server) {
  const std::uint64_t deadline_ns = host.now_ns() + hang_limit_ns;
  for (;;) {
    const engine::ServerInspection inspection = server.inspect();
    if (inspection.idle && inspection.statistics.clients_connected == 0) return true;
    if (host.now_ns() > deadline_ns) return false;
    host.sleep_until(host.now_ns() + 10 * millisecond_ns);
  }
}

void print_statistics(const engine::ServerStatistics& statistics) {
  fmt::print(
      "statistics: clients_fenced={} regions_granted={} regions_collected={} mature_collections={} "
      "containers_copied={} cleanups={} entries_cleaned={} updates_lost={}\n",
      statistics.clients_fenced, statistics.regions_granted, statistics.regions_collected,
      statistics.mature_collections, statistics.containers_copied, statistics.cleanups,
      statistics.entries_cleaned, statistics.updates_lost);
}

int judge(engine::Server& server) {
  const engine::ServerInspection inspection = server.inspect();
  print_statistics(inspection.statistics);
  const checkers::MemoryView view{.geometry = server.geometry(),
                                  .hash_key = server.hash_key(),
                                  .chunk = server.memory().bytes(),
                                  .regions = inspection.regions,
                                  .mature_spaces = inspection.mature_spaces};
  int status = 0;
  for (const checkers::Judgement& judgement :
       {checkers::check_table(view), checkers::check_collector(view)}) {
    if (judgement.verdict == checkers::Verdict::holds) continue;
    fmt::print("{}: {}\n", judgement.property, judgement.explanation);
    status = 1;
  }
  if (status == 0) fmt::print("all bytes are accounted for\n");
  return status;
}

std::uint16_t control_service(const Settings& settings) {
  return static_cast<std::uint16_t>(settings.service + 1);
}

int serve_until_told(verbs::Host& host, const Settings& settings) {
  auto server = engine::Server::start(host, server_options(settings));
  if (!server) {
    fmt::print("{}: {}\n", to_string(server.error().code), server.error().detail);
    return 2;
  }
  fmt::print("serving\n");
  if (auto stopped = wait_until_stopped(host, control_service(settings)); !stopped) {
    fmt::print("{}: {}\n", to_string(stopped.error().code), stopped.error().detail);
    return 2;
  }
  if (!comes_to_rest(host, **server)) {
    fmt::print("the server does not come to rest: {} clients are there\n",
               (*server)->inspect().statistics.clients_connected);
    return 1;
  }
  return judge(**server);
}

}  // namespace

int serve(const Settings& settings) {
  return run_on_host(settings, [&](verbs::Host& host) { return serve_until_told(host, settings); });
}

int finish(const Settings& settings) {
  return run_on_host(settings, [&](verbs::Host& host) {
    const bool heard =
        stop_server(host, {.host = settings.server, .service = control_service(settings)});
    if (!heard) fmt::print("the server does not answer\n");
    return heard ? 0 : 1;
  });
}

}  // namespace falafel::driver
