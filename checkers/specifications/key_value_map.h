// A map from keys to values: get, set, remove. Every key is absent at first. Keys are independent,
// and the state is that of one key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "checkers/specification.h"
#include "checkers/specifications/supply_lookahead.h"
#include "checkers/specifications/values.h"

namespace falafel::checkers::specifications {

template <typename Key, typename Value>
struct BasicKeyValueMap {
  struct Get {
    Key key{};
    friend bool operator==(const Get&, const Get&) = default;
  };
  struct Set {
    Key key{};
    Value value{};
    friend bool operator==(const Set&, const Set&) = default;
  };
  struct Remove {
    Key key{};
    friend bool operator==(const Remove&, const Remove&) = default;
  };
  struct Result {
    bool was_present = false;      // get, remove; ignored for set
    std::optional<Value> value{};  // get: the value, if present
    friend bool operator==(const Result&, const Result&) = default;
  };
  using State = std::optional<Value>;
  using Operation = std::variant<Get, Set, Remove>;
  using Lookahead = SupplyLookahead<BasicKeyValueMap, State>;

  // The answers of get and remove.
  static Result found(Value value) { return {.was_present = true, .value = std::move(value)}; }
  static Result absent() { return {}; }
  static Result removed() { return {.was_present = true}; }

  static State initial() { return std::nullopt; }

  static bool apply(State& state, const Operation& operation, const Result* result) {
    if (const auto* const set = std::get_if<Set>(&operation)) {
      state = set->value;
      return true;
    }
    const State before = state;
    const bool removes = std::holds_alternative<Remove>(operation);
    if (removes) state.reset();
    if (result == nullptr) return true;
    return result->was_present == before.has_value() && (removes || result->value == before);
  }

  static std::string partition(const Operation& operation) {
    return std::visit([](const auto& any) { return part_name(any.key); }, operation);
  }

  static bool only_reads(const Operation& operation, const Result* result) {
    if (std::holds_alternative<Get>(operation)) return true;
    const bool removes = std::holds_alternative<Remove>(operation);
    return removes && result != nullptr && !result->was_present;
  }

  static std::optional<State> needed_value(const Operation& operation, const Result* result) {
    if (result == nullptr || std::holds_alternative<Set>(operation)) return std::nullopt;
    if (!result->was_present) return State();
    return std::holds_alternative<Get>(operation) ? std::optional(result->value) : std::nullopt;
  }
  static std::optional<State> written_value(const Operation& operation, const Result* result) {
    if (only_reads(operation, result)) return std::nullopt;
    const auto* const set = std::get_if<Set>(&operation);
    return set != nullptr ? State(set->value) : State();
  }

  static std::string describe(const Operation& operation, const Result* result) {
    if (const auto* const set = std::get_if<Set>(&operation)) {
      return "set " + describe_value(set->key) + " to " + describe_value(set->value);
    }
    if (const auto* const get = std::get_if<Get>(&operation)) {
      return "get " + describe_value(get->key) + " " +
             describe_found(result != nullptr ? &result->value : nullptr);
    }
    return "remove " + describe_value(std::get<Remove>(operation).key) + " " +
           describe_yes_or_no(result != nullptr ? &result->was_present : nullptr);
  }
  static std::string describe(const State& state) {
    return state ? describe_value(*state) : "absent";
  }
};

using KeyValueMap = BasicKeyValueMap<std::string, std::string>;
static_assert(Specification<KeyValueMap>);

}  // namespace falafel::checkers::specifications
