#include "tools/falafel/divergence.h"

#include <fmt/format.h>

#include "falafel_build_identity.h"

namespace falafel::command_line {

bool fits(const fuzz::LoadedReplay& replay, const fuzz::StoreRun& run) {
  return run.result.outcome != sim::Outcome::diverged &&
         run.result.trace_hash == replay.file.trace_hash;
}

int report_divergence(const std::string& path, const fuzz::LoadedReplay& replay,
                      const fuzz::StoreRun& run) {
  fmt::print(stderr, "{}: does not match this program. {}\nrecorded by {}, this is {}\n", path,
             run.result.outcome == sim::Outcome::diverged ? run.result.explanation
                                                          : "The trace hash differs.",
             replay.file.build_identity, build::identity);
  return 3;
}

}  // namespace falafel::command_line
