// A lock that at most one owner holds: acquire, try to acquire, release. It is free at first. An
// owner cannot acquire it twice.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "checkers/specification.h"
#include "checkers/specifications/values.h"

namespace falafel::checkers::specifications {

struct Lock {
  // Waits for the lock. May give up ("no") at any time.
  struct Acquire {
    std::uint64_t owner = 0;
    friend bool operator==(const Acquire&, const Acquire&) = default;
  };
  // Does not wait: answers "no" only if the lock is held.
  struct TryAcquire {
    std::uint64_t owner = 0;
    friend bool operator==(const TryAcquire&, const TryAcquire&) = default;
  };
  // Answers "no" only if the owner does not hold the lock.
  struct Release {
    std::uint64_t owner = 0;
    friend bool operator==(const Release&, const Release&) = default;
  };
  using State = std::pair<bool, std::uint64_t>;  // whether it is held, and by which owner
  using Operation = std::variant<Acquire, TryAcquire, Release>;
  using Result = bool;  // it was acquired; it was released

  static State initial() { return {false, 0}; }

  static bool apply(State& state, const Operation& operation, const Result* result) {
    const std::uint64_t owner = owner_of(operation);
    const bool releases = std::holds_alternative<Release>(operation);
    const bool gives_up =
        std::holds_alternative<Acquire>(operation) && result != nullptr && !*result;
    if (gives_up) return true;
    const bool succeeds = releases ? state == State(true, owner) : !state.first;
    if (succeeds) state = releases ? initial() : State(true, owner);
    return result == nullptr || *result == succeeds;
  }

  static bool only_reads(const Operation& /*operation*/, const Result* result) {
    return result != nullptr && !*result;
  }

  static std::string describe(const Operation& operation, const Result* result) {
    const std::string owner = " by " + std::to_string(owner_of(operation)) + " ";
    const std::string answer = describe_yes_or_no(result);
    if (std::holds_alternative<Release>(operation)) return "release" + owner + answer;
    if (std::holds_alternative<Acquire>(operation)) return "acquire" + owner + answer;
    return "try to acquire" + owner + answer;
  }
  static std::string describe(const State& state) {
    return state.first ? "held by " + std::to_string(state.second) : "free";
  }

 private:
  static std::uint64_t owner_of(const Operation& operation) {
    return std::visit([](const auto& any) { return any.owner; }, operation);
  }
};
static_assert(Specification<Lock>);

}  // namespace falafel::checkers::specifications
