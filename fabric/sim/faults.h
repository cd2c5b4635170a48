// When faults strike, and what they strike. For each kind that depends on steps, the step of its
// next strike is drawn in advance. Losses, reordering and failing registrations are drawn per
// packet, message and registration, in the code that handles these.
#pragma once

#include <array>
#include <cstdint>

#include "fabric/sim/options/options.h"

namespace falafel::sim {

class Host;
class QueuePairActor;
struct World;

class FaultInjector {
 public:
  explicit FaultInjector(World& world);

  std::uint64_t next_step() const { return next_step_; }
  void strike_due();

 private:
  void draw_next(FaultKind kind);
  void find_next();
  bool strike(FaultKind kind);
  bool strike_host(FaultKind kind);
  bool strike_queue_pair(FaultKind kind);
  bool strike_clock();
  std::uint64_t draw_duration_ns();

  World& world_;
  std::array<std::uint64_t, fault_kind_count> strikes_at_{};
  std::uint64_t next_step_ = 0;
};

}  // namespace falafel::sim
