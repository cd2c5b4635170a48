// Failing runs as replay files, and back.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "fabric/sim/replay_file/replay_file.h"
#include "tools/fuzz/run.h"
#include "tools/fuzz/shrink.h"

namespace falafel::fuzz {

// scenario_options has the scenario, and what was violated: `property`, `explanation`.
sim::ReplayFile to_replay_file(const FailingRun& failing);

struct LoadedReplay {
  sim::ReplayFile file;
  Scenario scenario;
  std::string property;  // that the file was recorded for
};
// What is wrong with the file, as a message that begins with the path.
tl::expected<LoadedReplay, std::string> load_replay(const std::string& path);

}  // namespace falafel::fuzz
