// Probabilistic concurrency testing (Burckhardt et al. 2010). Every actor has a random priority,
// and the actor with the highest priority among those that can move makes the next step. At depth -
// 1 random points of the run, the actor that moved last falls below all actors that have not
// fallen. A bug that needs `depth` ordering constraints is found with probability at least 1 /
// (actors * steps^(depth - 1)). A random walk does not come near this if an actor must pause for
// long. All other choices are random.
//
// Priorities are strict: an actor that retries forever starves the actors below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/random.h"
#include "fabric/sim/strategies/strategy.h"

namespace falafel::sim {

class PctStrategy final : public Strategy {
 public:
  // The priority changes fall within the first `steps` calls of schedule(). Both are at least 1.
  PctStrategy(std::uint64_t seed, std::uint64_t depth, std::uint64_t steps);

  std::uint64_t choose(const ChoicePoint& point) override { return random_.below(point.bound); }
  fabric::RandomGenerator* dice() override { return &random_; }
  std::uint64_t schedule(const ChoicePoint& point, std::span<const ActorId> actors) override;

 private:
  struct ChangePoint {
    std::uint64_t decision;
    std::uint64_t priority;  // the actor's priority from then on
  };

  std::size_t highest_of(std::span<const ActorId> actors);
  void draw_priorities_until(ActorId actor);

  fabric::RandomGenerator random_;
  std::uint64_t priority_seed_;
  std::uint64_t decisions_ = 0;
  std::vector<ChangePoint> change_points_;  // pending ones; the next is the last element
  std::vector<std::uint64_t> priorities_;   // by actor
};

}  // namespace falafel::sim
