#include "checkers/progress.h"

#include <fmt/format.h>

namespace falafel::checkers {

bool ProgressChecker::on_verb(std::uint64_t step) {
  if (++verbs_ != most_verbs_ + 1 || judgement_.verdict != Verdict::holds) return false;
  judgement_ = {
      .verdict = Verdict::violated,
      .property = "progress.verbs",
      .explanation = fmt::format("step {}: {} verbs were posted since the last operation completed",
                                 step, verbs_),
      .step = step};
  return true;
}

void ProgressChecker::on_end(std::uint64_t unfinished_operations) {
  if (unfinished_operations == 0 || judgement_.verdict != Verdict::holds) return;
  judgement_ = {.verdict = Verdict::violated,
                .property = "progress.unfinished",
                .explanation = fmt::format("{} operations never completed", unfinished_operations)};
}

}  // namespace falafel::checkers
