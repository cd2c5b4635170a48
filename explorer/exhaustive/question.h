// A question within a step, and the answers to it that a search goes through.
#pragma once

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
};

}  // namespace falafel::explorer
