// A register with compare-and-swap. It holds Value{} at first.
//
// A compare-and-swap may be answered with the value before, as RDMA does it, with whether it
// swapped, or with both.
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
struct BasicCasRegister {
  struct Read {
    friend bool operator==(const Read&, const Read&) = default;
  };
  struct Write {
    Value value{};
    friend bool operator==(const Write&, const Write&) = default;
  };
  struct CompareAndSwap {
    Value expected{};
    Value desired{};
    friend bool operator==(const CompareAndSwap&, const CompareAndSwap&) = default;
  };
  // Each member that is present must be right.
  struct Result {
    std::optional<Value> value{};   // read: the value; compare-and-swap: the value before
    std::optional<bool> swapped{};  // compare-and-swap
    friend bool operator==(const Result&, const Result&) = default;
  };
  using State = Value;
  using Operation = std::variant<Read, Write, CompareAndSwap>;
  using Lookahead = SupplyLookahead<BasicCasRegister, State>;

  static State initial() { return {}; }

  static bool apply(State& state, const Operation& operation, const Result* result) {
    if (const auto* const write = std::get_if<Write>(&operation)) {
      state = write->value;
      return true;
    }
    const State before = state;
    bool swaps = false;
    if (const auto* const swap = std::get_if<CompareAndSwap>(&operation)) {
      swaps = state == swap->expected;
      if (swaps) state = swap->desired;
    }
    if (result == nullptr) return true;
    return (!result->value || *result->value == before) &&
           (!result->swapped || *result->swapped == swaps);
  }

  static bool only_reads(const Operation& operation, const Result* result) {
    if (std::holds_alternative<Read>(operation)) return true;
    const auto* const swap = std::get_if<CompareAndSwap>(&operation);
    if (swap == nullptr || result == nullptr) return false;
    return result->swapped == false || (result->value && *result->value != swap->expected);
  }

  static std::optional<Value> needed_value(const Operation& operation, const Result* result) {
    if (result == nullptr || std::holds_alternative<Write>(operation)) return std::nullopt;
    if (result->value) return *result->value;
    const auto* const swap = std::get_if<CompareAndSwap>(&operation);
    if (swap != nullptr && result->swapped == true) return swap->expected;
    return std::nullopt;
  }
  static std::optional<Value> written_value(const Operation& operation, const Result* result) {
    if (only_reads(operation, result)) return std::nullopt;
    if (const auto* const write = std::get_if<Write>(&operation)) return write->value;
    return std::get<CompareAndSwap>(operation).desired;
  }

  static std::string describe(const Operation& operation, const Result* result) {
    if (const auto* const write = std::get_if<Write>(&operation)) {
      return "write " + describe_value(write->value);
    }
    const auto* const swap = std::get_if<CompareAndSwap>(&operation);
    const std::string request = swap == nullptr
                                    ? std::string("read")
                                    : "compare-and-swap " + describe_value(swap->expected) +
                                          " to " + describe_value(swap->desired);
    return request + " -> " + describe_result(result);
  }
  static std::string describe(const State& state) { return describe_value(state); }

 private:
  static std::string describe_result(const Result* result) {
    if (result == nullptr) return "?";
    std::string text;
    if (result->swapped) text = *result->swapped ? "swapped" : "not swapped";
    if (result->value) text += (text.empty() ? "" : ", was ") + describe_value(*result->value);
    return text.empty() ? "done" : text;
  }
};

using CasRegister = BasicCasRegister<std::uint64_t>;
static_assert(Specification<CasRegister>);

}  // namespace falafel::checkers::specifications
