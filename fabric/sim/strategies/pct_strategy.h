// Probabilistic concurrency testing (Burckhardt et al. 2010). Every actor has a random priority; of
// those that can move, the highest does. At depth - 1 random points of the run the actor that just
// moved falls below all that have not fallen. A bug that needs `depth` ordering constraints is thus
// met with probability at least 1 / (actors * steps^(depth - 1)), which a random walk does not come
// near when an actor must stand still for long. All other choices are random.
//
// Priorities are strict: an actor that retries for ever starves the ones below it.
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
  // The changes are spread over the first `steps` calls of schedule(). Both are at least 1.
  PctStrategy(std::uint64_t seed, std::uint64_t depth, std::uint64_t steps);

  std::uint64_t choose(const ChoicePoint& point) override;
  std::uint64_t schedule(const ChoicePoint& point, std::span<const ActorId> actors) override;

 private:
  struct ChangePoint {
    std::uint64_t decision;
    std::uint64_t priority;  // what the actor falls to
  };

  std::size_t highest_of(std::span<const ActorId> actors);
  void draw_priorities_until(ActorId actor);

  fabric::RandomGenerator random_;
  std::uint64_t priority_seed_;
  std::uint64_t decisions_ = 0;
  std::vector<ChangePoint> change_points_;  // those to come, the next one last
  std::vector<std::uint64_t> priorities_;   // by actor
};

}  // namespace falafel::sim
