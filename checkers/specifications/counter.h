// A counter of 64 bits: read, and fetch-and-add, which wraps around. It is 0 at first.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "checkers/specification.h"
#include "checkers/specifications/values.h"

namespace falafel::checkers::specifications {

struct Counter {
  struct Read {
    friend bool operator==(const Read&, const Read&) = default;
  };
  struct FetchAdd {
    std::uint64_t addend = 1;
    friend bool operator==(const FetchAdd&, const FetchAdd&) = default;
  };
  using State = std::uint64_t;
  using Operation = std::variant<Read, FetchAdd>;
  using Result = std::uint64_t;  // the value before

  static State initial() { return 0; }

  static bool apply(State& state, const Operation& operation, const Result* result) {
    const bool is_right = result == nullptr || *result == state;
    if (const auto* const add = std::get_if<FetchAdd>(&operation)) state += add->addend;
    return is_right;
  }

  static bool only_reads(const Operation& operation, const Result* /*result*/) {
    const auto* const add = std::get_if<FetchAdd>(&operation);
    return add == nullptr || add->addend == 0;
  }

  static std::string describe(const Operation& operation, const Result* result) {
    const auto* const add = std::get_if<FetchAdd>(&operation);
    const std::string request =
        add != nullptr ? "fetch-and-add " + std::to_string(add->addend) : std::string("read");
    return request + " -> " + (result != nullptr ? std::to_string(*result) : "?");
  }
  static std::string describe(const State& state) { return std::to_string(state); }
};
static_assert(Specification<Counter>);

}  // namespace falafel::checkers::specifications
