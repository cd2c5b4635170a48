#include "fabric/sim/strategies/step_counter.h"

namespace falafel::sim {

std::uint64_t StepCounter::schedule(const ChoicePoint& /*point*/, std::span<const ActorId> actors) {
  const std::uint64_t chosen = random_.below(actors.size());
  made(actors[chosen]);
  return chosen;
}

bool StepCounter::begin_step(std::span<const ActorId> ready, std::uint64_t /*time_ns*/) {
  names_.see(ready, mover_, [this](ActorId actor) {
    seen_.push_back(actor);
    if (steps_.size() <= actor) steps_.resize(std::size_t{actor} + 1);
    steps_[actor].parent = mover_;
  });
  mover_.reset();
  // The simulator asks only if several actors can move.
  if (ready.size() == 1) made(ready.front());
  return true;
}

bool StepCounter::begin_jump() {
  mover_.reset();
  return true;
}

void StepCounter::made(ActorId actor) {
  mover_ = actor;
  ++steps_[actor].own;
}

StepCounts StepCounter::counts() const {
  std::vector<std::uint64_t> totals(steps_.size());
  StepCounts counts;
  for (auto next = seen_.rbegin(); next != seen_.rend(); ++next) {
    const ActorId actor = *next;
    totals[actor] += steps_[actor].own;
    if (steps_[actor].parent) totals[*steps_[actor].parent] += totals[actor];
    counts[names_.name(actor)] = totals[actor];
  }
  return counts;
}

}  // namespace falafel::sim
