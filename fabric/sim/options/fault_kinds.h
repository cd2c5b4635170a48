// Properties of the kinds of faults.
#pragma once

#include "fabric/sim/options/options.h"

namespace falafel::sim {

// The other kinds strike packets, messages and registrations.
constexpr bool strikes_at_steps(FaultKind kind) {
  return kind != FaultKind::unreliable_loss && kind != FaultKind::datagram_reordering &&
         kind != FaultKind::registration_failure;
}

// A host or a queue pair, and not the clock of the whole run.
constexpr bool has_target(FaultKind kind) {
  return strikes_at_steps(kind) && kind != FaultKind::latency_spike;
}

}  // namespace falafel::sim
