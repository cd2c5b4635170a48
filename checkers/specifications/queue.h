// A queue: push, and pop of the oldest value. It is empty at first.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <variant>

#include "checkers/specification.h"
#include "checkers/specifications/push_and_pop.h"
#include "checkers/specifications/values.h"

namespace falafel::checkers::specifications {

template <typename Value>
struct BasicQueue : PushAndPop<Value> {
  using typename PushAndPop<Value>::Push;
  using typename PushAndPop<Value>::Operation;
  using typename PushAndPop<Value>::Result;
  using State = std::deque<Value>;  // the oldest is first

  static State initial() { return {}; }

  static bool apply(State& state, const Operation& operation, const Result* result) {
    if (const auto* const push = std::get_if<Push>(&operation)) {
      state.push_back(push->value);
      return true;
    }
    if (state.empty()) return result == nullptr || !result->has_value();
    const bool is_right = result == nullptr || *result == state.front();
    state.pop_front();
    return is_right;
  }

  using PushAndPop<Value>::describe;
  static std::string describe(const State& state) { return describe_values(state); }
};

using Queue = BasicQueue<std::uint64_t>;
static_assert(Specification<Queue>);

}  // namespace falafel::checkers::specifications
