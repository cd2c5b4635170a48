// The operations of a queue, a stack and a priority queue: push, and pop of one of the values. They
// differ in the value that a pop takes.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "checkers/specifications/values.h"

namespace falafel::checkers::specifications {

template <typename Element>
struct PushAndPop {
  using Value = Element;
  struct Push {
    Value value{};
    friend bool operator==(const Push&, const Push&) = default;
  };
  struct Pop {
    friend bool operator==(const Pop&, const Pop&) = default;
  };
  using Operation = std::variant<Push, Pop>;
  using Result = std::optional<Value>;  // of a pop; nullopt: it was empty. Ignored for a push.

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
};

}  // namespace falafel::checkers::specifications
