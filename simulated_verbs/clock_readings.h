// Counts how often a process reads clocks. A program that reads them again and again waits for a
// time, and while it runs, no time passes. So some readings take a moment, in which others run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fabric/fabric.h"

namespace falafel::simulated_verbs {

class ClockReadings {
 public:
  // Waits at every sixteenth reading, longer and longer if the program only reads clocks.
  void count(fabric::Host& host) {
    if (++readings_ % readings_between_waits != 0) return;
    host.sleep_until(host.now_ns() + wait_ns_);
    wait_ns_ = std::min(2 * wait_ns_, longest_wait_ns);
  }
  // The program has waited otherwise.
  void forget() { wait_ns_ = shortest_wait_ns; }

 private:
  static constexpr std::uint64_t readings_between_waits = 16;
  static constexpr std::uint64_t shortest_wait_ns = 1'000;
  static constexpr std::uint64_t longest_wait_ns = 100'000;

  std::uint64_t readings_ = 0;
  std::uint64_t wait_ns_ = shortest_wait_ns;
};

}  // namespace falafel::simulated_verbs
