// How long the checkers wait, once the faults have ended, for what the server does in the end.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fabric/time_units.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

// The checkers look at the server that many times.
inline constexpr std::uint64_t patient_looks = 50;

inline constexpr std::uint64_t acknowledge_timeout_ns = 100 * fabric::microsecond_ns;
// A device tries a request eight times before it gives up on the other side.
inline constexpr std::uint64_t detection_ns = 8 * acknowledge_timeout_ns;

// The schedule is fair from this step on: a strategy may starve a fiber as long as it likes, and
// proves nothing by that. Most runs end long before.
inline constexpr std::uint64_t first_fair_step = 300'000;
// Enough for all that is left to do then, but for waiting.
inline constexpr std::uint64_t steps_after_waiting = 100'000;

// The time between two looks at a server that has to come to rest: it gives up on clients that are
// gone, and may be stalled.
inline std::uint64_t look_interval_ns(const Scenario& scenario) {
  return scenario.heartbeat_timeout_ns / 8 + scenario.simulation.longest_stall_ns / 8 +
         detection_ns;
}

// The time for the audit to repair what a hostile client has done. It takes turns with others, and
// each may have to detect first that its connection to the server itself is broken: the collector,
// the cleanup, the eviction, and the reader of containers. Connecting again may take as long.
inline std::uint64_t patience_for_repair_ns(const Scenario& scenario) {
  constexpr std::uint64_t connections_to_itself = 4;
  return patient_looks * scenario.cleanup_interval_ns + 2 * connections_to_itself * detection_ns;
}

// The time for which a client waits for the end of all operations. Requests of a client that the
// server has fenced may land at any time, or never. The heartbeats of the other clients take steps
// meanwhile, so it is measured in these.
inline std::uint64_t patience_for_end_ns(const Scenario& scenario) {
  constexpr std::uint64_t heartbeat_timeouts = 64;
  return std::min(scenario.server_timeout_ns, heartbeat_timeouts * scenario.heartbeat_timeout_ns);
}

// The time for which a run may last without anything but waiting: the pauses of its clients, and
// the patience of the checkers.
inline std::uint64_t longest_wait_ns(const Scenario& scenario) {
  std::uint64_t wait_ns = patient_looks * look_interval_ns(scenario);
  for (const ClientPlan& client : scenario.clients) {
    for (const PlannedOperation& operation : client.operations) wait_ns += operation.pause_ns;
  }
  for (const PlannedAttack& attack : scenario.attacks) wait_ns += attack.pause_ns;
  return wait_ns;
}

}  // namespace falafel::store_scenario
