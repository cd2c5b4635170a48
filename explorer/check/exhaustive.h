// Proves a small test body: runs it under all schedules that differ, instead of under many drawn at
// random. docs/exhaustive.md says what this covers, and what the body must keep to.
//
//   auto proof = falafel::check::exhaustive({}, [](falafel::check::World& world) {
//     ... // see explorer/check/world.h
//     world.run();
//   });
//   EXPECT_TRUE(proof.is_complete() && proof.holds()) << proof.story();
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "explorer/check/environment.h"
#include "explorer/check/program.h"
#include "explorer/check/result.h"
#include "explorer/exhaustive/exhaustive.h"
#include "fabric/sim/options/options.h"

namespace falafel::check {

// The exploration could choose nothing, so the proof is void.
inline constexpr std::string_view nothing_explored_property = "proof.nothing-explored";

struct ExhaustiveOptions {
  // As in Options.
  std::string name{};
  double shrink_seconds = 20;
  std::uint64_t critical_tries = 30;
  std::string output = ".";

  // Determines World::choose and the operations of the declarative form. One seed is one program.
  std::uint64_t seed = 1;
  // A longer run is cut off, and the proof is then only complete up to this limit.
  std::uint64_t step_limit = 10'000;
  // As in explorer::ExhaustiveOptions: where the exploration begins, and when it stops. Better than
  // a time is World::ready, because steps take no time during an exploration.
  std::uint64_t explored_from_ns = 0;
  std::uint64_t max_executions = std::numeric_limits<std::uint64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
  // Changes the options of the network, for example to what the program's device promises. By
  // default, the network is the weakest that the contract allows (exhaustive/assumptions.h), with
  // the default limits and without faults. May be empty.
  std::function<void(sim::SimulationOptions&)> adjust{};
  // The most faults that strike, of the kinds to which `adjust` gives a rate above 0, each at any
  // step. Without it, faults that strike at steps are refused.
  std::optional<std::uint64_t> max_faults{};
};

struct Proof : Result {
  bool is_complete() const { return coverage == explorer::Coverage::complete; }

  explorer::Coverage coverage = explorer::Coverage::stopped;
  std::uint64_t redundant = 0;  // runs given up, in addition to `schedules`
  // The assumptions of the proof beyond the contract, each as a sentence. Also in story().
  std::vector<std::string> assumptions;
  // Sleeps and time-outs that pass only when nothing else can move. With any, the proof is not
  // complete. Also in story().
  std::vector<std::string> deadlines;
};

// Runs the body in this process, until a run fails or all have been run. Like check::random, it
// obeys FALAFEL_REPLAY. Throws a std::invalid_argument if the options ask for faults that strike at
// steps, or if the output folder cannot be created.
Proof exhaustive(const ExhaustiveOptions& options, Body body,
                 const std::source_location& caller = std::source_location::current());

// The same for any program, with its environment as a value.
Proof prove(const WorldProgram& program, const ExhaustiveOptions& options,
            const Environment& environment);

}  // namespace falafel::check
