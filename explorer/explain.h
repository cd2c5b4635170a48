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

namespace falafel::explorer {

struct Explanation {
  // The run took its recorded course. A run that crashes has no hash, so it is compared by
  // its crash.
  bool is_as_recorded = false;
  std::string divergence;  // if it is not
  std::vector<checkers::Judgement> violations;
  std::uint64_t steps = 0;
  std::vector<StoryLine> story;  // up to a crash
  std::optional<CriticalStep> critical;
};

// Gives up the search for the critical step after `seconds`.
Explanation explain(const Program& program, const LoadedReplay& replay,
                    std::uint64_t critical_tries, double seconds);

// The folded story. A ">" marks the lines of the step that decides, and a line below it says that
// the failure is inevitable from there on. The last paragraph repeats the last clues. With
// `is_short`, leaves out the middle of a long story.
std::string to_text(const Explanation& explanation, bool is_short);

}  // namespace falafel::explorer
