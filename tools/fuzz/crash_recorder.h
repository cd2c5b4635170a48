// Records a run that kills its process, or never ends: in a process of its own, which leaves the answers in
// shared memory as it gets them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/sim/strategies/recording_strategy.h"
#include "tools/fuzz/scenario.h"

namespace falafel::fuzz {

// How runs fail that no checker gets to see: properties of findings.
inline constexpr std::string_view crash_property = "crash";
inline constexpr std::string_view hang_property = "hang";

struct RecordedCrash {
  std::string_view property;  // crash_property or hang_property
  // What ended the process, the same wherever it happens again: the place of the assertion, or the signal.
  std::string fingerprint;
  std::string explanation;
  std::vector<sim::Choice> choices;  // up to the crash
  std::uint64_t steps = 0;           // those of its last choice
};

// Nothing if the run came to its end. One that takes longer than `seconds` hangs.
std::optional<RecordedCrash> record_crash(const Scenario& scenario, sim::Strategy& strategy,
                                          double seconds);

}  // namespace falafel::fuzz
