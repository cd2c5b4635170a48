// A set: add, remove, contains. It is empty at first. Its values are independent, and the state is
// whether one of them is present.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "checkers/specification.h"
#include "checkers/specifications/values.h"

namespace falafel::checkers::specifications {

template <typename Value>
struct BasicSet {
  struct Add {
    Value value{};
    friend bool operator==(const Add&, const Add&) = default;
  };
  struct Remove {
    Value value{};
    friend bool operator==(const Remove&, const Remove&) = default;
  };
  struct Contains {
    Value value{};
    friend bool operator==(const Contains&, const Contains&) = default;
  };
  using State = bool;
  using Operation = std::variant<Add, Remove, Contains>;
  using Result = bool;  // add: it was absent; remove, contains: it was present

  static State initial() { return false; }

  static bool apply(State& state, const Operation& operation, const Result* result) {
    const bool was_present = state;
    const bool adds = std::holds_alternative<Add>(operation);
    if (!std::holds_alternative<Contains>(operation)) state = adds;
    return result == nullptr || *result == (adds ? !was_present : was_present);
  }

  static std::string partition(const Operation& operation) {
    return std::visit([](const auto& any) { return part_name(any.value); }, operation);
  }

  static bool only_reads(const Operation& operation, const Result* result) {
    return std::holds_alternative<Contains>(operation) || (result != nullptr && !*result);
  }

  static std::string describe(const Operation& operation, const Result* result) {
    const std::string value =
        std::visit([](const auto& any) { return describe_value(any.value); }, operation);
    const std::string answer = describe_yes_or_no(result);
    if (std::holds_alternative<Add>(operation)) return "add " + value + " " + answer;
    if (std::holds_alternative<Remove>(operation)) return "remove " + value + " " + answer;
    return "contains " + value + " " + answer;
  }
  static std::string describe(const State& state) { return state ? "present" : "absent"; }
};

using Set = BasicSet<std::uint64_t>;
static_assert(Specification<Set>);

}  // namespace falafel::checkers::specifications
