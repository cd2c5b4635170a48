#include "explorer/check/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "explorer/check/network.h"
#include "explorer/check/usual_steps.h"
#include "explorer/child_text.h"
#include "explorer/exhaustive/assumptions.h"
#include "explorer/failing_run.h"

namespace falafel::check {
namespace {

class WorldRunner final : public explorer::Runner {
 public:
  // `safeguards` may be null; otherwise it collects the names that bodies ask about.
  WorldRunner(const Body& body, Conditions& conditions, std::set<std::string>* safeguards = nullptr)
      : body_(body), conditions_(conditions), safeguards_(safeguards) {}

  explorer::Run run(const explorer::Scenario& scenario, sim::Strategy& strategy) override {
    return run(world_scenario(scenario), strategy, conditions_, nullptr);
  }
  explorer::Run repeat(const explorer::Scenario& scenario, sim::Strategy& strategy) override {
    return run(world_scenario(scenario), strategy, uncounted_, nullptr);
  }
  explorer::Run run_observed(const explorer::Scenario& scenario, sim::Strategy& strategy,
                             explorer::RunListener& listener) override {
    return run(world_scenario(scenario), strategy, conditions_, &listener);
  }
  const explorer::Vocabulary& vocabulary(const explorer::Scenario&) override { return names_; }

 private:
  explorer::Run run(const WorldScenario& scenario, sim::Strategy& strategy, Conditions& conditions,
                    explorer::RunListener* listener) {
    World world({.scenario = scenario,
                 .strategy = strategy,
                 .stacks = stacks_,
                 .conditions = conditions,
                 .names = names_,
                 .safeguards = safeguards_,
                 .listener = listener});
    body_(world);
    return world.take_run();
  }

  const Body& body_;
  Conditions& conditions_;
  Conditions uncounted_;
  std::set<std::string>* safeguards_;
  fabric::FiberStackPool stacks_;
  Names names_;
};

}  // namespace

std::vector<sim::FaultKind> delays() {
  using sim::FaultKind;
  return {FaultKind::client_pause,  FaultKind::unreliable_loss, FaultKind::datagram_reordering,
          FaultKind::message_delay, FaultKind::late_packets,    FaultKind::server_stall,
          FaultKind::latency_spike, FaultKind::slow_landing};
}

std::vector<sim::FaultKind> all_faults() {
  std::vector<sim::FaultKind> kinds;
  for (std::size_t index = 0; index < sim::fault_kind_count; ++index) {
    kinds.push_back(static_cast<sim::FaultKind>(index));
  }
  return kinds;
}

Network unscaled_network() {
  return {.usual_steps = 1'000, .fair_after_steps = 4'000, .step_limit = 100'000};
}

WorldProgram::WorldProgram(std::string name, Network network, Body body,
                           std::optional<Operations> operations)
    : name_(std::move(name)),
      network_(std::move(network)),
      body_(std::move(body)),
      operations_(std::move(operations)) {}

std::unique_ptr<explorer::Scenario> WorldProgram::draw(std::uint64_t seed) const {
  auto scenario = draw_world(seed);
  scenario->usual_steps = usual_steps();
  scenario->simulation = draw_simulation(network_, scenario->usual_steps, seed);
  return scenario;
}

std::unique_ptr<WorldScenario> WorldProgram::draw_world(std::uint64_t seed) const {
  auto scenario = std::make_unique<WorldScenario>();
  scenario->seed = seed;
  scenario->without = without_;
  if (operations_) {
    scenario->clients = operations_->draw(seed);
    scenario->describe_operation = operations_->describe;
  }
  return scenario;
}

std::uint64_t WorldProgram::usual_steps() const {
  if (network_.usual_steps) return *network_.usual_steps;
  if (!measured_steps_) {
    measured_steps_ =
        measure_usual_steps([this](std::uint64_t seed) { return measure_faultless_run(seed); });
  }
  return *measured_steps_;
}

std::optional<std::uint64_t> WorldProgram::measure_faultless_run(std::uint64_t seed) const {
  const std::unique_ptr<WorldScenario> scenario = draw_world(seed);
  scenario->simulation = draw_faultless_simulation(network_, seed);
  Conditions uncounted;
  WorldRunner runner(body_, uncounted);
  const auto strategy = explorer::make_seeded_strategy(*scenario, seed);
  const sim::RunResult result = runner.run(*scenario, *strategy).result;
  const bool has_ended =
      result.outcome != sim::Outcome::step_limit && result.outcome != sim::Outcome::spinning;
  return has_ended ? std::optional(result.steps) : std::nullopt;
}

// clock_step cannot be explored.
std::unique_ptr<explorer::Scenario> WorldProgram::draw_for_proof(std::uint64_t seed) const {
  constexpr std::uint64_t any_rate = 2;
  std::unique_ptr<explorer::Scenario> scenario = draw_world(seed);
  for (const sim::FaultKind kind : network_.faults) {
    if (kind != sim::FaultKind::clock_step) scenario->simulation.set_fault_rate(kind, any_rate);
  }
  explorer::weaken_network(scenario->simulation);
  if (network_.adjust) network_.adjust(scenario->simulation);
  return scenario;
}

tl::expected<std::unique_ptr<explorer::Scenario>, std::string> WorldProgram::parse(
    const nlohmann::json& json) const {
  auto scenario = parse_world_scenario(json, operations_ ? operations_->describe : nullptr);
  if (!scenario) return tl::unexpected(scenario.error());
  if (!scenario->clients.empty() && !operations_) {
    return tl::unexpected(fmt::format("\"clients\" has operations, but {} declares none", name_));
  }
  return std::make_unique<WorldScenario>(std::move(*scenario));
}

std::unique_ptr<explorer::Runner> WorldProgram::create_runner() const {
  return std::make_unique<WorldRunner>(body_, conditions_);
}

// In a child process, because a run may crash.
std::vector<std::string> WorldProgram::safeguards() const {
  constexpr std::uint64_t seeds = 10;
  constexpr double patience_seconds = 10;
  const std::string text = explorer::text_of_child(
      patience_seconds, explorer::StandardError::discarded, [&](const explorer::WriteText& write) {
        std::set<std::string> names;
        Conditions uncounted;
        WorldRunner runner(body_, uncounted, &names);
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
          const auto scenario = draw(seed);
          runner.run(*scenario, *explorer::make_seeded_strategy(*scenario, seed));
          for (const std::string& name : names) write(name + "\n");
        }
      });
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) names.insert(line);
  return {names.begin(), names.end()};
}

std::unique_ptr<explorer::Program> WorldProgram::without(const std::string& safeguard) const {
  auto program = std::make_unique<WorldProgram>(name_, network_, body_, operations_);
  program->network_.usual_steps = usual_steps();  // so that the same seeds have the same networks
  program->without_ = without_;
  program->without_.push_back(safeguard);
  return program;
}

}  // namespace falafel::check
