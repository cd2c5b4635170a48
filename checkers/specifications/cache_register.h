// The entries of a cache: get, set, remove by key. A value may vanish by itself at any time, but a
// value that was overwritten or removed never comes back. Keys are independent, and the state is
// that of one key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkers/specification.h"
#include "checkers/specifications/key_value_map.h"

namespace falafel::checkers::specifications {

template <typename Key, typename Value>
struct BasicCacheRegister {
  using Map = BasicKeyValueMap<Key, Value>;
  using Get = typename Map::Get;
  using Set = typename Map::Set;
  using Remove = typename Map::Remove;
  using State = typename Map::State;
  using Operation = typename Map::Operation;
  using Result = typename Map::Result;

  static Result found(Value value) { return Map::found(std::move(value)); }
  static Result absent() { return Map::absent(); }
  static Result removed() { return Map::removed(); }

  static State initial() { return std::nullopt; }

  // The value is still there, or it vanished before the operation.
  static void next_states(const State& state, const Operation& operation, const Result* result,
                          std::vector<State>& next) {
    for (State after : {state, State()}) {
      if (Map::apply(after, operation, result)) next.push_back(std::move(after));
    }
  }

  static std::string partition(const Operation& operation) { return Map::partition(operation); }

  static std::string describe(const Operation& operation, const Result* result) {
    return Map::describe(operation, result);
  }
  static std::string describe(const State& state) { return Map::describe(state); }
};

using CacheRegister = BasicCacheRegister<std::string, std::string>;
static_assert(Specification<CacheRegister>);

}  // namespace falafel::checkers::specifications
