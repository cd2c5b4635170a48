// The processors that the threads of one machine share in a timed run.
//
// Threads that poll always want to run. If there are more of them than processors, they take turns:
// in each time slice, the next threads in the order of their numbers run, and one that was not
// running before loses the time of a switch. Threads of the background stand between the others, in
// equal distances. Which thread runs when is thus known in advance.
//
// Threads that block run only while they have work. They take a processor that is free, or wait
// for the first one. A thread of the background runs on a free processor and yields it at once, so
// it costs a switch.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/sim/timing/conditions.h"

namespace falafel::sim::timing {

class Processors {
 public:
  Processors(const Conditions& conditions, std::uint64_t count);

  // Returns the number of the thread. All threads must be added before the first turn.
  std::uint32_t add_thread() { return threads_++; }

  // The first time, not before this one, at which the thread can run.
  std::uint64_t next_turn_ns(std::uint32_t thread, std::uint64_t now_ns) const;
  // The thread begins to run. Returns for how long it cannot work yet.
  std::uint64_t begin_turn_ns(std::uint32_t thread, std::uint64_t now_ns);
  // How often a thread that polls lost its processor before this time.
  std::uint64_t preemptions(std::uint32_t thread, std::uint64_t until_ns) const;
  // The time by which a thread that began to run at `begin_ns` has done the work.
  std::uint64_t end_turn_ns(std::uint32_t thread, std::uint64_t begin_ns, std::uint64_t work_ns);

 private:
  struct Processor {
    std::uint64_t free_at_ns = 0;
    std::uint32_t last_thread = no_thread;
  };
  static constexpr std::uint32_t no_thread = ~std::uint32_t{0};

  std::uint64_t polling_threads() const { return threads_ + conditions_.background_threads; }
  bool take_turns() const { return !conditions_.threads_block && polling_threads() > count_; }
  bool runs_in_slice(std::uint32_t thread, std::uint64_t slice) const;
  std::uint64_t slice_begin_ns(std::uint32_t thread, std::uint64_t slice) const;

  Conditions conditions_;
  std::uint64_t count_;
  std::uint32_t threads_ = 0;
  std::vector<Processor> processors_;  // of threads that block
  std::uint32_t current_ = 0;          // that the running thread took
};

}  // namespace falafel::sim::timing
