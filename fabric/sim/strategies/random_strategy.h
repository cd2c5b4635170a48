// A random walk: all answers are equally likely.
#pragma once

#include <cstdint>
#include <span>

#include "fabric/random.h"
#include "fabric/sim/strategies/strategy.h"

namespace falafel::sim {

class RandomStrategy final : public Strategy {
 public:
  explicit RandomStrategy(std::uint64_t seed) : random_(seed) {}

  std::uint64_t choose(const ChoicePoint& point) override { return random_.below(point.bound); }
  fabric::RandomGenerator* dice() override { return &random_; }
  bool draws_schedule() const override { return true; }
  std::uint64_t schedule(const ChoicePoint& /*point*/, std::span<const ActorId> actors) override {
    return random_.below(actors.size());
  }

 private:
  fabric::RandomGenerator random_;
};

}  // namespace falafel::sim
