// Judges the scans of all keys in a run.
#pragma once

#include <deque>
#include <functional>
#include <span>
#include <string>

#include "checkers/history.h"
#include "checkers/judgement.h"
#include "checkers/key_scans.h"
#include "tools/scenarios/store/scenario.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

// Returns the first violation, if any. `times`: of the operations, in their order. Keys for which
// `is_damaged` is true are not judged.
checkers::Judgement check_scans(const std::deque<checkers::KeyScan>& scans,
                                std::span<const checkers::Operation> history,
                                std::span<const OperationTimes> times, const Scenario& scenario,
                                const std::function<bool(const std::string& key)>& is_damaged);

}  // namespace falafel::store_scenario
