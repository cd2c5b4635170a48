// Converts failing runs to replay files and back.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "explorer/failing_run.h"
#include "fabric/sim/replay_file/replay_file.h"

namespace falafel::explorer {

// `scenario_options` of the file holds the scenario and the first violation: `property`,
// `explanation`.
sim::ReplayFile to_replay_file(const Program& program, const FailingRun& failing);

struct LoadedReplay {
  sim::ReplayFile file;
  std::shared_ptr<const Scenario> scenario;
  std::string property;  // the recorded violation

  // Tells if `run` is the recorded one.
  bool matches(const Run& run) const;
};

// Loads a replay file of `program`; returns an error message that begins with the path.
tl::expected<LoadedReplay, std::string> load_replay(const Program& program,
                                                    const std::string& path);

}  // namespace falafel::explorer
