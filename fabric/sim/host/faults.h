// When faults strike, and what they strike. For each kind that depends on steps, the step of its
// next strike is drawn in advance. Losses, reordering and failing registrations are drawn per
// packet, message and registration, in the code that handles these.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "fabric/sim/options/options.h"

namespace falafel::sim {

class Host;
class QueuePairActor;
struct World;

// A host or a queue pair, as the kind of the fault needs.
struct FaultTarget {
  Host* host = nullptr;
  QueuePairActor* queue_pair = nullptr;
};

inline constexpr std::array faults_of_hosts = {FaultKind::client_crash, FaultKind::client_pause,
                                               FaultKind::server_stall, FaultKind::server_restart,
                                               FaultKind::client_stop,  FaultKind::server_stop,
                                               FaultKind::slow_landing, FaultKind::clock_step};
inline constexpr std::array faults_of_queue_pairs = {
    FaultKind::queue_pair_error, FaultKind::message_delay, FaultKind::late_packets};

// For kinds that strike hosts or queue pairs.
bool can_strike(FaultKind kind, const FaultTarget& target);
// Asks for the duration of faults that last. The fault must be able to strike the target.
void strike(World& world, FaultKind kind, const FaultTarget& target,
            const std::function<std::uint64_t()>& duration_ns);

class FaultInjector {
 public:
  explicit FaultInjector(World& world);

  std::uint64_t next_step() const { return next_step_; }
  void strike_due();
  // Call before strike_due(). A fault of one of the kinds that are on strikes at one of the next
  // steps, beginning with this one.
  void follow_event();

 private:
  void draw_next(FaultKind kind);
  void find_next();
  bool strike_any(FaultKind kind);
  bool strike_clock();
  std::vector<FaultTarget> find_targets(FaultKind kind) const;
  std::uint64_t draw_duration_ns();

  World& world_;
  std::array<std::uint64_t, fault_kind_count> strikes_at_{};
  std::uint64_t next_step_ = 0;
};

}  // namespace falafel::sim
