// The conditions of a timed run beyond its card. A program chooses them; they are not part of a
// profile's file.
#pragma once

#include <cstdint>

namespace falafel::sim::timing {

struct Conditions {
  // How late completions are on average. Usually less, sometimes many times as much.
  std::uint64_t jitter_ns = 0;

  // The hosts of a machine share its processors (Profile::processors). Otherwise each host
  // has one of its own, and the following values mean nothing.
  bool shares_processors = false;
  // Threads of other programs on each machine. They never wait.
  std::uint32_t background_threads = 0;
  // A thread that waits gives up its processor, and waking it takes time. Otherwise it polls and
  // keeps the processor until its time slice ends.
  bool threads_block = false;
  std::uint64_t slice_ns = 3'000'000;
  std::uint64_t switch_ns = 1'500;  // less than slice_ns
  std::uint64_t wake_ns = 3'000;

  // Programs poll on the buffers of their READs and atomics. Answers then land in a step of their
  // own, when they arrive. Otherwise they land as soon as the responder has them, which a program
  // that waits for completions cannot tell.
  bool polls_buffers = false;

  // The time of a step along a list (Work::list_step), for each pair in its table.
  std::uint64_t list_step_ps_per_pair = 0;

  friend bool operator==(const Conditions&, const Conditions&) = default;
};

}  // namespace falafel::sim::timing
