// Litmus tests of the simulator. A test is a program of a few requests with the set of outcomes
// that must occur and a claim that no other outcome occurs. An exhaustive exploration proves both.
// A test that says why it cannot be a proof runs with many seeds instead, alternating a random walk
// and PCT: it fails if a listed outcome does not appear soon or if an unlisted one appears, and
// prints the frequency of each outcome and the first seed of each.
//
// An outcome is a number whose hexadecimal digits are the observed values: digits(1, 0) is 0x10.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "explorer/exhaustive/exhaustive.h"
#include "fabric/sim/options/options.h"
#include "tests/litmus/party.h"

namespace falafel::litmus {

// Names of words in the server's memory.
inline constexpr std::uint64_t x = 0;
inline constexpr std::uint64_t y = 2;  // after a second word of x
inline constexpr std::uint64_t z = 4;  // after a second word of y

struct AllowedOutcome {
  std::uint64_t digits = 0;
  std::string_view meaning;
};

struct Litmus {
  sim::SimulationOptions options;
  Stage stage;
  Program server;
  std::vector<Program> clients;
  std::function<std::uint64_t(Trial&)> outcome;
  std::vector<AllowedOutcome> allowed;    // each must occur within reach_schedules
  std::vector<AllowedOutcome> tolerated;  // allowed, but not required to appear
  // The common trait of all unlisted outcomes; empty if nothing worth a million schedules is
  // unlisted.
  std::string_view forbidden;
  // Why the test is not a proof; empty if it must be one.
  std::string_view unproven;
};

inline constexpr std::uint64_t reach_schedules = 20'000;
inline constexpr std::uint64_t never_schedules = 1'000'000;

struct Tally {
  std::uint64_t count = 0;
  std::uint64_t first_seed = 0;
};
using OutcomeTable = std::map<std::uint64_t, Tally>;

// The outcome of a run that did not end normally.
inline constexpr std::uint64_t incomplete_outcome = ~std::uint64_t{0};

// Tries seeds from 0 on; stops at an unlisted outcome.
OutcomeTable run_litmus(const Litmus& litmus, std::uint64_t schedules);

// Explores all schedules that differ. None if the test asks for what an exploration does not do, or
// has more than `most_executions`.
struct Proof {
  OutcomeTable table;  // how many executions ended in each outcome
  explorer::ExhaustiveResult result;
};
std::optional<Proof> prove(const Litmus& litmus, std::uint64_t most_executions);

// Runs the test and reports to GoogleTest.
void verify(const Litmus& litmus);

// One digit per value; values that need more than one digit are shown as f.
template <typename... Values>
constexpr std::uint64_t digits(Values... values) {
  std::uint64_t packed = 0;
  ((packed = packed << 4U |
             (static_cast<std::uint64_t>(values) < 15 ? static_cast<std::uint64_t>(values) : 15U)),
   ...);
  return packed;
}

// The observed words as digits, starting with the register `first`.
std::uint64_t seen_digits(const Trial& trial, std::size_t count, std::size_t first = 0);

}  // namespace falafel::litmus
