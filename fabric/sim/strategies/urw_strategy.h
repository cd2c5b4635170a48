// The uniform random walk of H. Zhao, D. Wolff, U. Mathur, A. Roychoudhury: "Selectively Uniform
// Concurrency Testing" (ASPLOS 2025). Every actor that can move makes the next step with a
// probability in proportion to the number of steps that it has left. If no actor ever waits and the
// numbers are right, all interleavings are equally likely. A plain random walk prefers those in
// which an actor with few steps is done early. All other choices are random.
//
// The numbers come from an earlier run of the same program (StepCounter). An actor stands for the
// actors too that it will still bring. Runs of one program differ, so the numbers are estimates: an
// actor that has made more steps than in the earlier run has one left, and one that the earlier run
// did not have has as many as an actor of that run had on average. Without an earlier run, this is
// a plain random walk. An actor that polls for ever starves no other one, because it soon has one
// step left.
//
// The paper's SURW is uniform over chosen steps only, and makes the other ones at random. It must
// know of a step before it is made whether it is one of those. The simulator knows that only
// afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/random.h"
#include "fabric/sim/strategies/actor_names.h"
#include "fabric/sim/strategies/step_counter.h"
#include "fabric/sim/strategies/strategy.h"
#include "fabric/sim/touches.h"

namespace falafel::sim {

class UrwStrategy final : public Strategy, public StepObserver {
 public:
  UrwStrategy(std::uint64_t seed, StepCounts earlier);

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
  void introduce(ActorId actor);
  void made(ActorId actor);
  std::uint64_t weight(ActorId actor) const;

  fabric::RandomGenerator random_;
  StepCounts earlier_;
  std::uint64_t mean_ = 1;  // of the counts of the earlier run
  ActorNames names_;
  std::vector<std::int64_t> left_;  // by actor; below 1 if it has made more steps than expected
  std::optional<ActorId> mover_;    // who makes the present step
};

}  // namespace falafel::sim
