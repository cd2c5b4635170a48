// The specification of a map whose server logs changes asynchronously: a restart may lose the last
// changes, but none that is earlier than one that it keeps. In the literature, this is buffered
// durable linearizability (Izraelevitz, Mendes, Scott, DISC 2016).
//
// A restart is two operations. The contents that it finds were those of the map at some moment of
// the server's life before (Survive). They are those of the map again when the server serves
// clients (Restart).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "checkers/specification.h"
#include "checkers/specifications/key_value_map.h"

namespace falafel::pilaf_scenario {

struct LoggedMap {
  using Map = checkers::specifications::KeyValueMap;
  using Get = Map::Get;
  using Set = Map::Set;
  using Remove = Map::Remove;
  using Contents = std::map<std::string, std::string>;
  struct Survive {
    Contents contents{};
    friend bool operator==(const Survive&, const Survive&) = default;
  };
  struct Restart {
    Contents contents{};
    friend bool operator==(const Restart&, const Restart&) = default;
  };

  using State = Contents;
  using Operation = std::variant<Get, Set, Remove, Survive, Restart>;
  using Result = Map::Result;

  static Operation operation_of(const Map::Operation& operation) {
    return std::visit([](const auto& any) -> Operation { return any; }, operation);
  }

  static State initial() { return {}; }
  static bool apply(State& state, const Operation& operation, const Result* result);
  static bool only_reads(const Operation& operation, const Result* result);
  static std::string describe(const Operation& operation, const Result* result);
  static std::string describe(const State& state);

 private:
  // Nothing for Survive and Restart.
  static std::optional<Map::Operation> operation_on_key(const Operation& operation);
};
static_assert(checkers::Specification<LoggedMap>);

}  // namespace falafel::pilaf_scenario
