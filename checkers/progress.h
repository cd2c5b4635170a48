// Lock-freedom (Behringer 3.5.5): as long as parties take steps, operations complete. A fault-free phase
// at a run's end must bring every operation that is still under way to its end, however others are
// stalled or dead; and at no time may very many verbs be posted without any operation coming to its end.
#pragma once

#include <cstdint>

#include "checkers/judgement.h"

namespace falafel::checkers {

class ProgressChecker {
 public:
  // `most_verbs`: as many as may be posted between two operations' ends; cover the longest operation that
  // nobody disturbs, times the operations that run side by side, times the changes that one can meet.
  explicit ProgressChecker(std::uint64_t most_verbs) : most_verbs_(most_verbs) {}

  // True for the verb that is one too many.
  bool on_verb(std::uint64_t step);
  // An operation, or a piece of the server's own work that others may have to wait for.
  void on_completed() { verbs_ = 0; }
  // The end of the run: operations that have not come to theirs although nobody died in them.
  void on_end(std::uint64_t unfinished_operations);

  // The first violation; properties "progress.verbs", "progress.unfinished".
  const Judgement& judgement() const { return judgement_; }

 private:
  std::uint64_t most_verbs_;
  std::uint64_t verbs_ = 0;  // since an operation completed
  Judgement judgement_{.verdict = Verdict::holds, .property = "progress", .explanation = {}};
};

}  // namespace falafel::checkers
