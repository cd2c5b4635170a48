// The entries of a cache whose values have a time to live: get, set, remove by key. A value
// vanishes by itself, but not before its time; afterwards, a get does not find it, although a
// remove may. A value that vanished, or was overwritten or removed, never comes back. Keys are
// independent, and the state is that of one key.
//
// Clocks are not exact, so each value has an earliest and a latest time. A cache that evicts values
// is one whose values may vanish from time 0 on.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "checkers/hash.h"
#include "checkers/specification.h"
#include "checkers/specifications/key_value_map.h"

namespace falafel::checkers::specifications {

template <typename Key, typename Value>
struct BasicExpiringRegister {
  using Map = BasicKeyValueMap<Key, Value>;
  using Get = typename Map::Get;
  using Set = typename Map::Set;
  using Remove = typename Map::Remove;
  using Result = typename Map::Result;
  static constexpr std::uint64_t never_ns = std::numeric_limits<std::uint64_t>::max();

  struct Lifetime {
    std::uint64_t earliest_ns = never_ns;  // the value may vanish from then on
    std::uint64_t latest_ns = never_ns;    // no get that begins then or later finds the value
    friend bool operator==(const Lifetime&, const Lifetime&) = default;
  };
  struct Operation {
    typename Map::Operation operation;
    std::uint64_t call_ns = 0;
    std::uint64_t return_ns = never_ns;
    Lifetime lifetime{};  // set: of the value
    friend bool operator==(const Operation&, const Operation&) = default;
  };
  struct Stored {
    Value value{};
    Lifetime lifetime{};
    friend bool operator==(const Stored&, const Stored&) = default;
  };
  using State = std::optional<Stored>;

  static Result found(Value value) { return Map::found(std::move(value)); }
  static Result absent() { return Map::absent(); }
  static Result removed() { return Map::removed(); }

  static State initial() { return std::nullopt; }

  static void next_states(const State& state, const Operation& timed, const Result* result,
                          std::vector<State>& next) {
    append(state, timed, result, next);
    if (state && state->lifetime.earliest_ns <= timed.return_ns) {
      append(State(), timed, result, next);
    }
  }

  static std::string partition(const Operation& timed) { return Map::partition(timed.operation); }
  static std::uint64_t hash(const State& state) {
    if (!state) return 0;
    return combine_hashes(
        hash_of(state->value),
        combine_hashes(hash_of(state->lifetime.earliest_ns), hash_of(state->lifetime.latest_ns)));
  }

  static std::string describe(const Operation& timed, const Result* result) {
    std::string text = Map::describe(timed.operation, result);
    if (!std::holds_alternative<Set>(timed.operation)) {
      return text + " (called at " + std::to_string(timed.call_ns) + " ns)";
    }
    if (timed.lifetime == Lifetime{}) return text;
    return text + " (until " + std::to_string(timed.lifetime.earliest_ns) + " to " +
           std::to_string(timed.lifetime.latest_ns) + " ns)";
  }
  static std::string describe(const State& state) {
    return state ? describe_value(state->value) : "absent";
  }

 private:
  // The value does not vanish before the operation.
  static void append(const State& state, const Operation& timed, const Result* result,
                     std::vector<State>& next) {
    const bool is_found = result != nullptr && result->was_present;
    const bool is_overdue = state && timed.call_ns >= state->lifetime.latest_ns;
    if (is_found && is_overdue && std::holds_alternative<Get>(timed.operation)) return;
    typename Map::State value = state ? std::optional(state->value) : std::nullopt;
    if (!Map::apply(value, timed.operation, result)) return;
    if (!value) return next.push_back(std::nullopt);
    const bool is_new = std::holds_alternative<Set>(timed.operation);
    next.push_back(Stored{*value, is_new ? timed.lifetime : state->lifetime});
  }
};

using ExpiringRegister = BasicExpiringRegister<std::string, std::string>;
static_assert(Specification<ExpiringRegister>);

}  // namespace falafel::checkers::specifications
