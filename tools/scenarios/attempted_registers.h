// The specification of replicated registers: a map whose DELETE need not say whether it has
// removed anything, and whose operations may give up.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "checkers/specification.h"
#include "checkers/specifications/key_value_map.h"

namespace falafel::scenarios {

struct AttemptedRegisters {
  using Map = checkers::specifications::KeyValueMap;
  using Get = Map::Get;
  using Set = Map::Set;
  using Remove = Map::Remove;
  using State = Map::State;
  using Operation = Map::Operation;

  enum class Kind : std::uint8_t {
    gave_up,  // it has changed nothing and reveals nothing
    done,     // it has happened, and reveals nothing
    answered
  };
  struct Result {
    Kind kind = Kind::gave_up;
    Map::Result answer{};
  };

  static State initial() { return Map::initial(); }
  static bool apply(State& state, const Operation& operation, const Result* result) {
    if (result != nullptr && result->kind == Kind::gave_up) return true;
    return Map::apply(state, operation, answer_of(result));
  }
  static std::string partition(const Operation& operation) { return Map::partition(operation); }
  static bool only_reads(const Operation& operation, const Result* result) {
    if (result != nullptr && result->kind == Kind::gave_up) return true;
    return Map::only_reads(operation, answer_of(result));
  }
  static std::string describe(const Operation& operation, const Result* result) {
    if (result == nullptr || result->kind == Kind::answered) {
      return Map::describe(operation, answer_of(result));
    }
    return Map::describe(operation, nullptr) +
           (result->kind == Kind::gave_up ? " (gave up)" : " (done)");
  }
  static std::string describe(const State& state) { return Map::describe(state); }

 private:
  static const Map::Result* answer_of(const Result* result) {
    return result != nullptr && result->kind == Kind::answered ? &result->answer : nullptr;
  }
};
static_assert(checkers::Specification<AttemptedRegisters>);

}  // namespace falafel::scenarios
