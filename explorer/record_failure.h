// Records, shrinks and saves the failing run of a finding. Everything runs in child processes,
// because any schedule of the program may crash.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "explorer/campaign_result.h"
#include "explorer/program.h"
#include "explorer/shrink.h"

namespace falafel::explorer {

// Tells if no checker judges the property: the run ends its process.
bool ends_the_process(std::string_view property);

struct RecordedFailure {
  std::uint64_t steps = 0;
  std::string explanation;
};

// Saves the smallest run found as `path`. With `options.seconds` of 0, a violation is not shrunk.
// An error says why there is no such file. If a schedule crashes while a violation is shrunk, the
// result is the smallest run that was saved before. `progress` is called in a child process.
tl::expected<RecordedFailure, std::string> record_failure(
    const Program& program, const Finding& finding, const ShrinkOptions& options,
    const std::string& path, const std::function<void(const FailingRun&)>& progress);

// The same for a run that was recorded and violates `failing.run.property()`.
tl::expected<RecordedFailure, std::string> record_failure(
    const Program& program, const FailingRun& failing, const ShrinkOptions& options,
    const std::string& path, const std::function<void(const FailingRun&)>& progress);

}  // namespace falafel::explorer
