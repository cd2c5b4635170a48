// The store as a program for the explorer.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "explorer/failing_run.h"
#include "explorer/program.h"
#include "explorer/small_world.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

class StoreProgram final : public explorer::Program {
 public:
  // With `paranoid`, the run checks memory at every change of an entry.
  explicit StoreProgram(ScenarioChoices choices = {}, bool paranoid = false)
      : choices_(std::move(choices)), paranoid_(paranoid) {}

  std::string_view name() const override { return "falafel store"; }
  std::unique_ptr<explorer::Scenario> draw(std::uint64_t seed) const override;
  std::unique_ptr<explorer::Scenario> draw_for_proof(std::uint64_t seed) const override;
  tl::expected<std::unique_ptr<explorer::Scenario>, std::string> parse(
      const nlohmann::json& json) const override;
  std::unique_ptr<explorer::Runner> create_runner() const override;
  std::span<const fabric::Probe> probes() const override;
  std::vector<std::string> safeguards() const override;
  // Draws scenarios in which the safeguard matters.
  std::unique_ptr<explorer::Program> without(const std::string& safeguard) const override;
  std::vector<explorer::SmallWorld> small_worlds() const override;
  std::vector<explorer::SmallAblation> small_ablations() const override;

 private:
  ScenarioChoices choices_;
  bool paranoid_;
};

}  // namespace falafel::store_scenario
