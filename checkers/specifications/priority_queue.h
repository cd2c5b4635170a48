// A priority queue of numbers: push, and pop of the smallest. It is empty at first; a number may
// occur several times.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "checkers/specification.h"
#include "checkers/specifications/values.h"

namespace falafel::checkers::specifications {

struct PriorityQueue {
  struct Push {
    std::uint64_t value = 0;
    friend bool operator==(const Push&, const Push&) = default;
  };
  struct Pop {
    friend bool operator==(const Pop&, const Pop&) = default;
  };
  using State = std::multiset<std::uint64_t>;
  using Operation = std::variant<Push, Pop>;
  using Result = std::optional<std::uint64_t>;  // of a pop; nullopt: it was empty

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

  static bool only_reads(const Operation& operation, const Result* result) {
    const bool pops = std::holds_alternative<Pop>(operation);
    return pops && result != nullptr && !result->has_value();
  }

  static std::string describe(const Operation& operation, const Result* result) {
    if (const auto* const push = std::get_if<Push>(&operation)) {
      return "push " + describe_value(push->value);
    }
    return "pop " + describe_found(result);
  }
  static std::string describe(const State& state) { return describe_values(state); }
};
static_assert(Specification<PriorityQueue>);

}  // namespace falafel::checkers::specifications
