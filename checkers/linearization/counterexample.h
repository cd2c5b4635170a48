// Describes counterexamples to linearizability in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace falafel::checkers::linearization {

struct Counterexample {
  std::string object;          // `key "x"`
  std::size_t operations = 0;  // on the object
  std::span<const std::size_t> prefix;
  std::string state;  // after the prefix: `the key is absent`
  // The operations that cannot come next, with the one that returns first in front.
  std::span<const std::size_t> unfitting;
  std::uint64_t first_return_time = 0;
  std::size_t most_listed = 0;  // of the prefix
  std::function<std::string(std::size_t position)> describe;
};

std::string explain_violation(const Counterexample& example);

// The object's search ended at a limit; `undecided` of `objects` objects did.
struct Undecided {
  std::string object;
  std::size_t operations = 0;
  std::string limit;  // "1000 steps"
  // The longest order passes `passed` of `returns` returns.
  std::size_t passed = 0;
  std::size_t returns = 0;
  std::size_t undecided = 0;
  std::size_t objects = 0;
  std::string plural;  // "keys"
};

std::string explain_undecided(const Undecided& undecided);

}  // namespace falafel::checkers::linearization
