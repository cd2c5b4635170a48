// Names actors so that another run of the same program has the same names. Their numbers do not
// serve, because actors that are made in another order get other numbers. A name says after whose
// step the actor could first move, and how many others had been first seen after steps of that one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "fabric/sim/strategies/strategy.h"

namespace falafel::sim {

using ActorName = std::uint64_t;

class ActorNames {
 public:
  // Names the actors among these that are new. The last step was `parent`'s; a jump of the clock
  // or the start of the run has none. Calls `on_new` with each new actor.
  void see(std::span<const ActorId> ready, std::optional<ActorId> parent,
           const std::function<void(ActorId)>& on_new);

  // Requires that the actor was seen.
  ActorName name(ActorId actor) const { return actors_[actor].name; }

 private:
  struct Actor {
    bool is_seen = false;
    ActorName name = 0;
    std::uint64_t children = 0;
  };

  std::vector<Actor> actors_;
  Actor start_{.is_seen = true};  // the parent of those without one
};

}  // namespace falafel::sim
