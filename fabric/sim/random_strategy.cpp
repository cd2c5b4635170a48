#include "fabric/sim/random_strategy.h"

namespace falafel::sim {

std::uint64_t RandomStrategy::choose(const ChoicePoint& point) {
  return random_.below(point.bound);
}

std::uint64_t RandomStrategy::schedule(const ChoicePoint& /*point*/,
                                       std::span<const ActorId> actors) {
  return random_.below(actors.size());
}

}  // namespace falafel::sim
