// An actor makes steps when the strategy picks it: a fiber, a queue pair or a handshake.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/sim/strategies/strategy.h"
#include "fabric/sim/touches.h"

namespace falafel::sim {

namespace timing {
class DueQueue;
}

class Actor {
 public:
  virtual ~Actor() = default;
  virtual void step() = 0;
  // Makes the next step of that lane.
  virtual void step_lane(LaneNumber /*lane*/) { step(); }
  // Appends the lanes that can make a step. The actor can make one.
  virtual void list_lanes(std::vector<Lane>& lanes) const { lanes.push_back({.actor = actor_id_}); }
  virtual std::string describe() const = 0;

  ActorId actor_id() const { return actor_id_; }

 private:
  friend class ReadySet;
  friend class timing::DueQueue;
  static constexpr std::uint32_t absent = ~std::uint32_t{0};

  ActorId actor_id_ = 0;
  std::uint32_t due_position_ = 0;    // in the queue by time
  std::uint64_t due_ns_ = 0;          // in a timed run: no step before
  std::uint64_t waits_since_ns_ = 0;  // decides among actors that are due at the same time
  std::uint32_t position_ = absent;   // in the ready set
  bool has_work_ = false;
  std::uint32_t holds_ = 0;  // number of pauses and delays in effect
};

}  // namespace falafel::sim
