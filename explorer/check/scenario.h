// The scenario of a test body: the seed that its random values come from, the operations of its
// clients if they are known in advance, and the network.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "explorer/program.h"

namespace falafel::check {

// An operation is stored as the random numbers that a generator draws it from, so that operations
// of any type can be stored and made simpler.
using DrawnOperation = std::vector<std::uint64_t>;
using DrawnClients = std::vector<std::vector<DrawnOperation>>;
using DescribeOperation = std::function<std::string(const DrawnOperation&)>;

class WorldScenario final : public explorer::Scenario {
 public:
  std::unique_ptr<explorer::Scenario> clone() const override {
    return std::make_unique<WorldScenario>(*this);
  }
  nlohmann::json to_json() const override;
  std::string describe() const override;
  std::string size() const override;
  bool simplify(explorer::Simplifier& simplifier) const override;
  void prepare_for_exploration() override { gathers_when_ready = true; }

  std::uint64_t operation_count() const;
  bool is_switched_off(std::string_view safeguard) const;

  std::uint64_t seed = 0;
  // Answers to the first calls of World::choose; the seed determines the others.
  std::vector<std::uint64_t> choices;
  // Empty unless the test has the declarative form.
  DrawnClients clients;
  std::shared_ptr<const DescribeOperation> describe_operation;  // not null if there are clients
  std::vector<std::string> without;                             // safeguards that are switched off
  // World::ready waits until all hosts are ready. So it is in explorations, and in runs that they
  // recorded.
  bool gathers_when_ready = false;
  // The number of steps of a run without faults. 0: unknown. Shrinking leaves an endless run at
  // least twice as many, so that it shows more than the beginning.
  std::uint64_t usual_steps = 0;

  // The choices of the last run of this object, and whether the step limit ended it. Both follow
  // from the scenario and are not part of it.
  mutable std::vector<std::uint64_t> chosen;
  mutable bool reached_step_limit = false;
};

const WorldScenario& world_scenario(const explorer::Scenario& scenario);

// The inverse of WorldScenario::to_json; accepts any JSON. Describes operations in that way.
tl::expected<WorldScenario, std::string> parse_world_scenario(
    const nlohmann::json& json, std::shared_ptr<const DescribeOperation> describe_operation);

}  // namespace falafel::check
