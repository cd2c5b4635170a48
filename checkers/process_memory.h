// The memory of the process in which a checker runs. Only a checker that is told to asks for it:
// its verdict then depends on the machine, so a run that must repeat does without.
#pragma once

#include <cstdint>

namespace falafel::checkers {

class ProcessMemory {
 public:
  ProcessMemory() = default;
  ProcessMemory(const ProcessMemory&) = delete;
  ProcessMemory& operator=(const ProcessMemory&) = delete;
  virtual ~ProcessMemory() = default;

  virtual std::uint64_t resident_bytes() = 0;

  // Returns memory that the program has freed to the system, as far as the allocator can.
  virtual void release_free() = 0;
};

}  // namespace falafel::checkers
