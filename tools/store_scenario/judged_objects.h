// What the checkers of a run judge in the middle of it. The order of two steps that look at one of
// these matters for the judgement, even if it does not matter for the store, so an exhaustive
// exploration must try both orders.
#pragma once

#include <cstdint>

namespace falafel::store_scenario {

// Whether an operation returned before another one was called.
inline constexpr std::uint32_t history_object = 0;
// All entries together. The checkers judge the table after each change of an entry.
inline constexpr std::uint32_t table_object = 1;

}  // namespace falafel::store_scenario
