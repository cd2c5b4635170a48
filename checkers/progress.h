// Lock-freedom (Behringer 3.5.5): as long as parties take steps, operations complete. Every
// operation still pending at the start of the fault-free phase at the end of a run must complete,
// even if other parties are stalled or dead. At no time may a large number of verbs be posted
// without any operation completing.
#pragma once

#include <cstdint>

#include "checkers/judgement.h"

namespace falafel::checkers {

class ProgressChecker {
 public:
  // `most_verbs` is the number of verbs that may be posted between two completions. It must cover
  // the longest undisturbed operation, times the number of concurrent operations, times the changes
  // that one operation can encounter.
  explicit ProgressChecker(std::uint64_t most_verbs) : most_verbs_(most_verbs) {}

  // Returns true for the first verb beyond the limit.
  bool on_verb(std::uint64_t step);
  // Call when an operation completes, or a part of the server's work that others may wait for.
  void on_completed() { verbs_ = 0; }
  // Call at the end of the run, with the number of operations that did not complete although their
  // client is alive.
  void on_end(std::uint64_t unfinished_operations);

  // The first violation. Properties: "progress.verbs", "progress.unfinished".
  const Judgement& judgement() const { return judgement_; }

 private:
  std::uint64_t most_verbs_;
  std::uint64_t verbs_ = 0;  // since the last completion
  Judgement judgement_{.verdict = Verdict::holds, .property = "progress", .explanation = {}};
};

}  // namespace falafel::checkers
