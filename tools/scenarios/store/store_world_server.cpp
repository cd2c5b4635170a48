// The server of a scenario: it serves until all clients have left, and then waits until nothing is
// left to do.
#include <fmt/format.h>

#include <algorithm>

#include "checkers/collector.h"
#include "fabric/at_end.h"
#include "fabric/time_units.h"
#include "tools/scenarios/store/cancellation.h"
#include "tools/scenarios/store/parties.h"
#include "tools/scenarios/store/patience.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

engine::ServerOptions StoreWorld::server_options() const {
  return {.geometry = scenario_.geometry,
          .safeguards = scenario_.safeguards,
          .service = service,
          .max_clients = scenario_.max_clients > 0
                             ? scenario_.max_clients
                             : static_cast<std::uint32_t>(4 * clients_.size() + 1),
          .heartbeat_timeout_ns = scenario_.heartbeat_timeout_ns,
          .flush_timeout_ns = scenario_.flush_timeout_ns,
          .cleanup_percent = scenario_.cleanup_percent,
          .cleanup_interval_ns = scenario_.cleanup_interval_ns,
          .acknowledge_timeout_ns = acknowledge_timeout_ns,
          .pipelined_updates = scenario_.pipelined_updates,
          .collection = scenario_.collection,
          .asks_for_regions_back = scenario_.asks_for_regions_back,
          .keeps_overwrite_reserve = scenario_.keeps_overwrite_reserve,
          .measurement_interval_ns = 0,  // makes every denial correct at the moment of the denial
          .evicts = scenario_.evicts,
          .memory_grows = scenario_.memory_grows,
          .least_held_bytes = scenario_.least_held_bytes,
          .hash_key = scenario_.hash_key};
}

// If registrations fail, the program retries.
std::shared_ptr<engine::Server> StoreWorld::start_server(fabric::Host& host) const {
  engine::ServerOptions options = server_options();
  if (scenario_.keeps_memory) options.kept_memory = "store";
  for (;;) {
    auto server = engine::Server::start(host, options);
    if (server) return std::move(*server);
    FALAFEL_ASSERT(server.error().code == fabric::ErrorCode::out_of_memory,
                   "the server failed to start: {}", server.error().detail);
    host.sleep_until(host.now_ns() + 50 * fabric::microsecond_ns);
  }
}

// Nobody has connected yet. A table that a former process has left has entries.
void StoreWorld::place_keyless_entries(engine::Server& server) const {
  const engine::Geometry& geometry = scenario_.geometry;
  const auto stand_in = engine::Entry()
                            .pointing_to(geometry.to_units(engine::Geometry::stand_in_offset()))
                            .with_deleted()
                            .with_next_tag(geometry.tag_bits);
  for (std::uint64_t slot = 0; slot < scenario_.keyless_entries; ++slot) {
    const std::uint64_t offset = geometry.entry_offset(slot);
    if (server.memory().load(offset) == 0) server.memory().store(offset, stand_in.word());
  }
}

void StoreWorld::serve(fabric::Host& host) {
  const std::shared_ptr<engine::Server> server = start_server(host);
  place_keyless_entries(*server);
  const fabric::AtEnd forget([this] { server_ = nullptr; });
  server_ = server.get();
  const bool has_entries = scenario_.keeps_memory || scenario_.keyless_entries > 0;
  if (has_entries) watcher_->on_server_started(host.now_ns());
  std::optional<fabric::FiberId> cleanups;
  if (!scenario_.cleanups.empty()) {
    cleanups = host.spawn({.name = "cleanups"},
                          [this, &host, server] { ask_for_cleanups(host, *server); });
  }
  if (scenario_.stage) {
    pause_clients(host);
    wait_for_stage(host);
  }
  while (!are_clients_over()) host.sleep_until(host.now_ns() + 50 * fabric::microsecond_ns);
  if (cleanups) host.join(*cleanups);
  wait_until_idle(host);
  if (attacked_.is_any()) wait_for_repair(host);
  judge_memory(host);
}

// Returns at its end. A server that has restarted does not pause once more.
void StoreWorld::wait_for_stage(fabric::Host& host) const {
  const Stage& stage = *scenario_.stage;
  if (host.now_ns() < stage.server_pauses_at_ns && stage.server_pauses_at_ns < stage.begin_ns) {
    host.sleep_until(stage.server_pauses_at_ns);
    simulation_->pause("server", stage.begin_ns - stage.server_pauses_at_ns);
  }
  host.sleep_until(stage.end_ns);
}

// In fibers of their own, so that a client can pause before each of its steps. The client may be
// missing in a file, or because the scenario was shrunk.
void StoreWorld::pause_clients(fabric::Host& host) const {
  for (const PlannedPause& pause : scenario_.stage->pauses) {
    if (pause.client >= clients_.size()) continue;
    host.spawn({.name = "pause"}, [this, &host, pause] {
      host.sleep_until(pause.at_ns);
      simulation_->pause(client_name(pause.client), pause.duration_ns);
    });
  }
}

void StoreWorld::ask_for_cleanups(fabric::Host& host, engine::Server& server) {
  for (const PlannedCleanup& planned : scenario_.cleanups) {
    host.sleep_until(host.now_ns() + planned.pause_ns);
    if (are_clients_over()) return;
    const std::uint64_t cleanups = server.books().cleanups;
    const bool has_returned =
        call_unless_cancelled(host, planned.cancel_after_ns, [&] { server.clean_up(); });
    if (has_returned && server.books().cleanups == cleanups) note_missing_cleanup();
  }
}

// A cleanup that was under way when the program asked for one may have passed the entries that were
// deleted just before.
void StoreWorld::note_missing_cleanup() {
  violations_.push_back(
      {.verdict = checkers::Verdict::violated,
       .property = "cleanup.served-early",
       .explanation = fmt::format("step {}: a cleanup that the server's program has asked for is "
                                  "over, but none has begun since",
                                  steps()),
       .step = steps()});
}

// Ends the processes that are stopped in the middle of a copy. Until then, the server cannot know
// when their regions come back.
void StoreWorld::end_slow_landing() {
  if (scenario_.simulation.fault_rate(sim::FaultKind::slow_landing) == 0) return;
  for (std::size_t client = 0; client < clients_.size(); ++client) {
    simulation_->hold_landing(client_name(client), 0);
  }
  if (!scenario_.attacks.empty()) simulation_->hold_landing(Parties::hostile_host, 0);
}

// The server detects crashed clients at the latest after their heartbeat time-out. The waiting time
// counts from the end of the faults: a latency spike advances the clock to the next timer, so any
// amount of time can pass before another fiber takes a step.
void StoreWorld::wait_until_idle(fabric::Host& host) {
  const std::uint64_t interval_ns = look_interval_ns(scenario_);
  std::uint64_t wait_ns = 2 * fabric::microsecond_ns;
  for (std::uint64_t attempt = 0; attempt < patient_looks;) {
    end_slow_landing();
    const engine::ServerInspection inspection = server_->inspect();
    if (inspection.idle && inspection.statistics.clients_connected == 0) return;
    host.sleep_until(host.now_ns() + wait_ns);
    wait_ns = std::min(2 * wait_ns, interval_ns);
    if (wait_ns == interval_ns && are_faults_over()) ++attempt;
  }
  violations_.push_back({.verdict = checkers::Verdict::violated,
                         .property = "progress.server",
                         .explanation = "all clients have left, but the server is not idle"});
}

// The hostile client is gone. The next walks of the audit repair what it has done.
void StoreWorld::wait_for_repair(fabric::Host& host) {
  const std::uint64_t patience_ns = patience_for_repair_ns(scenario_);
  for (std::uint64_t waited_ns = 0; waited_ns < patience_ns;) {
    const engine::ServerBooks books = server_->books();
    if (checkers::check_repaired(view(books)).verdict == checkers::Verdict::holds) return;
    host.sleep_until(host.now_ns() + scenario_.cleanup_interval_ns);
    if (are_faults_over()) waited_ns += scenario_.cleanup_interval_ns;
  }
}

}  // namespace falafel::store_scenario
