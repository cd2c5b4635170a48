// A question within a step, and the answers to it that a search goes through.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "fabric/sim/strategies/strategy.h"

namespace falafel::explorer {

struct Question {
  std::uint64_t bound = 0;
  sim::Answers sufficient = sim::all_answers;

  friend bool operator==(const Question&, const Question&) = default;

  // The least answer to go through that is at least `answer`.
  std::optional<std::uint64_t> first_from(std::uint64_t answer) const {
    if (sufficient != sim::all_answers) {
      const sim::Answers left = answer < 64 ? sufficient >> answer << answer : 0;
      if (left == 0) return std::nullopt;
      answer = static_cast<std::uint64_t>(std::countr_zero(left));
    }
    return answer < bound ? std::optional(answer) : std::nullopt;
  }
  // The number of answers to go through that are below `answer`, and of all of them.
  std::uint64_t count_below(std::uint64_t answer) const {
    const std::uint64_t end = std::min(answer, bound);
    if (sufficient == sim::all_answers) return end;
    const sim::Answers below = end < 64 ? (sim::Answers{1} << end) - 1 : ~sim::Answers{0};
    return static_cast<std::uint64_t>(std::popcount(sufficient & below));
  }
  std::uint64_t count() const { return count_below(bound); }
};

// Adds up the share of a tree that is explored, on the way from its root to an execution.
class ExploredShare {
 public:
  // At this place, `before` of the alternatives are explored, and the way takes the next one.
  void descend(std::uint64_t before, std::uint64_t alternatives) {
    below_ /= static_cast<double>(alternatives);
    share_ += below_ * static_cast<double>(before);
  }
  void descend(const Question& question, std::uint64_t answer) {
    descend(question.count_below(answer), question.count());
  }
  double value() const { return share_; }

 private:
  double share_ = 0;
  double below_ = 1;  // the share of the part of the tree that the way has come to
};

}  // namespace falafel::explorer
