// Records a run that ends its process or hangs. The run uses a separate process, which stores each
// answer in shared memory before it acts on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explorer/program.h"
#include "fabric/sim/strategies/recording_strategy.h"

namespace falafel::explorer {

// The properties that such runs violate. No checker judges them.
inline constexpr std::string_view crash_property = "crash";
inline constexpr std::string_view hang_property = "hang";

struct RecordedCrash {
  std::string_view property;  // crash_property or hang_property
  // Identifies the failure across repetitions: the location of the assertion, or the signal.
  std::string fingerprint;
  std::string explanation;
  std::vector<sim::Choice> choices;  // up to the crash
  std::uint64_t steps = 0;           // the steps up to the last choice
  std::vector<const void*> stack;    // of a crash, for describe_stack (crash_stack.h)
};

// Returns nullopt if the run ends on its own. A run that takes longer than `seconds` counts as
// hung.
std::optional<RecordedCrash> record_crash(const Program& program, const Scenario& scenario,
                                          sim::Strategy& strategy, double seconds);

}  // namespace falafel::explorer
