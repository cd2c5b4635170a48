#include "fabric/sim/strategies/actor_names.h"

#include <algorithm>

#include "fabric/random.h"

namespace falafel::sim {

void ActorNames::see(std::span<const ActorId> ready, std::optional<ActorId> parent,
                     const std::function<void(ActorId)>& on_new) {
  if (ready.empty()) return;
  const std::size_t known = std::size_t{std::ranges::max(ready)} + 1;
  if (actors_.size() < known) actors_.resize(known);
  for (const ActorId actor : ready) {
    if (actors_[actor].is_seen) continue;
    Actor& from = parent ? actors_[*parent] : start_;
    std::uint64_t state = from.name + ++from.children;
    actors_[actor] = {.is_seen = true, .name = fabric::splitmix64(state)};
    on_new(actor);
  }
}

}  // namespace falafel::sim
