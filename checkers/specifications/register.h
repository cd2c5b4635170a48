// A register: read and write. It holds Value{} at first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "checkers/specification.h"
#include "checkers/specifications/supply_lookahead.h"
#include "checkers/specifications/values.h"

namespace falafel::checkers::specifications {

template <typename Value>
struct BasicRegister {
  struct Read {
    friend bool operator==(const Read&, const Read&) = default;
  };
  struct Write {
    Value value{};
    friend bool operator==(const Write&, const Write&) = default;
  };
  using State = Value;
  using Operation = std::variant<Read, Write>;
  using Result = Value;  // of a read; ignored for a write
  using Lookahead = SupplyLookahead<BasicRegister, State>;

  static State initial() { return {}; }

  static bool apply(State& state, const Operation& operation, const Result* result) {
    if (const auto* const write = std::get_if<Write>(&operation)) {
      state = write->value;
      return true;
    }
    return result == nullptr || *result == state;
  }

  static bool only_reads(const Operation& operation, const Result* /*result*/) {
    return std::holds_alternative<Read>(operation);
  }

  static std::optional<Value> needed_value(const Operation& operation, const Result* result) {
    if (result == nullptr || !std::holds_alternative<Read>(operation)) return std::nullopt;
    return *result;
  }
  static std::optional<Value> written_value(const Operation& operation, const Result* /*result*/) {
    const auto* const write = std::get_if<Write>(&operation);
    return write != nullptr ? std::optional(write->value) : std::nullopt;
  }

  static std::string describe(const Operation& operation, const Result* result) {
    if (const auto* const write = std::get_if<Write>(&operation)) {
      return "write " + describe_value(write->value);
    }
    return "read -> " + (result != nullptr ? describe_value(*result) : "?");
  }
  static std::string describe(const State& state) { return describe_value(state); }
};

using Register = BasicRegister<std::uint64_t>;
static_assert(Specification<Register>);

}  // namespace falafel::checkers::specifications
