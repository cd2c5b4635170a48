// Environment variables that change what a test runs, without recompiling it:
//
//   FALAFEL_SEED=17         run only this seed, or seeds from it on with FALAFEL_SCHEDULES
//   FALAFEL_SCHEDULES=5000  the number of schedules
//   FALAFEL_JOBS=4          the number of processes
//   FALAFEL_REPLAY=FILE     repeat a recorded run; tests of other programs run nothing
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace falafel::check {

struct Environment {
  std::optional<std::uint64_t> seed{};
  std::optional<std::uint64_t> schedules{};
  std::optional<unsigned> jobs{};
  std::string replay{};  // a path; empty: nothing to replay
};

// `get` returns the value of a variable, or null. An empty value counts as none. Throws a
// std::invalid_argument that names the variable, its value and the remedy if a value is malformed.
Environment read_environment(const std::function<const char*(const char*)>& get);

}  // namespace falafel::check
