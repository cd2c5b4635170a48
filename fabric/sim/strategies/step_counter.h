// A random walk that counts the steps of each actor, for a later run of the same program.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "fabric/random.h"
#include "fabric/sim/strategies/actor_names.h"
#include "fabric/sim/strategies/strategy.h"
#include "fabric/sim/touches.h"

namespace falafel::sim {

// The steps of each actor and of all actors that it has brought, directly or not.
using StepCounts = std::map<ActorName, std::uint64_t>;

class StepCounter final : public Strategy, public StepObserver {
 public:
  explicit StepCounter(std::uint64_t seed) : random_(seed) {}

  // Call after the run.
  StepCounts counts() const;

  std::uint64_t choose(const ChoicePoint& point) override { return random_.below(point.bound); }
  fabric::RandomGenerator* dice() override { return &random_; }
  std::uint64_t schedule(const ChoicePoint& point, std::span<const ActorId> actors) override;
  StepObserver* step_observer() override { return this; }

  bool begin_step(std::span<const ActorId> ready, std::uint64_t time_ns) override;
  bool begin_jump() override;
  void touch(const Touch&) override {}
  Touchables heard_touchables() const override { return no_touchables; }
  void end_run() override {}

 private:
  struct Steps {
    std::uint64_t own = 0;
    std::optional<ActorId> parent{};
  };

  void made(ActorId actor);

  fabric::RandomGenerator random_;
  ActorNames names_;
  std::vector<ActorId> seen_;     // parents before their children
  std::vector<Steps> steps_;      // by actor
  std::optional<ActorId> mover_;  // who makes the present step
};

}  // namespace falafel::sim
