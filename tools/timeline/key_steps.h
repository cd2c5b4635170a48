// Finds the steps that led to a violation: the operation that found a wrong value, the origin of
// that value, its other changes, and the step from which on the violation was inevitable.
#pragma once

#include <optional>
#include <vector>

#include "checkers/judgement.h"
#include "explorer/critical_step.h"
#include "tools/timeline/timeline.h"

namespace falafel::timeline {

// Sorted by step.
std::vector<KeyStep> find_key_steps(const Timeline& timeline,
                                    const std::vector<checkers::Judgement>& violations,
                                    const std::optional<explorer::CriticalStep>& critical);

}  // namespace falafel::timeline
