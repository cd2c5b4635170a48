#include "explorer/exhaustive/plain_search.h"

#include <algorithm>

#include "fabric/assert.h"

namespace falafel::explorer {

// Processes are sorted, because their order among the enabled ones depends on what happened before.
std::optional<Process> PlainSearch::next(std::span<const Process> enabled) {
  if (enabled.empty()) return std::nullopt;
  std::vector<Process> sorted(enabled.begin(), enabled.end());
  std::ranges::sort(sorted);
  return sorted[decide({.bound = sorted.size()})];
}

std::uint64_t PlainSearch::choose(std::uint64_t bound, sim::Answers sufficient) {
  const bool takes_all = depth_ == Depth::all_answers;
  return decide({.bound = bound, .sufficient = takes_all ? sim::all_answers : sufficient});
}

std::uint64_t PlainSearch::decide(const Question& question) {
  if (position_ == decisions_.size()) {
    decisions_.push_back({.question = question, .answer = question.first_from(0).value()});
  }
  const Decision& decision = decisions_[position_++];
  FALAFEL_ASSERT(decision.question == question,
                 "the program is not repeatable: decision {} is among {} answers, and was among {}",
                 position_ - 1, question.bound, decision.question.bound);
  return decision.answer;
}

double PlainSearch::explored_share() const {
  ExploredShare share;
  for (const Decision& decision : decisions_) share.descend(decision.question, decision.answer);
  return share.value();
}

bool PlainSearch::find_next_execution() {
  while (!decisions_.empty()) {
    Decision& last = decisions_.back();
    if (const auto answer = last.question.first_from(last.answer + 1)) {
      last.answer = *answer;
      return true;
    }
    decisions_.pop_back();
  }
  return false;
}

}  // namespace falafel::explorer
