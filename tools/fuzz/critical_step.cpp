#include "tools/fuzz/critical_step.h"

#include "fabric/sim/strategies/replay_strategy.h"

namespace falafel::fuzz {
namespace {

// Notes at which step a choice was asked for.
class StepOfChoice final : public sim::Strategy {
 public:
  StepOfChoice(sim::Strategy& inner, std::size_t choice) : inner_(inner), choices_left_(choice) {}

  std::uint64_t choose(const sim::ChoicePoint& point) override {
    note(point);
    return inner_.choose(point);
  }
  std::uint64_t schedule(const sim::ChoicePoint& point,
                         std::span<const sim::ActorId> actors) override {
    note(point);
    return inner_.schedule(point, actors);
  }
  const std::string* divergence() const override { return inner_.divergence(); }
  std::uint64_t step() const { return step_; }

 private:
  void note(const sim::ChoicePoint& point) {
    if (choices_left_-- == 0) step_ = point.step;
  }

  sim::Strategy& inner_;
  std::size_t choices_left_;
  std::uint64_t step_ = 0;
};

}  // namespace

std::optional<CriticalStep> find_critical_step(Runner& runner, const FailingRun& failing,
                                               std::uint64_t tries) {
  if (tries == 0 || failing.run.violations.empty()) return std::nullopt;
  CriticalStep critical{.choice = find_critical_choice(runner, failing, tries), .step = 0};
  sim::ReplayStrategy replay(failing.choices);
  StepOfChoice steps(replay, critical.choice);
  runner.run(failing.scenario, steps);
  critical.step = steps.step();
  return critical;
}

}  // namespace falafel::fuzz
