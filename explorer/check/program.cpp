#include "explorer/check/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

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
    return run(world_scenario(scenario), strategy, nullptr);
  }
  explorer::Run run_observed(const explorer::Scenario& scenario, sim::Strategy& strategy,
                             explorer::RunListener& listener) override {
    return run(world_scenario(scenario), strategy, &listener);
  }
  const explorer::Vocabulary& vocabulary(const explorer::Scenario&) override { return names_; }

 private:
  explorer::Run run(const WorldScenario& scenario, sim::Strategy& strategy,
                    explorer::RunListener* listener) {
    World world({.scenario = scenario,
                 .strategy = strategy,
                 .stacks = stacks_,
                 .conditions = conditions_,
                 .names = names_,
                 .safeguards = safeguards_,
                 .listener = listener});
    body_(world);
    return world.take_run();
  }

  const Body& body_;
  Conditions& conditions_;
  std::set<std::string>* safeguards_;
  fabric::FiberStackPool stacks_;
  Names names_;
};

// A stall must not take most of the steps of a party that polls.
constexpr std::uint64_t longest_stall_steps = 1'000;
constexpr std::uint64_t shortest_step_ns = 100;

sim::SimulationOptions draw_simulation(const Network& network, std::uint64_t seed) {
  sim::SimulationOptions options = sim::draw_swarm_options(seed);
  for (std::size_t index = 0; index < sim::fault_kind_count; ++index) {
    const auto kind = static_cast<sim::FaultKind>(index);
    const bool may_strike = std::ranges::find(network.faults, kind) != network.faults.end();
    if (!may_strike) options.set_fault_rate(kind, 0);
  }
  options.step_duration_ns = std::max(options.step_duration_ns, shortest_step_ns);
  options.longest_stall_ns = options.step_duration_ns * longest_stall_steps;
  options.last_fault_step = network.fair_after_steps;
  options.step_limit = std::max(network.step_limit, 2 * network.fair_after_steps);
  if (network.strategy) options.strategy = *network.strategy;
  if (network.adjust) network.adjust(options);
  return options;
}

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

WorldProgram::WorldProgram(std::string name, Network network, Body body,
                           std::optional<Operations> operations)
    : name_(std::move(name)),
      network_(std::move(network)),
      body_(std::move(body)),
      operations_(std::move(operations)) {}

std::unique_ptr<explorer::Scenario> WorldProgram::draw(std::uint64_t seed) const {
  auto scenario = std::make_unique<WorldScenario>();
  scenario->seed = seed;
  scenario->without = without_;
  scenario->simulation = draw_simulation(network_, seed);
  if (operations_) {
    scenario->clients = operations_->draw(seed);
    scenario->describe_operation = operations_->describe;
  }
  return scenario;
}

// clock_step cannot be explored.
std::unique_ptr<explorer::Scenario> WorldProgram::draw_for_proof(std::uint64_t seed) const {
  constexpr std::uint64_t any_rate = 2;
  std::unique_ptr<explorer::Scenario> scenario = draw(seed);
  scenario->simulation = sim::SimulationOptions{};
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
  program->without_ = without_;
  program->without_.push_back(safeguard);
  return program;
}

}  // namespace falafel::check
