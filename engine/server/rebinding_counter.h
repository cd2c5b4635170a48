// The rebinding counter in the status line (engine/layout/status_line.h): the only one who changes it.
#pragma once

#include <cstdint>

#include "engine/layout/status_line.h"
#include "engine/server/chunk.h"

namespace falafel::engine {

class RebindingCounter {
 public:
  explicit RebindingCounter(const Chunk& chunk) : chunk_(chunk) {}

  // Before the first entry of a step is locked. A step that was interrupted is still going on.
  void begin() { advance_to(value_ | 1); }
  // After the last lock of the step has been removed, and the completion of that has been seen.
  void end() { advance_to(value_ + (value_ & 1)); }

 private:
  void advance_to(std::uint64_t value) {
    if (value == value_) return;
    value_ = value;
    chunk_.block->store(rebindings_offset, value_);
  }

  const Chunk& chunk_;
  std::uint64_t value_ = 0;
};

}  // namespace falafel::engine
