#include "explorer/failing_run.h"

#include <utility>

#include "fabric/sim/strategies/make_strategy.h"
#include "fabric/sim/strategies/urw_strategy.h"

namespace falafel::explorer {

std::vector<std::uint64_t> answers_of(const std::vector<sim::Choice>& choices) {
  std::vector<std::uint64_t> answers;
  answers.reserve(choices.size());
  for (const sim::Choice& choice : choices) answers.push_back(choice.value);
  return answers;
}

FailingRun record(Runner& runner, const Scenario& scenario, sim::Strategy& strategy) {
  sim::RecordingStrategy recording(strategy);
  Run run = runner.run(scenario, recording);
  return {.scenario = scenario.clone(), .choices = recording.choices(), .run = std::move(run)};
}

std::unique_ptr<sim::Strategy> make_seeded_strategy(const Scenario& scenario, std::uint64_t seed,
                                                    Runner* earlier_run) {
  if (scenario.simulation.strategy != sim::StrategyKind::urw || earlier_run == nullptr) {
    return sim::make_strategy(scenario.simulation, seed);
  }
  sim::StepCounter counter = make_step_counter(seed);
  earlier_run->run(scenario, counter);
  return std::make_unique<sim::UrwStrategy>(seed, counter.counts());
}

sim::StepCounter make_step_counter(std::uint64_t seed) {
  // Its random numbers differ from those of the run that it is for.
  constexpr std::uint64_t earlier_stream = 0x6561726c696572;
  return sim::StepCounter(seed ^ earlier_stream);
}

}  // namespace falafel::explorer
