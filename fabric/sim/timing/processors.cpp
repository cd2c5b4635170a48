#include "fabric/sim/timing/processors.h"

#include <algorithm>

namespace falafel::sim::timing {

Processors::Processors(const Conditions& conditions, std::uint64_t count)
    : conditions_(conditions), count_(count) {
  if (conditions.threads_block) processors_.resize(count);
}

bool Processors::runs_in_slice(std::uint32_t thread, std::uint64_t slice) const {
  const std::uint64_t all = polling_threads();
  const std::uint64_t first = slice * count_ % all;
  // Threads of the background stand between the others.
  const std::uint64_t place = thread * all / threads_;
  return (place + all - first) % all < count_;
}

// When the thread can work in a slice in which it runs.
std::uint64_t Processors::slice_begin_ns(std::uint32_t thread, std::uint64_t slice) const {
  const bool continues = slice > 0 && runs_in_slice(thread, slice - 1);
  return slice * conditions_.slice_ns + (continues ? 0 : conditions_.switch_ns);
}

std::uint64_t Processors::next_turn_ns(std::uint32_t thread, std::uint64_t now_ns) const {
  if (conditions_.threads_block) {
    const std::uint64_t free_at_ns =
        std::ranges::min_element(processors_, {}, &Processor::free_at_ns)->free_at_ns;
    return std::max(now_ns, free_at_ns);
  }
  if (!take_turns()) return now_ns;
  std::uint64_t slice = now_ns / conditions_.slice_ns;
  while (!runs_in_slice(thread, slice)) ++slice;
  return std::max(now_ns, slice_begin_ns(thread, slice));
}

std::uint64_t Processors::preemptions(std::uint32_t thread, std::uint64_t until_ns) const {
  if (!take_turns()) return 0;
  std::uint64_t preemptions = 0;
  const std::uint64_t slices = until_ns / conditions_.slice_ns;
  for (std::uint64_t slice = 0; slice < slices; ++slice) {
    if (runs_in_slice(thread, slice) && !runs_in_slice(thread, slice + 1)) ++preemptions;
  }
  return preemptions;
}

std::uint64_t Processors::begin_turn_ns(std::uint32_t thread, std::uint64_t now_ns) {
  if (!conditions_.threads_block) return 0;
  const auto is_free = [&](const Processor& one) { return one.free_at_ns <= now_ns; };
  auto taken = std::ranges::find_if(
      processors_, [&](const Processor& one) { return is_free(one) && one.last_thread == thread; });
  if (taken == processors_.end()) taken = std::ranges::find_if(processors_, is_free);
  current_ = static_cast<std::uint32_t>(taken - processors_.begin());
  const bool has_background = current_ < conditions_.background_threads;
  const bool switches = has_background ? taken->free_at_ns < now_ns || taken->last_thread != thread
                                       : taken->last_thread != thread;
  taken->last_thread = thread;
  return switches ? conditions_.switch_ns : 0;
}

std::uint64_t Processors::end_turn_ns(std::uint32_t thread, std::uint64_t begin_ns,
                                      std::uint64_t work_ns) {
  if (conditions_.threads_block) {
    processors_[current_].free_at_ns = begin_ns + work_ns;
    return begin_ns + work_ns;
  }
  if (!take_turns()) return begin_ns + work_ns;
  for (std::uint64_t now_ns = begin_ns;;) {
    const std::uint64_t slice_end_ns = (now_ns / conditions_.slice_ns + 1) * conditions_.slice_ns;
    if (now_ns + work_ns <= slice_end_ns) return now_ns + work_ns;
    work_ns -= slice_end_ns - now_ns;
    now_ns = next_turn_ns(thread, slice_end_ns);
  }
}

}  // namespace falafel::sim::timing
