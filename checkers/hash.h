// A hash of any value that consists of numbers, enumerations, strings, optionals, pairs, tuples,
// variants and containers of these. It is the same with every standard library.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <variant>

#include "checkers/linearization/mix.h"

namespace falafel::checkers {

template <typename Value>
std::uint64_t hash_of(const Value& value);

inline std::uint64_t combine_hashes(std::uint64_t left, std::uint64_t right) {
  return linearization::mix(left ^ right) + 1;
}

namespace hashing {

template <typename Value>
inline constexpr bool is_optional = false;
template <typename Value>
inline constexpr bool is_optional<std::optional<Value>> = true;

template <typename Value>
inline constexpr bool is_variant = false;
template <typename... Values>
inline constexpr bool is_variant<std::variant<Values...>> = true;

template <typename Value>
concept TupleLike = requires {
  std::tuple_size<Value>::value;
};

// True if equal containers may iterate in different orders.
template <typename Value>
concept Unordered = requires {
  typename Value::hasher;
};

template <typename Range>
std::uint64_t hash_of_elements(const Range& range) {
  std::uint64_t hash = 0;
  for (const auto& element : range) {
    const std::uint64_t part = hash_of(element);
    hash = Unordered<Range> ? hash + linearization::mix(part) : combine_hashes(hash, part);
  }
  return combine_hashes(hash, 1);
}

}  // namespace hashing

template <typename Value>
std::uint64_t hash_of(const Value& value) {
  if constexpr (std::integral<Value>) {
    return linearization::mix(static_cast<std::uint64_t>(value));
  } else if constexpr (std::is_enum_v<Value>) {
    return hash_of(static_cast<std::underlying_type_t<Value>>(value));
  } else if constexpr (hashing::is_optional<Value>) {
    return value ? combine_hashes(1, hash_of(*value)) : 0;
  } else if constexpr (hashing::is_variant<Value>) {
    const std::uint64_t part = std::visit([](const auto& held) { return hash_of(held); }, value);
    return combine_hashes(value.index(), part);
  } else if constexpr (std::ranges::range<const Value&>) {
    return hashing::hash_of_elements(value);
  } else {
    static_assert(hashing::TupleLike<Value>,
                  "give the specification a static member function hash(const State&)");
    return std::apply(
        [](const auto&... parts) {
          std::uint64_t hash = 0;
          ((hash = combine_hashes(hash, hash_of(parts))), ...);
          return hash;
        },
        value);
  }
}

}  // namespace falafel::checkers
