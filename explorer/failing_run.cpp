#include "explorer/failing_run.h"

#include <utility>

#include "fabric/sim/strategies/make_strategy.h"

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

std::unique_ptr<sim::Strategy> make_seeded_strategy(const Scenario& scenario, std::uint64_t seed) {
  return sim::make_strategy(scenario.simulation, seed);
}

}  // namespace falafel::explorer
