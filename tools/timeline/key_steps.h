// The steps that led to a violation: which operation met what it should not have met, where that came from,
// what else happened to it, and from when on it could not be avoided.
#pragma once

#include <optional>
#include <vector>

#include "checkers/judgement.h"
#include "explorer/critical_step.h"
#include "tools/timeline/timeline.h"

namespace falafel::timeline {

// In the order of steps.
std::vector<KeyStep> find_key_steps(const Timeline& timeline,
                                    const std::vector<checkers::Judgement>& violations,
                                    const std::optional<explorer::CriticalStep>& critical);

}  // namespace falafel::timeline
