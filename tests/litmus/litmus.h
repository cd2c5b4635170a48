// Litmus tests of the simulator: a program of a few requests, the outcomes that it must be able to
// have, and the promise that it has no others. A test is tried with many seeds, alternating a
// random walk and PCT. It fails if an outcome that is listed does not appear soon, or if one that
// is not listed appears at all; then it prints how often each outcome was seen and the seed of the
// first of each.
//
// An outcome is a number whose hexadecimal digits are what was seen: digits(1, 0) is 0x10.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "fabric/sim/options.h"
#include "tests/litmus/party.h"

namespace falafel::litmus {

// Words of the server's memory, as the programs name them.
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
  std::vector<AllowedOutcome> allowed;    // all of them, each reached within reach_schedules
  std::vector<AllowedOutcome> tolerated;  // allowed, but no fault if they never appear
  // What the outcomes that are not listed have in common; empty if nothing that is worth a million
  // schedules is missing from the list.
  std::string_view forbidden;
};

inline constexpr std::uint64_t reach_schedules = 20'000;
inline constexpr std::uint64_t never_schedules = 1'000'000;

struct Tally {
  std::uint64_t count = 0;
  std::uint64_t first_seed = 0;
};
using OutcomeTable = std::map<std::uint64_t, Tally>;

// The outcome of a run that did not end as it should.
inline constexpr std::uint64_t incomplete_outcome = ~std::uint64_t{0};

// Tries the seeds from 0 on; stops at an outcome that is not listed.
OutcomeTable run_litmus(const Litmus& litmus, std::uint64_t schedules);

// Runs it and reports to GoogleTest.
void verify(const Litmus& litmus);

// One digit for each value; what needs more than a digit is shown as f.
template <typename... Values>
constexpr std::uint64_t digits(Values... values) {
  std::uint64_t packed = 0;
  ((packed = packed << 4U |
             (static_cast<std::uint64_t>(values) < 15 ? static_cast<std::uint64_t>(values) : 15U)),
   ...);
  return packed;
}

// The words seen, as digits, from the register `first` on.
std::uint64_t seen_digits(const Trial& trial, std::size_t count, std::size_t first = 0);

}  // namespace falafel::litmus
