// The rebinding counter in the status line (engine/layout/status_line.h). Nothing else changes it.
#pragma once

#include <cstdint>

#include "engine/layout/status_line.h"
#include "engine/server/chunk.h"

namespace falafel::engine {

class RebindingCounter {
 public:
  // `value`: the number that is in the status line. It is even.
  explicit RebindingCounter(const Chunk& chunk, std::uint64_t value = 0)
      : chunk_(chunk), value_(value) {}

  // Call before a step locks its first entry. An interrupted step remains in progress.
  void begin() { advance_to(value_ | 1); }
  // Call after the step's last lock has been removed and that removal has completed.
  void end() { advance_to(value_ + (value_ & 1)); }

 private:
  void advance_to(std::uint64_t value) {
    if (value == value_) return;
    value_ = value;
    chunk_.block->store(rebindings_offset, value_);
  }

  const Chunk& chunk_;
  std::uint64_t value_;
};

}  // namespace falafel::engine
