// The objects that the checkers judge in the middle of a run. The order of two steps that look at
// one of these matters for the judgement, even if it does not matter for the store, so an
// exhaustive exploration must try both orders.
#pragma once

#include <cstdint>

namespace falafel::store_scenario {

// The order between the return of an operation and the call of another one.
inline constexpr std::uint32_t history_object = 0;
// All entries together. The checkers judge the table after each change of an entry.
inline constexpr std::uint32_t table_object = 1;

}  // namespace falafel::store_scenario
