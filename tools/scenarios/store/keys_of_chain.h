// Keys that meet in the table: their searches begin at the same slot.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

std::uint64_t home_of(std::uint32_t key, const Scenario& scenario);
// The first keys with that home.
std::vector<std::uint32_t> keys_with_home(std::uint64_t home, std::uint64_t count,
                                          const Scenario& scenario);

}  // namespace falafel::store_scenario
