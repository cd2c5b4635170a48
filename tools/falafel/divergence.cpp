#include "tools/falafel/divergence.h"

#include <fmt/format.h>

#include "falafel_build_identity.h"

namespace falafel::command_line {

int report_divergence(const std::string& path, const explorer::LoadedReplay& replay,
                      const explorer::Run& run) {
  fmt::print(stderr, "{}: does not match this program. {}\nrecorded by {}, this is {}\n", path,
             run.result.outcome == sim::Outcome::diverged ? run.result.explanation
                                                          : "The trace hash differs.",
             replay.file.build_identity, build::identity);
  return 3;
}

}  // namespace falafel::command_line
