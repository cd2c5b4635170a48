// The clock that times operations: the processor's time stamp counter, which can be read in a few
// nanoseconds instead of tens for the system's clock, or a clock of the caller, such as the
// simulator's time.
#pragma once

#include <cstdint>
#include <functional>

#include "fabric/realtime/clock.h"
#include "fabric/realtime/processor.h"
#include "fabric/realtime/tick_rate.h"

namespace falafel::store_benchmark {

class OperationClock {
 public:
  // Calibrates the counter against the system's clock, which takes 20 ms. Assumes that the counter
  // is invariant, which holds for all processors of the last decade.
  static OperationClock of_processor() {
    constexpr std::uint64_t calibration_ns = 20'000'000;
    const fabric::TickRate rate;
    const std::uint64_t begin_ns = fabric::monotonic_ns();
    while (fabric::monotonic_ns() - begin_ns < calibration_ns) {
    }
    OperationClock clock;
    clock.ns_per_tick_ = rate.ns_per_tick();
    return clock;
  }
  static OperationClock of(std::function<std::uint64_t()> now_ns) {
    OperationClock clock;
    clock.now_ns_ = std::move(now_ns);
    return clock;
  }

  std::uint64_t now_ticks() const { return now_ns_ ? now_ns_() : fabric::processor_ticks(); }
  // The counters of two processors may differ slightly, so negative durations become 0.
  std::uint64_t to_ns(std::uint64_t begin_ticks, std::uint64_t end_ticks) const {
    if (end_ticks <= begin_ticks) return 0;
    return static_cast<std::uint64_t>(static_cast<double>(end_ticks - begin_ticks) * ns_per_tick_);
  }

 private:
  OperationClock() = default;

  std::function<std::uint64_t()> now_ns_;
  double ns_per_tick_ = 1;
};

}  // namespace falafel::store_benchmark
