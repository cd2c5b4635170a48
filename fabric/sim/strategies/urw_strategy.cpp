#include "fabric/sim/strategies/urw_strategy.h"

#include <algorithm>
#include <utility>

namespace falafel::sim {

UrwStrategy::UrwStrategy(std::uint64_t seed, StepCounts earlier)
    : random_(seed), earlier_(std::move(earlier)) {
  std::uint64_t sum = 0;
  for (const auto& [name, steps] : earlier_) sum += steps;
  if (!earlier_.empty()) mean_ = std::max<std::uint64_t>(sum / earlier_.size(), 1);
}

std::uint64_t UrwStrategy::schedule(const ChoicePoint& /*point*/, std::span<const ActorId> actors) {
  std::uint64_t sum = 0;
  for (const ActorId actor : actors) sum += weight(actor);
  std::uint64_t drawn = random_.below(sum);
  std::size_t chosen = 0;
  while (drawn >= weight(actors[chosen])) drawn -= weight(actors[chosen++]);
  made(actors[chosen]);
  return chosen;
}

bool UrwStrategy::begin_step(std::span<const ActorId> ready, std::uint64_t /*time_ns*/) {
  names_.see(ready, mover_, [this](ActorId actor) { introduce(actor); });
  mover_.reset();
  // The simulator asks only if several actors can move.
  if (ready.size() == 1) made(ready.front());
  return true;
}

bool UrwStrategy::begin_jump() {
  mover_.reset();
  return true;
}

// The parent no longer stands for the steps that the new actor has to make.
void UrwStrategy::introduce(ActorId actor) {
  if (left_.size() <= actor) left_.resize(std::size_t{actor} + 1);
  const auto known = earlier_.find(names_.name(actor));
  const std::uint64_t steps = known == earlier_.end() ? mean_ : known->second;
  left_[actor] = static_cast<std::int64_t>(steps);
  if (mover_ && known != earlier_.end()) left_[*mover_] -= left_[actor];
}

void UrwStrategy::made(ActorId actor) {
  mover_ = actor;
  --left_[actor];
}

std::uint64_t UrwStrategy::weight(ActorId actor) const {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(left_[actor], 1));
}

}  // namespace falafel::sim
