// Judges the history of a cache: values vanish when they expire, at times that follow from the
// operations and from how far wall clocks are off.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "checkers/history.h"
#include "checkers/judgement.h"
#include "tools/scenarios/store/scenario.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

// `times`: of the operations, in their order. Operations on keys for which `is_damaged` is true are
// not judged.
checkers::Judgement check_cache(std::span<const checkers::Operation> history,
                                std::span<const OperationTimes> times, const Scenario& scenario,
                                const std::function<bool(const std::string& key)>& is_damaged);

}  // namespace falafel::store_scenario
