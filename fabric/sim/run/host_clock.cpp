#include "fabric/sim/run/host_clock.h"

#include "fabric/sim/run/world.h"

namespace falafel::sim {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t million = 1'000'000;
// The wall clock when a run begins, 2001-09-09: no error makes it negative.
constexpr std::uint64_t epoch_ns = 1'000'000'000'000'000'000;

}  // namespace

std::int64_t HostClock::draw_error(std::uint64_t most) const {
  if (most == 0) return 0;
  const std::uint64_t drawn = world_.choose(ChoiceKind::clock, 2 * most + 1);
  return static_cast<std::int64_t>(drawn) - static_cast<std::int64_t>(most);
}

void HostClock::boot() {
  const SimulationOptions& options = world_.options;
  booted_at_ns_ = world_.trace.time_ns();
  parts_per_million_ =
      million + static_cast<std::uint64_t>(draw_error(options.clock_drift_ppm));  // wraps around
  at_boot_ns_ = booted_at_ns_;
  if (options.clock_offset_ns > 0) {
    at_boot_ns_ += world_.choose(ChoiceKind::clock, options.clock_offset_ns + 1);
  }
  is_exact_ = parts_per_million_ == million && at_boot_ns_ == booted_at_ns_;
  set_wall_clock(draw_error(options.clock_offset_ns));
}

std::uint64_t HostClock::elapsed_ns(std::uint64_t duration_ns) const {
  return static_cast<std::uint64_t>(Wide{duration_ns} * parts_per_million_ / million);
}

std::uint64_t HostClock::now_ns() const {
  const std::uint64_t time_ns = world_.local_time_ns();
  return is_exact_ ? time_ns : at_boot_ns_ + elapsed_ns(time_ns - booted_at_ns_);
}

std::uint64_t HostClock::inexact_time_of(std::uint64_t deadline_ns) const {
  if (deadline_ns <= at_boot_ns_) return booted_at_ns_;
  const Wide left = Wide{deadline_ns - at_boot_ns_} * million;
  const Wide time_ns = booted_at_ns_ + (left + parts_per_million_ - 1) / parts_per_million_;
  return time_ns < fabric::never_ns ? static_cast<std::uint64_t>(time_ns) : fabric::never_ns;
}

std::uint64_t HostClock::wall_clock_ns() const {
  return epoch_ns + set_at_ns_ + static_cast<std::uint64_t>(wall_error_ns_) +
         elapsed_ns(world_.trace.time_ns() - set_at_ns_);
}

void HostClock::set_wall_clock(std::int64_t error_ns) {
  set_at_ns_ = world_.trace.time_ns();
  wall_error_ns_ = error_ns;
}

void HostClock::step() { set_wall_clock(draw_error(world_.options.clock_offset_ns)); }

bool HostClock::can_step() const { return world_.options.clock_offset_ns > 0; }

}  // namespace falafel::sim
