// The answers to the questions of a timed run. In such a run time decides what otherwise a choice
// decides: what happens at once and in one piece on a card does so here. All other questions go to
// the strategy: those of the program, and those about faults.
#pragma once

#include "fabric/sim/strategies/strategy.h"

namespace falafel::sim::timing {

class TimedAnswers final : public Strategy {
 public:
  explicit TimedAnswers(Strategy& strategy) : strategy_(strategy) {}

  std::uint64_t choose(const ChoicePoint& point) override {
    switch (point.kind) {
      case ChoiceKind::packet:           // packets arrive at their time, and are placed at once
      case ChoiceKind::placement_start:  // from the beginning
      case ChoiceKind::visibility: return 0;
      case ChoiceKind::placement_length:  // all words of a packet
      case ChoiceKind::atomic_gap:        // none
      case ChoiceKind::answer:
      case ChoiceKind::preemption: return point.bound - 1;
      default: return strategy_.choose(point);
    }
  }
  std::uint64_t schedule(const ChoicePoint& point, std::span<const ActorId> actors) override {
    return strategy_.schedule(point, actors);
  }
  const std::string* divergence() const override { return strategy_.divergence(); }

 private:
  Strategy& strategy_;
};

}  // namespace falafel::sim::timing
