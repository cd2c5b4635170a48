#include "tools/store_scenario/program.h"

#include <fmt/format.h>

#include "engine/probes.h"
#include "tools/store_scenario/run.h"

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

}  // namespace falafel::store_scenario
