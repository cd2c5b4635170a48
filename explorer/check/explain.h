// Explains a recorded run: repeats it in a child process, because it may crash, and tells it step
// by step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explorer/critical_step.h"
#include "explorer/program.h"
#include "explorer/replay.h"
#include "explorer/story.h"

namespace falafel::check {

struct Explanation {
  // Whether the run took its recorded course. A run that crashes has no hash, so it is compared by
  // its crash.
  bool is_as_recorded = false;
  std::string divergence;  // if it is not
  std::vector<checkers::Judgement> violations;
  std::uint64_t steps = 0;
  std::vector<explorer::StoryLine> story;  // up to a crash
  std::optional<explorer::CriticalStep> critical;
};

Explanation explain(const explorer::Program& program, const explorer::LoadedReplay& replay,
                    std::uint64_t critical_tries);

// The story with a line at the critical step. Leaves out lines in the middle of long ones.
std::string to_text(const Explanation& explanation);

}  // namespace falafel::check
