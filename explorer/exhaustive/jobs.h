// Explores a scenario in several processes, and goes on with an exploration that was interrupted.
//
// A part of the tree (parts.h) is explored in a process of its own. If it turns out to be large, it
// is split instead, and its parts are explored. The whole tree is the first part. How the tree is
// split depends on the program alone, so the counts depend neither on the number of processes nor
// on interruptions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "explorer/exhaustive/exhaustive.h"
#include "explorer/program.h"

namespace falafel::explorer {

struct JobOptions {
  unsigned jobs = 1;
  // A file that names the parts that are finished. Parts that it names are not explored again. It
  // is written at most once a second while parts are finished, and at the end. Empty: none.
  std::string checkpoint{};
  // A part with more executions, redundant ones included, is split.
  std::uint64_t most_runs_of_part = 2'000;
  // Asked all the time: whether to stop, as at a limit. May be empty.
  std::function<bool()> should_stop{};
};

// As explore_exhaustively, always with reduction; max_preemptions, without_reduction and
// finds_shortest_violation must not be set. Of several violations, it finds the one in the first
// part that has any. Limits count finished parts. If a run crashes, the exploration stops. An error
// says that the checkpoint cannot be read or written, or belongs to another exploration.
tl::expected<ExhaustiveResult, std::string> explore_in_jobs(const Program& program,
                                                            const Scenario& scenario,
                                                            const ExhaustiveOptions& options,
                                                            const JobOptions& jobs);

}  // namespace falafel::explorer
