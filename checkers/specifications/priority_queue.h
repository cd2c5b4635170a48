// A priority queue of numbers: push, and pop of the smallest. It is empty at first; a number may
// occur several times.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <variant>

#include "checkers/specification.h"
#include "checkers/specifications/push_and_pop.h"
#include "checkers/specifications/values.h"

namespace falafel::checkers::specifications {

struct PriorityQueue : PushAndPop<std::uint64_t> {
  using State = std::multiset<std::uint64_t>;

  static State initial() { return {}; }

  static bool apply(State& state, const Operation& operation, const Result* result) {
    if (const auto* const push = std::get_if<Push>(&operation)) {
      state.insert(push->value);
      return true;
    }
    if (state.empty()) return result == nullptr || !result->has_value();
    const bool is_right = result == nullptr || *result == *state.begin();
    state.erase(state.begin());
    return is_right;
  }

  using PushAndPop::describe;
  static std::string describe(const State& state) { return describe_values(state); }
};
static_assert(Specification<PriorityQueue>);

}  // namespace falafel::checkers::specifications
