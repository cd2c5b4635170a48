// The number of steps that a run of a program takes without faults.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace falafel::check {

// Runs a seed without faults and returns its steps. Empty: the run did not end.
using MeasureSeed = std::function<std::optional<std::uint64_t>(std::uint64_t seed)>;

// The median of a few seeds. A child process runs them, because a run may crash; later seeds then
// do not count. The result depends on nothing but these runs, unless they take longer than 20 s.
std::uint64_t measure_usual_steps(const MeasureSeed& measure);

}  // namespace falafel::check
