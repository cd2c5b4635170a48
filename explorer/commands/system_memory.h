// The memory of this process, for checkers.
#pragma once

#include <cstdint>

#include "checkers/process_memory.h"
#include "processes/resident_memory.h"

namespace falafel::command_line {

class SystemMemory final : public checkers::ProcessMemory {
 public:
  std::uint64_t resident_bytes() override { return processes::resident_bytes(); }
  void release_free() override { processes::release_free_memory(); }
};

}  // namespace falafel::command_line
