// The part of a program's executions that an exhaustive exploration runs (exhaustive.h), and its
// bounds.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "fabric/fabric.h"

namespace falafel::explorer {

struct ExhaustiveResult;

struct ExhaustiveOptions {
  // Choices at other times are fixed, and not explored.
  std::uint64_t explored_from_ns = 0;
  std::uint64_t explored_until_ns = fabric::never_ns;
  // Nothing is explored before the program ends its preparations
  // (sim::StepObserver::end_preparations). Explorations of programs find out whether it does.
  bool has_preparations = false;
  // fabric::Host::random returns all numbers; otherwise always 0.
  bool draws_numbers = true;
  // Goes on after a violation, and returns the shortest one: no other execution that violates a
  // property has fewer steps, provided that the exploration is complete.
  bool finds_shortest_violation = false;
  // The exploration stops after this number of executions, or this time.
  std::uint64_t max_executions = std::numeric_limits<std::uint64_t>::max();
  double max_seconds = std::numeric_limits<double>::infinity();
  // The most preemptions of an execution. A process is preempted if another one makes the next step
  // although it could go on. Such an exploration goes without reduction.
  std::optional<std::uint64_t> max_preemptions{};
  // Goes through all executions instead of one for each trace. For comparison.
  bool without_reduction = false;
  // The most faults that strike, of the kinds with a rate above 0, each at any step. Without it,
  // a scenario must not have faults that strike at steps, and others strike as often as they can.
  std::optional<std::uint64_t> max_faults{};
  // Called about every second with the counts so far. May be empty.
  std::function<void(const ExhaustiveResult&)> progress{};
};

}  // namespace falafel::explorer
