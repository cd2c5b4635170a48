// A queue: push, and pop of the oldest value. It is empty at first.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>

#include "checkers/specification.h"
#include "checkers/specifications/values.h"

namespace falafel::checkers::specifications {

template <typename Value>
struct BasicQueue {
  struct Push {
    Value value{};
    friend bool operator==(const Push&, const Push&) = default;
  };
  struct Pop {
    friend bool operator==(const Pop&, const Pop&) = default;
  };
  using State = std::deque<Value>;  // the oldest is first
  using Operation = std::variant<Push, Pop>;
  using Result = std::optional<Value>;  // of a pop; nullopt: it was empty. Ignored for a push.

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

using Queue = BasicQueue<std::uint64_t>;
static_assert(Specification<Queue>);

}  // namespace falafel::checkers::specifications
