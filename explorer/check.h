// Tests a program over one-sided verbs: runs a test body under many schedules of a simulated
// network, and shrinks, explains and records the first failing one. docs/own-program.md explains it
// step by step.
//
//   auto result = falafel::check::random({.schedules = 20'000}, [](falafel::check::World& world) {
//     ... // see explorer/check/world.h
//     world.run();
//   });
//   EXPECT_TRUE(result.holds()) << result.story();
#pragma once

#include <version>

#if __cplusplus < 202002L
#error "Falafel needs C++20: compile with -std=c++20, or link falafel::explorer with CMake"
#elif !defined(__cpp_lib_source_location)
#error "Falafel needs std::source_location: compile with GCC 12 or clang 16, or newer ones"
#endif

#include <memory>
#include <source_location>
#include <string>

#include "explorer/check/environment.h"
#include "explorer/check/exhaustive.h"
#include "explorer/check/history.h"
#include "explorer/check/options.h"
#include "explorer/check/program.h"
#include "explorer/check/remote_memory.h"
#include "explorer/check/result.h"
#include "explorer/check/world.h"

namespace falafel::check {

// Runs the body with the seeds of `options`, in worker processes, until one fails. Reads the
// variables of environment.h first. Call it from a process with a single thread. The test
// framework's own assertions have no effect in the body, because it runs in other processes: use
// World::check. Throws a std::invalid_argument if an environment variable is malformed or the
// output folder cannot be created.
Result random(const Options& options, Body body,
              const std::source_location& caller = std::source_location::current());

// The same for any program, with its environment as a value.
Result run_campaign(const WorldProgram& program, const Options& options,
                    const Environment& environment);

// The name of the program: that of the options, or of the calling function.
std::string name_of(const Options& options, const std::source_location& caller);
// The variables of this process. Throws as read_environment does.
Environment own_environment();

// A body as a program for explorer::main.
std::unique_ptr<WorldProgram> program(std::string name, Body body, Network network = {});

}  // namespace falafel::check
