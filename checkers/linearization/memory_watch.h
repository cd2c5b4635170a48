// Watches the memory of the process while a search runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "checkers/process_memory.h"

namespace falafel::checkers::linearization {

// Asks for the memory after a number of steps that adapts to its growth: a step of a search may
// allocate nothing or a large state, and each question costs about a microsecond.
class MemoryWatch {
 public:
  // Without `memory`, no limit is reached.
  void begin(ProcessMemory* memory, std::uint64_t limit_bytes) {
    memory_ = memory;
    limit_bytes_ = limit_bytes;
    interval_ = first_interval;
    steps_left_ = memory == nullptr ? std::numeric_limits<std::uint64_t>::max() : interval_;
    if (memory == nullptr) return;
    resident_bytes_ = memory->resident_bytes();
    if (resident_bytes_ <= limit_bytes / 2) return;
    memory->release_free();  // the memory of an earlier search
    resident_bytes_ = memory->resident_bytes();
  }

  // Call at each step. Returns whether the process would exceed the limit if its memory kept
  // growing.
  bool is_reached() { return --steps_left_ == 0 && ask(); }

  // Returns whether the process would exceed the limit by allocating `bytes` more.
  bool lacks(std::uint64_t bytes) {
    if (memory_ == nullptr) return false;
    resident_bytes_ = memory_->resident_bytes();
    return resident_bytes_ + bytes > limit_bytes_;
  }

 private:
  static constexpr std::uint64_t first_interval = 16;
  static constexpr std::uint64_t longest_interval = 4096;

  bool ask() {
    const std::uint64_t before = resident_bytes_;
    resident_bytes_ = memory_->resident_bytes();
    const std::uint64_t growth = resident_bytes_ - std::min(before, resident_bytes_);
    if (growth > limit_bytes_ / 64) {
      interval_ = std::max<std::uint64_t>(interval_ / 2, 1);
    } else if (growth < limit_bytes_ / 256) {
      interval_ = std::min(interval_ * 2, longest_interval);
    }
    steps_left_ = interval_;
    return resident_bytes_ + growth > limit_bytes_;
  }

  ProcessMemory* memory_ = nullptr;
  std::uint64_t limit_bytes_ = 0;
  std::uint64_t resident_bytes_ = 0;  // when it was asked for last
  std::uint64_t interval_ = first_interval;
  std::uint64_t steps_left_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace falafel::checkers::linearization
