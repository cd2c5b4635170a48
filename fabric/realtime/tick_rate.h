// Measures how long a tick of the processor's counter lasts, against the system's clock. Assumes
// that the counter runs at a constant rate, which holds for all processors of the last decade.
#pragma once

#include <cstdint>
#include <limits>

#include "fabric/realtime/clock.h"
#include "fabric/realtime/processor.h"

namespace falafel::fabric {

class TickRate {
 public:
  // The measurement begins here. The longer it lasts, the more exact it is: a millisecond gives an
  // accuracy of about a thousandth.
  TickRate() : begin_(read_both()) {}

  double ns_per_tick() const {
    const Reading end = read_both();
    return static_cast<double>(end.ns - begin_.ns) / static_cast<double>(end.ticks - begin_.ticks);
  }

 private:
  struct Reading {
    std::uint64_t ns = 0;
    std::uint64_t ticks = 0;
  };

  // Reads the clock between two readings of the counter. Makes several attempts; the one whose
  // readings are closest together was not interrupted.
  static Reading read_both() {
    constexpr int attempts = 5;
    Reading best;
    std::uint64_t least_ticks = std::numeric_limits<std::uint64_t>::max();
    for (int attempt = 0; attempt < attempts; ++attempt) {
      const std::uint64_t before_ticks = processor_ticks();
      const std::uint64_t ns = monotonic_ns();
      const std::uint64_t between_ticks = processor_ticks() - before_ticks;
      if (between_ticks >= least_ticks) continue;
      least_ticks = between_ticks;
      best = {.ns = ns, .ticks = before_ticks + between_ticks / 2};
    }
    return best;
  }

  Reading begin_;
};

}  // namespace falafel::fabric
