// A test body as a program for the explorer: its scenarios are drawn from seeds, and its runs are
// judged by the body itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explorer/check/conditions.h"
#include "explorer/check/options.h"
#include "explorer/check/scenario.h"
#include "explorer/check/world.h"
#include "explorer/program.h"

namespace falafel::check {

using Body = std::function<void(World&)>;

// The operations of the declarative form: drawn from a seed before the run.
struct Operations {
  std::function<DrawnClients(std::uint64_t seed)> draw;
  std::shared_ptr<const DescribeOperation> describe;
};

class WorldProgram final : public explorer::Program {
 public:
  WorldProgram(std::string name, Network network, Body body,
               std::optional<Operations> operations = std::nullopt);

  std::string_view name() const override { return name_; }
  // Measures how long runs are (Network::usual_steps), unless that is known.
  void prepare_campaign() const override { usual_steps(); }
  std::unique_ptr<explorer::Scenario> draw(std::uint64_t seed) const override;
  std::unique_ptr<explorer::Scenario> draw_for_proof(std::uint64_t seed) const override;
  tl::expected<std::unique_ptr<explorer::Scenario>, std::string> parse(
      const nlohmann::json& json) const override;
  std::unique_ptr<explorer::Runner> create_runner() const override;
  std::span<const fabric::Probe> probes() const override { return {}; }

  // The conditions of World::sometimes.
  std::map<std::string, std::uint64_t> conditions() const override { return conditions_.counts(); }

  // The safeguards that the body asks World::safeguard about in a few runs.
  std::vector<std::string> safeguards() const override;
  std::unique_ptr<explorer::Program> without(const std::string& safeguard) const override;

 private:
  // All of the scenario but its network.
  std::unique_ptr<WorldScenario> draw_world(std::uint64_t seed) const;
  std::uint64_t usual_steps() const;
  std::optional<std::uint64_t> measure_faultless_run(std::uint64_t seed) const;

  std::string name_;
  Network network_;
  Body body_;
  std::optional<Operations> operations_;
  std::vector<std::string> without_;
  mutable Conditions conditions_;
  mutable std::optional<std::uint64_t> measured_steps_;
};

}  // namespace falafel::check
