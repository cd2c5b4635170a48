// The parts that depend on the kind of processor: a hint for loops that spin, and a counter that is
// cheap to read.
#pragma once

#include <cstdint>

namespace falafel::fabric {

// Tells the processor that this thread spins, so that it saves power and lets its other hardware
// thread run.
inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Ticks of a counter that runs at a constant rate. Reading it takes a few nanoseconds, where the
// system's clock takes tens. Counters of two processors may differ a little.
inline std::uint64_t processor_ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
#error "processor_ticks: add the counter of this kind of processor"
#endif
}

}  // namespace falafel::fabric
