// Makes the schedule fair from some step on: the actors that can move take turns. A strategy may
// starve an actor for as long as it likes, so a run that spins proves nothing before that step;
// after it, a run that does not end never will.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "fabric/random.h"
#include "fabric/sim/strategies/strategy.h"

namespace falafel::check {

class FairStrategy final : public sim::Strategy {
 public:
  // `inner` outlives this object. It decides everything but the schedule from `first_fair_step` on.
  FairStrategy(sim::Strategy& inner, std::uint64_t first_fair_step)
      : inner_(inner), first_fair_step_(first_fair_step) {}

  std::uint64_t choose(const sim::ChoicePoint& point) override { return inner_.choose(point); }
  fabric::RandomGenerator* dice() override { return inner_.dice(); }

  std::uint64_t schedule(const sim::ChoicePoint& point,
                         std::span<const sim::ActorId> actors) override {
    return point.step < first_fair_step_ ? inner_.schedule(point, actors) : take_turns(actors);
  }

  const std::string* divergence() const override { return inner_.divergence(); }
  sim::StepObserver* step_observer() override { return inner_.step_observer(); }

 private:
  // The next actor after the last one, by number.
  std::uint64_t take_turns(std::span<const sim::ActorId> actors) {
    std::size_t next = 0;
    for (std::size_t index = 1; index < actors.size(); ++index) {
      if (turns_until(actors[index]) < turns_until(actors[next])) next = index;
    }
    last_ = actors[next];
    return next;
  }
  // Wraps around for actors up to the last one.
  sim::ActorId turns_until(sim::ActorId actor) const { return actor - last_ - 1; }

  sim::Strategy& inner_;
  std::uint64_t first_fair_step_;
  sim::ActorId last_ = 0;
};

}  // namespace falafel::check
