// Attempts at operations on a map: what KeyValueMap says, and attempts that gave up. Those have
// changed nothing and reveal nothing.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "checkers/specification.h"
#include "checkers/specifications/key_value_map.h"

namespace falafel::checkers::specifications {

struct AttemptedMap {
  using Map = KeyValueMap;
  using Get = Map::Get;
  using Set = Map::Set;
  using Remove = Map::Remove;
  using State = Map::State;
  using Operation = Map::Operation;
  using Result = std::optional<Map::Result>;  // empty: the attempt gave up

  static State initial() { return Map::initial(); }
  static bool apply(State& state, const Operation& operation, const Result* result) {
    if (result == nullptr) return Map::apply(state, operation, nullptr);
    return !*result || Map::apply(state, operation, &**result);
  }
  static std::string partition(const Operation& operation) { return Map::partition(operation); }
  static bool only_reads(const Operation& operation, const Result* result) {
    if (result == nullptr) return Map::only_reads(operation, nullptr);
    return !*result || Map::only_reads(operation, &**result);
  }
  static std::string describe(const Operation& operation, const Result* result) {
    if (result == nullptr) return Map::describe(operation, nullptr);
    if (!*result) return Map::describe(operation, nullptr) + " (gave up)";
    return Map::describe(operation, &**result);
  }
  static std::string describe(const State& state) { return Map::describe(state); }
};
static_assert(Specification<AttemptedMap>);

}  // namespace falafel::checkers::specifications
