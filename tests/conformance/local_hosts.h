// Hosts of one machine as a backend of the conformance suite: threads of this process, or
// processes, which can be killed. The machine determines the schedules, so runs are repeated.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "tests/conformance/harness.h"

namespace falafel::conformance {

struct HostOfProgram {
  HostDescription description;
  HostBody body;
};

// Runs the body of a host to its end.
using RunHost = std::function<void(const HostOfProgram&)>;
// How hosts run whose names belong to this directory. Threads share what it returns; each process
// calls it for itself.
using MakeRunHost = std::function<RunHost(const std::filesystem::path& directory)>;

// "threads" and "processes", the same number of runs of each.
std::vector<VariantPointer> local_variants(const MakeRunHost& make_run_host,
                                           const Capabilities& capabilities, int runs_with_threads,
                                           int runs_with_processes);

}  // namespace falafel::conformance
