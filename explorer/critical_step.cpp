#include "explorer/critical_step.h"

#include "explorer/scripted_strategy.h"
#include "fabric/sim/strategies/replay_strategy.h"

namespace falafel::explorer {
namespace {

// Records the step at which a given choice was made, and the one that it is part of. The choice of
// an actor is part of the next step.
class StepOfChoice final : public sim::Strategy {
 public:
  StepOfChoice(sim::Strategy& inner, std::size_t choice) : inner_(inner), choices_left_(choice) {}

  std::uint64_t choose(const sim::ChoicePoint& point) override {
    note(point, point.step);
    return inner_.choose(point);
  }
  std::uint64_t schedule(const sim::ChoicePoint& point,
                         std::span<const sim::ActorId> actors) override {
    note(point, point.step + 1);
    return inner_.schedule(point, actors);
  }
  const std::string* divergence() const override { return inner_.divergence(); }
  std::uint64_t step() const { return step_; }
  std::uint64_t deciding_step() const { return deciding_step_; }

 private:
  void note(const sim::ChoicePoint& point, std::uint64_t deciding_step) {
    if (choices_left_-- != 0) return;
    step_ = point.step;
    deciding_step_ = deciding_step;
  }

  sim::Strategy& inner_;
  std::size_t choices_left_;
  std::uint64_t step_ = 0;
  std::uint64_t deciding_step_ = 0;
};

}  // namespace

std::size_t find_critical_choice(Runner& runner, const FailingRun& failing, std::uint64_t tries) {
  const std::vector<std::uint64_t> answers = answers_of(failing.choices);
  const std::string property = failing.run.property();
  const auto cannot_be_avoided = [&](std::size_t prefix) {
    for (std::uint64_t seed = 1; seed <= tries; ++seed) {
      ScriptedStrategy strategy(
          {answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(prefix)}, seed);
      if (!runner.run(*failing.scenario, strategy).violates(property)) return false;
    }
    return true;
  };
  std::size_t least = 0;
  std::size_t most = answers.size();
  while (least < most) {
    const std::size_t middle = (least + most) / 2;
    if (cannot_be_avoided(middle)) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  return least == 0 ? 0 : least - 1;
}

std::optional<CriticalStep> find_critical_step(Runner& runner, const FailingRun& failing,
                                               std::uint64_t tries) {
  if (tries == 0 || failing.run.violations.empty()) return std::nullopt;
  CriticalStep critical{.choice = find_critical_choice(runner, failing, tries)};
  sim::ReplayStrategy replay(failing.choices);
  StepOfChoice steps(replay, critical.choice);
  runner.run(*failing.scenario, steps);
  critical.step = steps.step();
  critical.deciding_step = steps.deciding_step();
  return critical;
}

}  // namespace falafel::explorer
