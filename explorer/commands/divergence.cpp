#include "explorer/commands/divergence.h"

#include <fmt/format.h>

#include "falafel_build_identity.h"

namespace falafel::command_line {

int report_divergence(const std::string& path, const explorer::LoadedReplay& replay,
                      const std::string& divergence) {
  fmt::print(stderr, "{}: does not match this program. {}\nrecorded by {}, this is {}\n", path,
             divergence, replay.file.build_identity, build::identity);
  return 3;
}

int report_divergence(const std::string& path, const explorer::LoadedReplay& replay,
                      const explorer::Run& run) {
  return report_divergence(path, replay,
                           run.result.outcome == sim::Outcome::diverged
                               ? run.result.explanation
                               : "The trace hash differs.");
}

}  // namespace falafel::command_line
