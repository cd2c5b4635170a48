#include "fabric/sim/strategies/pct_strategy.h"

#include <algorithm>

#include "fabric/assert.h"

namespace falafel::sim {

namespace {

// Set in the priorities that actors start with, so they are above those that actors fall to.
constexpr std::uint64_t high_priority_bit = std::uint64_t{1} << 63U;

}  // namespace

PctStrategy::PctStrategy(std::uint64_t seed, std::uint64_t depth, std::uint64_t steps)
    : random_(seed), priority_seed_(random_.next()) {
  FALAFEL_ASSERT(depth >= 1 && steps >= 1, "depth {}, steps {}", depth, steps);
  for (std::uint64_t priority = 1; priority < depth; ++priority) {
    change_points_.push_back({.decision = random_.below(steps), .priority = priority});
  }
  std::ranges::stable_sort(change_points_, std::ranges::greater{}, &ChangePoint::decision);
}

std::uint64_t PctStrategy::schedule(const ChoicePoint& /*point*/, std::span<const ActorId> actors) {
  const std::size_t highest = highest_of(actors);
  while (!change_points_.empty() && change_points_.back().decision == decisions_) {
    priorities_[actors[highest]] = change_points_.back().priority;
    change_points_.pop_back();
  }
  ++decisions_;
  return highest;
}

std::size_t PctStrategy::highest_of(std::span<const ActorId> actors) {
  const ActorId last = std::ranges::max(actors);
  if (last >= priorities_.size()) draw_priorities_until(last);
  std::size_t highest = 0;
  for (std::size_t index = 1; index < actors.size(); ++index) {
    if (priorities_[actors[index]] > priorities_[actors[highest]]) highest = index;
  }
  return highest;
}

// The starting priority depends on the actor alone, not on when the strategy first sees it: the
// actor's number selects an element of a splitmix64 sequence.
void PctStrategy::draw_priorities_until(ActorId actor) {
  for (std::uint64_t next = priorities_.size(); next <= actor; ++next) {
    std::uint64_t state = priority_seed_ + next * 0x9e3779b97f4a7c15U;
    priorities_.push_back(fabric::splitmix64(state) | high_priority_bit);
  }
}

}  // namespace falafel::sim
