// Devices that change memory which is not committed (fabric::MemoryBlock::commit).
#pragma once

#include <cstdint>
#include <string_view>

#include "fabric/fabric.h"

namespace falafel::sim {

// A device changes that range. Reports memory that is not committed (RunResult::uncommitted_use).
// `block` is one of the simulator.
void note_device_change(const fabric::MemoryBlock& block, std::uint64_t offset,
                        std::uint64_t length_bytes, std::string_view request);

}  // namespace falafel::sim
