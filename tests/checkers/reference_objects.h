// Implementations of the shipped specifications' objects, as simple as possible, with random
// operations and answers on small domains.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "checkers/specifications/append_log.h"
#include "checkers/specifications/bank.h"
#include "checkers/specifications/cache_register.h"
#include "checkers/specifications/cas_register.h"
#include "checkers/specifications/counter.h"
#include "checkers/specifications/key_value_map.h"
#include "checkers/specifications/lock.h"
#include "checkers/specifications/multi_register.h"
#include "checkers/specifications/priority_queue.h"
#include "checkers/specifications/queue.h"
#include "checkers/specifications/register.h"
#include "checkers/specifications/set.h"
#include "checkers/specifications/stack.h"
#include "checkers/specifications/write_once_log.h"
#include "fabric/random.h"

namespace falafel::checkers_test {

using fabric::RandomGenerator;

// An object has these members:
//   Operation draw(random)
//   Result execute(operation, random), draw_result(operation, random)
template <typename S>
struct ReferenceObject;

template <>
struct ReferenceObject<checkers::specifications::Register> {
  using S = checkers::specifications::Register;
  static S::Operation draw(RandomGenerator& random) {
    if (random.below(2) == 0) return S::Read{};
    return S::Write{random.below(3)};
  }
  S::Result execute(const S::Operation& operation, RandomGenerator& /*random*/) {
    if (std::holds_alternative<S::Write>(operation)) value = std::get<S::Write>(operation).value;
    return value;
  }
  static S::Result draw_result(const S::Operation& /*operation*/, RandomGenerator& random) {
    return random.below(3);
  }
  std::uint64_t value = 0;
};

template <>
struct ReferenceObject<checkers::specifications::CasRegister> {
  using S = checkers::specifications::CasRegister;
  static S::Operation draw(RandomGenerator& random) {
    switch (random.below(4)) {
      case 0: return S::Read{};
      case 1: return S::Write{random.below(3)};
      default: return S::CompareAndSwap{random.below(3), random.below(3)};
    }
  }
  S::Result execute(const S::Operation& operation, RandomGenerator& random) {
    const std::uint64_t before = value;
    if (std::holds_alternative<S::Read>(operation)) return {.value = before};
    if (std::holds_alternative<S::Write>(operation)) {
      value = std::get<S::Write>(operation).value;
      return {};
    }
    const auto& swap = std::get<S::CompareAndSwap>(operation);
    const bool swaps = value == swap.expected;
    if (swaps) value = swap.desired;
    switch (random.below(3)) {
      case 0: return {.value = before};
      case 1: return {.swapped = swaps};
      default: return {.value = before, .swapped = swaps};
    }
  }
  static S::Result draw_result(const S::Operation& operation, RandomGenerator& random) {
    if (std::holds_alternative<S::Read>(operation)) return {.value = random.below(3)};
    if (random.below(2) == 0) return {.value = random.below(3)};
    return {.swapped = random.below(2) == 0};
  }
  std::uint64_t value = 0;
};

// `vanishes`: a value may be gone whenever it is looked for.
template <typename Specification, bool vanishes>
struct ReferenceMap {
  using S = Specification;
  static typename S::Operation draw(RandomGenerator& random) {
    const std::string key = random.below(2) == 0 ? "a" : "b";
    switch (random.below(4)) {
      case 0: return typename S::Remove{key};
      case 1: return typename S::Set{key, std::to_string(random.below(3))};
      default: return typename S::Get{key};
    }
  }
  typename S::Result execute(const typename S::Operation& operation, RandomGenerator& random) {
    const std::string key = std::visit([](const auto& any) { return any.key; }, operation);
    if (vanishes && random.below(4) == 0) values.erase(key);
    if (std::holds_alternative<typename S::Set>(operation)) {
      values[key] = std::get<typename S::Set>(operation).value;
      return {};
    }
    if (std::holds_alternative<typename S::Remove>(operation)) {
      return values.erase(key) == 1 ? S::removed() : S::absent();
    }
    return values.contains(key) ? S::found(values[key]) : S::absent();
  }
  static typename S::Result draw_result(const typename S::Operation& operation,
                                        RandomGenerator& random) {
    if (random.below(3) == 0) return S::absent();
    if (std::holds_alternative<typename S::Remove>(operation)) return S::removed();
    return S::found(std::to_string(random.below(3)));
  }
  std::map<std::string, std::string> values{};
};

template <>
struct ReferenceObject<checkers::specifications::KeyValueMap>
    : ReferenceMap<checkers::specifications::KeyValueMap, false> {};

template <>
struct ReferenceObject<checkers::specifications::CacheRegister>
    : ReferenceMap<checkers::specifications::CacheRegister, true> {};

template <>
struct ReferenceObject<checkers::specifications::AppendLog> {
  using S = checkers::specifications::AppendLog;
  static S::Operation draw(RandomGenerator& random) {
    switch (random.below(3)) {
      case 0: return S::ReadAll{};
      case 1: return S::ReadEntry{random.below(3)};
      default: return S::Append{random.below(2)};
    }
  }
  S::Result execute(const S::Operation& operation, RandomGenerator& random) {
    if (std::holds_alternative<S::Append>(operation)) {
      values.push_back(std::get<S::Append>(operation).value);
      if (random.below(2) == 0) return {};
      return {.index = values.size() - 1};
    }
    if (std::holds_alternative<S::ReadAll>(operation)) return {.values = values};
    const std::uint64_t index = std::get<S::ReadEntry>(operation).index;
    if (index >= values.size()) return {};
    return {.values = {values[index]}};
  }
  static S::Result draw_result(const S::Operation& operation, RandomGenerator& random) {
    if (std::holds_alternative<S::Append>(operation)) return {.index = random.below(3)};
    S::Result result;
    const bool is_entry = std::holds_alternative<S::ReadEntry>(operation);
    const std::uint64_t count = random.below(is_entry ? 2 : 4);
    while (result.values.size() < count) result.values.push_back(random.below(2));
    return result;
  }
  std::vector<std::uint64_t> values{};
};

template <>
struct ReferenceObject<checkers::specifications::Counter> {
  using S = checkers::specifications::Counter;
  static S::Operation draw(RandomGenerator& random) {
    if (random.below(3) == 0) return S::Read{};
    return S::FetchAdd{random.below(3)};
  }
  S::Result execute(const S::Operation& operation, RandomGenerator& /*random*/) {
    const std::uint64_t before = value;
    if (std::holds_alternative<S::FetchAdd>(operation)) {
      value += std::get<S::FetchAdd>(operation).addend;
    }
    return before;
  }
  static S::Result draw_result(const S::Operation& /*operation*/, RandomGenerator& random) {
    return random.below(6);
  }
  std::uint64_t value = 0;
};

template <typename Specification, bool is_queue>
struct ReferenceSequence {
  using S = Specification;
  static typename S::Operation draw(RandomGenerator& random) {
    if (random.below(2) == 0) return typename S::Pop{};
    return typename S::Push{random.below(3)};
  }
  typename S::Result execute(const typename S::Operation& operation, RandomGenerator& /*random*/) {
    if (std::holds_alternative<typename S::Push>(operation)) {
      const std::uint64_t value = std::get<typename S::Push>(operation).value;
      values.insert(is_queue ? values.end() : values.begin(), value);
      return std::nullopt;
    }
    if (values.empty()) return std::nullopt;
    const std::uint64_t value = values.front();
    values.pop_front();
    return value;
  }
  static typename S::Result draw_result(const typename S::Operation& /*operation*/,
                                        RandomGenerator& random) {
    if (random.below(4) == 0) return std::nullopt;
    return random.below(3);
  }
  std::list<std::uint64_t> values{};
};

template <>
struct ReferenceObject<checkers::specifications::Queue>
    : ReferenceSequence<checkers::specifications::Queue, true> {};

template <>
struct ReferenceObject<checkers::specifications::Stack>
    : ReferenceSequence<checkers::specifications::Stack, false> {};

template <>
struct ReferenceObject<checkers::specifications::Set> {
  using S = checkers::specifications::Set;
  static S::Operation draw(RandomGenerator& random) {
    const std::uint64_t value = random.below(2);
    switch (random.below(3)) {
      case 0: return S::Add{value};
      case 1: return S::Remove{value};
      default: return S::Contains{value};
    }
  }
  S::Result execute(const S::Operation& operation, RandomGenerator& /*random*/) {
    if (std::holds_alternative<S::Add>(operation)) {
      return values.emplace(std::get<S::Add>(operation).value, true).second;
    }
    if (std::holds_alternative<S::Remove>(operation)) {
      return values.erase(std::get<S::Remove>(operation).value) == 1;
    }
    return values.contains(std::get<S::Contains>(operation).value);
  }
  static S::Result draw_result(const S::Operation& /*operation*/, RandomGenerator& random) {
    return random.below(2) == 0;
  }
  std::map<std::uint64_t, bool> values{};
};

template <>
struct ReferenceObject<checkers::specifications::Lock> {
  using S = checkers::specifications::Lock;
  static S::Operation draw(RandomGenerator& random) {
    const std::uint64_t owner = random.below(2);
    switch (random.below(3)) {
      case 0: return S::Acquire{owner};
      case 1: return S::TryAcquire{owner};
      default: return S::Release{owner};
    }
  }
  S::Result execute(const S::Operation& operation, RandomGenerator& /*random*/) {
    const std::uint64_t owner = std::visit([](const auto& any) { return any.owner; }, operation);
    if (std::holds_alternative<S::Release>(operation)) {
      const bool releases = is_held && holder == owner;
      if (releases) is_held = false;
      return releases;
    }
    if (is_held) return false;
    is_held = true;
    holder = owner;
    return true;
  }
  static S::Result draw_result(const S::Operation& /*operation*/, RandomGenerator& random) {
    return random.below(2) == 0;
  }
  bool is_held = false;
  std::uint64_t holder = 0;
};

template <>
struct ReferenceObject<checkers::specifications::PriorityQueue> {
  using S = checkers::specifications::PriorityQueue;
  static S::Operation draw(RandomGenerator& random) {
    if (random.below(2) == 0) return S::Pop{};
    return S::Push{random.below(3)};
  }
  S::Result execute(const S::Operation& operation, RandomGenerator& /*random*/) {
    if (const auto* const push = std::get_if<S::Push>(&operation)) {
      ++counts[push->value];
      return std::nullopt;
    }
    for (std::uint64_t value = 0; value < counts.size(); ++value) {
      if (counts[value] == 0) continue;
      --counts[value];
      return value;
    }
    return std::nullopt;
  }
  static S::Result draw_result(const S::Operation& operation, RandomGenerator& random) {
    if (std::holds_alternative<S::Push>(operation) || random.below(4) == 0) return std::nullopt;
    return random.below(3);
  }
  std::vector<std::uint64_t> counts = {0, 0, 0};  // by value
};

template <>
struct ReferenceObject<checkers::specifications::MultiRegister> {
  using S = checkers::specifications::MultiRegister;
  static S::Operation draw(RandomGenerator& random) {
    S::Operation accesses;
    const std::uint64_t count = random.below(4);
    while (accesses.size() < count) {
      const std::string key = random.below(2) == 0 ? "a" : "b";
      const bool reads = random.below(2) == 0;
      accesses.push_back(reads ? S::read(key) : S::write(key, random.below(3)));
    }
    return accesses;
  }
  S::Result execute(const S::Operation& operation, RandomGenerator& /*random*/) {
    S::Result found;
    for (const S::Access& access : operation) {
      std::uint64_t& value = access.key == "a" ? of_a : of_b;
      if (access.written) {
        value = *access.written;
      } else {
        found.push_back(value);
      }
    }
    return found;
  }
  static S::Result draw_result(const S::Operation& operation, RandomGenerator& random) {
    S::Result found;
    for (const S::Access& access : operation) {
      if (!access.written) found.push_back(random.below(3));
    }
    return found;
  }
  std::uint64_t of_a = 0;
  std::uint64_t of_b = 0;
};

template <>
struct ReferenceObject<checkers::specifications::WriteOnceLog> {
  using S = checkers::specifications::WriteOnceLog;
  static S::Operation draw(RandomGenerator& random) {
    const std::uint64_t value = random.below(2);
    const std::uint64_t position = random.below(3);
    switch (random.below(5)) {
      case 0: return S::Fill{position};
      case 1: return S::Write{position, value};
      case 2: return S::Append{value};
      default: return S::Read{position};
    }
  }
  S::Result execute(const S::Operation& operation, RandomGenerator& random) {
    if (const auto* const append = std::get_if<S::Append>(&operation)) {
      std::uint64_t position = random.below(2);
      while (entries.contains(position)) ++position;
      entries[position] = append->value;
      return S::at(position);
    }
    if (const auto* const write = std::get_if<S::Write>(&operation)) {
      return entries.emplace(write->position, write->value).second ? S::yes() : S::no();
    }
    if (const auto* const fill = std::get_if<S::Fill>(&operation)) {
      return entries.emplace(fill->position, hole).first->second == hole ? S::yes() : S::no();
    }
    const auto entry = entries.find(std::get<S::Read>(operation).position);
    if (entry == entries.end()) return S::unwritten();
    return entry->second == hole ? S::hole() : S::found(entry->second);
  }
  static S::Result draw_result(const S::Operation& operation, RandomGenerator& random) {
    if (std::holds_alternative<S::Append>(operation)) return S::at(random.below(3));
    if (!std::holds_alternative<S::Read>(operation))
      return random.below(2) == 0 ? S::yes() : S::no();
    const std::uint64_t drawn = random.below(4);
    if (drawn < 2) return S::found(drawn);
    return drawn == 2 ? S::hole() : S::unwritten();
  }
  static constexpr std::uint64_t hole = 99;
  std::map<std::uint64_t, std::uint64_t> entries{};
};

struct FundedBank : checkers::specifications::Bank {
  static State initial() { return {{"a", 2}, {"b", 1}}; }
};

template <>
struct ReferenceObject<FundedBank> {
  using S = FundedBank;
  static S::Operation draw(RandomGenerator& random) {
    if (random.below(2) == 0) return S::Read{};
    const bool is_from_a = random.below(2) == 0;
    return S::Transfer{is_from_a ? "a" : "b", is_from_a ? "b" : "a", random.below(3)};
  }
  S::Result execute(const S::Operation& operation, RandomGenerator& /*random*/) {
    const auto* const transfer = std::get_if<S::Transfer>(&operation);
    if (transfer == nullptr) return balances();
    const bool is_from_a = transfer->from == "a";
    if (transfer->amount > (is_from_a ? of_a : total - of_a)) return false;
    of_a = is_from_a ? of_a - transfer->amount : of_a + transfer->amount;
    return true;
  }
  static S::Result draw_result(const S::Operation& operation, RandomGenerator& random) {
    if (std::holds_alternative<S::Transfer>(operation)) return random.below(2) == 0;
    return ReferenceObject{.of_a = random.below(total + 1)}.balances();
  }
  S::State balances() const {
    if (of_a == 0) return {{"b", total}};
    if (of_a == total) return {{"a", total}};
    return {{"a", of_a}, {"b", total - of_a}};
  }
  static constexpr std::uint64_t total = 3;
  std::uint64_t of_a = 2;
};

}  // namespace falafel::checkers_test
