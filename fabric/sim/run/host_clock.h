// The clocks of a host. The simulator has one time; a host's clocks may be off and run fast or
// slow. The options clock_offset_ns and clock_drift_ppm say how much at most, and each host draws
// its own errors when it boots. Without these options the clocks are exact and nothing is drawn.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"

namespace falafel::sim {

struct World;

class HostClock {
 public:
  explicit HostClock(World& world) : world_(world) {}

  // The host boots: draws the errors of its clocks.
  void boot();

  // The monotonic clock: where it starts means nothing, and it never goes backward.
  std::uint64_t now_ns() const;
  // The first moment, in the simulator's time, at which the monotonic clock has reached the
  // deadline.
  std::uint64_t time_of(std::uint64_t deadline_ns) const {
    return is_exact_ || deadline_ns == fabric::never_ns ? deadline_ns
                                                        : inexact_time_of(deadline_ns);
  }

  std::uint64_t wall_clock_ns() const;
  // Sets the wall clock, which is then off by the error.
  void set_wall_clock(std::int64_t error_ns);
  // Sets the wall clock to one of the times that its offset permits; can_step() must be true.
  void step();
  bool can_step() const;

  std::uint64_t parts_per_million() const { return parts_per_million_; }
  std::int64_t wall_error_ns() const { return wall_error_ns_; }

 private:
  std::int64_t draw_error(std::uint64_t most) const;
  std::uint64_t elapsed_ns(std::uint64_t duration_ns) const;
  std::uint64_t inexact_time_of(std::uint64_t deadline_ns) const;

  World& world_;
  bool is_exact_ = true;
  std::uint64_t parts_per_million_ = 1'000'000;  // its speed
  std::uint64_t booted_at_ns_ = 0;
  std::uint64_t at_boot_ns_ = 0;  // the monotonic clock
  std::uint64_t set_at_ns_ = 0;   // the wall clock
  std::int64_t wall_error_ns_ = 0;
};

}  // namespace falafel::sim
