#include "tools/benchmarks/store/system_time.h"

#include <chrono>
#include <thread>

#include "fabric/realtime/clock.h"

namespace falafel::store_benchmark {

Timekeeper system_time() {
  return {.now_ns = fabric::monotonic_ns, .sleep = [](std::uint64_t duration_ns) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(duration_ns));
          }};
}

}  // namespace falafel::store_benchmark
