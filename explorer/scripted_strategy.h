// Answers questions from a list as long as the answers are valid, and from another source beyond
// its end. Shrinking uses it, because unlike a replay it accepts questions other than the recorded
// ones. Answers to questions for 64-bit numbers, which programs use as unique identifiers, never
// repeat, regardless of the list.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/random.h"
#include "fabric/sim/strategies/strategy.h"

namespace falafel::explorer {

// The answer that adds nothing to a run: the first actor, everything at once, and no fault for as
// long as possible. `bound` must not be 0.
constexpr std::uint64_t neutral_answer(sim::ChoiceKind kind, std::uint64_t bound) {
  const bool strikes_at_zero =
      kind == sim::ChoiceKind::fault_step || kind == sim::ChoiceKind::registration;
  return strikes_at_zero ? bound - 1 : 0;
}

class ScriptedStrategy final : public sim::Strategy {
 public:
  // Beyond the list: neutral answers, or random numbers from `tail_seed`.
  explicit ScriptedStrategy(std::vector<std::uint64_t> answers,
                            std::optional<std::uint64_t> tail_seed = std::nullopt)
      : answers_(std::move(answers)) {
    if (tail_seed) tail_.emplace(*tail_seed);
  }

  std::uint64_t choose(const sim::ChoicePoint& point) override {
    return next(point.kind, point.bound);
  }
  std::uint64_t schedule(const sim::ChoicePoint&, std::span<const sim::ActorId> actors) override {
    return next(sim::ChoiceKind::schedule, actors.size());
  }

 private:
  std::uint64_t next(sim::ChoiceKind kind, std::uint64_t bound) {
    const bool is_listed = position_ < answers_.size();
    const std::uint64_t listed = is_listed ? answers_[position_++] : 0;
    if (bound == 0) return fabric::splitmix64(unique_numbers_);
    if (is_listed) return listed % bound;
    return tail_ ? tail_->below(bound) : neutral_answer(kind, bound);
  }

  std::vector<std::uint64_t> answers_;
  std::size_t position_ = 0;
  std::uint64_t unique_numbers_ = 0;
  std::optional<fabric::RandomGenerator> tail_;
};

}  // namespace falafel::explorer
