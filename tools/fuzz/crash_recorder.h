// Records a run that kills its process, or never ends: in a process of its own, which leaves the answers in
// shared memory as it gets them.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/sim/recording_strategy.h"
#include "tools/fuzz/scenario.h"

namespace falafel::fuzz {

// The choices up to the crash, or until `seconds` are over. Empty if the run came to its end.
std::vector<sim::Choice> record_crash(const Scenario& scenario, std::uint64_t seed, double seconds);

}  // namespace falafel::fuzz
