#include "tools/scenarios/store/program.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/probes.h"
#include "explorer/exhaustive/assumptions.h"
#include "fabric/assert.h"
#include "tools/scenarios/store/ablation_worlds.h"
#include "tools/scenarios/store/run.h"
#include "tools/scenarios/store/small_worlds.h"

namespace falafel::store_scenario {

std::unique_ptr<explorer::Scenario> Scenario::clone() const {
  return std::make_unique<Scenario>(*this);
}

std::string Scenario::size() const {
  return fmt::format("{} clients, {} operations", clients.size(), operation_count());
}

const Scenario& store_scenario(const explorer::Scenario& scenario) {
  return static_cast<const Scenario&>(scenario);
}

std::unique_ptr<explorer::Scenario> StoreProgram::draw(std::uint64_t seed) const {
  return std::make_unique<Scenario>(draw_scenario(choices_, seed));
}

// The kinds of faults and the limits stay those of the seed.
std::unique_ptr<explorer::Scenario> StoreProgram::draw_for_proof(std::uint64_t seed) const {
  auto scenario = std::make_unique<Scenario>(draw_scenario(choices_, seed));
  explorer::weaken_network(scenario->simulation);
  for (const auto& [name, value] : choices_.simulator_options) {
    const auto problem = sim::set_option(scenario->simulation, name, value);
    FALAFEL_ASSERT(!problem, "{}", *problem);
  }
  return scenario;
}

tl::expected<std::unique_ptr<explorer::Scenario>, std::string> StoreProgram::parse(
    const nlohmann::json& json) const {
  return parse_scenario(json).map([](Scenario scenario) -> std::unique_ptr<explorer::Scenario> {
    return std::make_unique<Scenario>(std::move(scenario));
  });
}

std::unique_ptr<explorer::Runner> StoreProgram::create_runner() const {
  return std::make_unique<Runner>(paranoid_);
}

std::span<const fabric::Probe> StoreProgram::probes() const { return engine::probes::all; }

std::vector<std::string> StoreProgram::safeguards() const {
  std::vector<std::string> names;
  names.reserve(std::size(engine::safeguard_descriptions));
  for (const auto& safeguard : engine::safeguard_descriptions) names.emplace_back(safeguard.name);
  return names;
}

std::unique_ptr<explorer::Program> StoreProgram::without(const std::string& name) const {
  ScenarioChoices choices = choices_;
  for (const auto& safeguard : engine::safeguard_descriptions) {
    if (safeguard.name == name) choices.safeguards.*safeguard.enabled = false;
  }
  // Without epoch reclamation, a reader may find containers that are being written, and the
  // checksums detect this. With epoch reclamation, no container changes while a reader may access
  // it, so the checksums are not needed.
  if (!choices.safeguards.crc_verification) choices.safeguards.epoch_reclamation = false;
  // In other scenarios, the search would first find clients that died without detection, and tags
  // never wrap around.
  if (!choices.safeguards.heartbeats || !choices.safeguards.location_expiry) {
    choices.tag_worlds = Share::only;
  }
  const engine::Safeguards& safeguards = choices.safeguards;
  if (!safeguards.moved_entry_removal || !safeguards.unlock_before_forgetting) {
    choices.warm_restarts = Share::only;
  }
  return std::make_unique<StoreProgram>(std::move(choices), paranoid_);
}

std::vector<explorer::SmallWorld> StoreProgram::small_worlds() const { return all_small_worlds(); }

std::vector<explorer::SmallAblation> StoreProgram::small_ablations() const {
  return all_ablation_worlds();
}

}  // namespace falafel::store_scenario
