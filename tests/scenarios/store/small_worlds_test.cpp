// Small worlds of the store, with all schedules that differ (docs/proofs.md).
#include "tools/scenarios/store/small_worlds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/probes.h"
#include "explorer/exhaustive/exhaustive.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "tools/scenarios/store/ablation_worlds.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/small_world_builder.h"

namespace falafel::store_scenario {
namespace {

using explorer::Coverage;
using explorer::ExhaustiveResult;

ExhaustiveResult explore(const explorer::Scenario& scenario,
                         const explorer::ExhaustiveOptions& options) {
  return explorer::explore_exhaustively(StoreProgram(), scenario, options).value();
}

// Heartbeats and time-outs of the store pass only when nothing else can move, which is one of the
// bounds in docs/proofs.md.
void expect_complete(const ExhaustiveResult& result) {
  const Coverage coverage =
      result.deadlines.empty() ? Coverage::complete : Coverage::complete_up_to_deadlines;
  EXPECT_EQ(result.coverage, coverage) << result.describe();
}

void expect_proven(const explorer::SmallWorld& world) {
  const ExhaustiveResult result = explore(*world.scenario, world.exploration);
  SCOPED_TRACE(world.name);
  if (world.exploration.max_faults) {
    EXPECT_EQ(result.coverage, Coverage::complete_up_to_faults) << result.describe();
  } else {
    expect_complete(result);
  }
  EXPECT_FALSE(result.violation.has_value()) << world.name << ": " << result.describe();
  EXPECT_EQ(result.unknown, 0) << world.name;
}

// One client runs alone, so there is nothing to explore.
void expect_one_schedule(const explorer::SmallWorld& world) {
  const ExhaustiveResult result = explore(*world.scenario, world.exploration);
  EXPECT_EQ(result.coverage, Coverage::empty) << world.name << ": " << result.describe();
  EXPECT_FALSE(result.violation.has_value()) << world.name << ": " << result.describe();
}

void expect_proven(Beside beside, const std::vector<std::vector<SmallOperation>>& worlds) {
  for (const std::vector<SmallOperation>& operations : worlds) {
    expect_proven(make_small_world(operations, beside));
  }
}

// All pairs, each once.
void expect_all_proven(Beside beside) {
  for (std::size_t first = 0; first < small_operation_count; ++first) {
    for (std::size_t second = first; second < small_operation_count; ++second) {
      expect_proven(make_small_world(
          {static_cast<SmallOperation>(first), static_cast<SmallOperation>(second)}, beside));
    }
  }
}

TEST(SmallWorlds, HoldForTwoOperationsBesideNothing) { expect_all_proven(Beside::nothing); }

TEST(SmallWorlds, HoldForTwoOperationsBesideACleanup) { expect_all_proven(Beside::cleanup); }

TEST(SmallWorlds, HoldForTwoOperationsBesideACollection) { expect_all_proven(Beside::collection); }

TEST(SmallWorlds, HoldForOneOperationWhileTheTableGrows) {
  using enum SmallOperation;
  expect_proven(Beside::growth, {{get}, {get_absent}, {set}, {remove}});
}

TEST(SmallWorlds, HoldForTwoOperationsBesideSwapsByTheDevice) {
  using enum SmallOperation;
  expect_proven(Beside::cleanup_by_device, {{get, get}, {get, get_absent}, {get, remove}});
  expect_proven(
      Beside::collection_by_device,
      {{get, get}, {get, set}, {get, remove}, {get_absent, get_absent}, {remove, remove}});
}

TEST(SmallWorlds, HoldForTwoOperationsBesideACollectionIntoABlock) {
  expect_all_proven(Beside::region_to_block);
}

TEST(SmallWorlds, HoldForTwoOperationsBesideTheCollectionOfABlock) {
  using enum SmallOperation;
  expect_proven(Beside::block, {{get, get}, {get, get_absent}, {get, set}, {get, remove}});
  expect_proven(Beside::block_by_device, {{get}, {remove}});
}

// An update gets the value and stores another one only if the key still has it.
TEST(SmallWorlds, HoldForUpdates) {
  using enum SmallOperation;
  for (const Beside beside : {Beside::nothing, Beside::cleanup, Beside::collection}) {
    expect_proven(beside, {{get, update},
                           {set, update},
                           {remove, update},
                           {update, update},
                           {set_new, update_absent},
                           {update_absent, update_absent}});
  }
}

// At most one client crashes, at any step.
TEST(SmallWorlds, HoldForTwoOperationsIfAClientCrashes) {
  using enum SmallOperation;
  const std::vector<std::vector<SmallOperation>> pairs = {
      {get, get}, {get, set}, {get, remove}, {set, set}, {set, remove}, {remove, remove}};
  for (const std::vector<SmallOperation>& operations : pairs) {
    explorer::SmallWorld world = make_small_world(operations, Beside::nothing);
    const std::shared_ptr<explorer::Scenario> scenario = world.scenario->clone();
    scenario->simulation.set_fault_rate(sim::FaultKind::client_crash, 1);
    world.scenario = scenario;
    world.exploration.max_faults = 1;
    expect_proven(world);
  }
}

// The server's process dies at most once, at any step, and the next one starts over its memory.
TEST(SmallWorlds, HoldForOneOperationIfTheServerRestarts) {
  using enum SmallOperation;
  for (const Beside beside : {Beside::nothing, Beside::cleanup, Beside::collection}) {
    for (const SmallOperation operation : {get, set, remove}) {
      expect_proven(make_restarted_world({operation}, beside));
    }
  }
}

// The words of a container arrive one by one.
TEST(SmallWorlds, HoldForTwoGetsOfTornContainers) {
  using enum SmallOperation;
  for (const SmallOperation second : {get, get_absent}) {
    explorer::SmallWorld world = make_small_world({get, second}, Beside::nothing);
    SCOPED_TRACE(world.name);
    const auto scenario = world.scenario->clone();
    scenario->simulation.granularity = sim::Granularity::word;
    const ExhaustiveResult result = explore(*scenario, world.exploration);
    expect_complete(result);
    EXPECT_FALSE(result.violation.has_value()) << result.describe();
  }
}

// Whatever the schedule: another block has been filled by then.
TEST(SmallWorlds, CollectABlock) {
  using enum SmallOperation;
  const auto runner = StoreProgram().create_runner();
  for (const auto& operations : {std::vector{get}, {set}, {remove, set}, {set, set_new}}) {
    const explorer::SmallWorld world = make_small_world(operations, Beside::block);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      sim::RandomStrategy strategy(seed);
      const sim::RunResult result = runner->run(*world.scenario, strategy).result;
      EXPECT_EQ(result.probes[engine::probes::block_collected.index], 1U) << world.name;
    }
  }
}

TEST(SmallWorlds, HoldForASetThatChangesTheRegion) {
  using enum SmallOperation;
  expect_proven(Beside::region, {{set}, {set_new}});
  expect_proven(Beside::region_in_turn,
                {{set, get}, {set, get_absent}, {set, remove}, {set_new, get}});
}

TEST(SmallWorlds, HoldForTwoOperationsOfEachClient) {
  using enum SmallOperation;
  for (const auto& [first, second] :
       {std::pair(get, get_absent), std::pair(get, set), std::pair(get, set_new),
        std::pair(get_absent, set), std::pair(set, remove), std::pair(set_new, remove)}) {
    expect_proven(make_crossed_world(first, second, Beside::nothing));
  }
  for (const Beside beside : {Beside::cleanup, Beside::collection}) {
    expect_proven(make_crossed_world(get, remove, beside));
    expect_proven(make_crossed_world(get_absent, remove, beside));
  }
}

TEST(SmallWorlds, HoldForTwoOperationsWithLocationCaches) {
  using enum SmallOperation;
  for (const Beside beside : {Beside::nothing, Beside::cleanup, Beside::collection}) {
    for (const SmallOperation first : {get, set, remove}) {
      for (const SmallOperation second : {get, set, remove}) {
        if (second >= first) expect_proven(make_cached_world({first, second}, beside));
      }
    }
  }
}

TEST(SmallWorlds, HoldForTwoOperationsWithFingerprints) {
  using enum SmallOperation;
  for (const Beside beside : {Beside::nothing, Beside::cleanup, Beside::collection}) {
    for (const SmallOperation first : {get, get_absent, remove}) {
      for (const SmallOperation second : {get, get_absent, remove}) {
        if (second >= first) expect_proven(make_fingerprint_world({first, second}, beside));
      }
    }
    expect_proven(make_fingerprint_world({get_absent, set_new}, beside));
  }
}

// Two clients in the same world can see different answers, depending on the schedule.
TEST(SmallWorlds, HaveSchedulesThatDiffer) {
  const explorer::SmallWorld world =
      make_small_world({SmallOperation::get, SmallOperation::remove}, Beside::nothing);
  EXPECT_GE(explore(*world.scenario, world.exploration).executions, 3);
}

TEST(SmallWorlds, HaveDifferentNames) {
  std::vector<std::string> names;
  for (const explorer::SmallWorld& world : all_small_worlds()) {
    EXPECT_EQ(std::ranges::find(names, world.name), names.end()) << world.name;
    names.push_back(world.name);
  }
}

TEST(SmallWorlds, AreRestoredFromJson) {
  for (const explorer::SmallWorld& world : all_small_worlds()) {
    const auto parsed = StoreProgram().parse(world.scenario->to_json());
    ASSERT_TRUE(parsed.has_value()) << parsed.error();
    EXPECT_EQ((*parsed)->to_json(), world.scenario->to_json());
  }
}

TEST(SmallWorlds, OfAblationsAreRestoredFromJson) {
  for (const explorer::SmallAblation& ablation : all_ablation_worlds()) {
    const auto parsed = StoreProgram().parse(ablation.without_safeguard->to_json());
    ASSERT_TRUE(parsed.has_value()) << parsed.error();
    EXPECT_EQ((*parsed)->to_json(), ablation.without_safeguard->to_json());
  }
}

// The server gives up on the client that pauses, and tags wrap around afterwards only.
TEST(AblationWorld, OfHeartbeatsPausesAClientAtDifferentSteps) {
  for (const explorer::SmallAblation& ablation : all_ablation_worlds()) {
    if (ablation.safeguard != "heartbeats") continue;
    const ExhaustiveResult result = explore(*ablation.without_safeguard, [&] {
      explorer::ExhaustiveOptions options = ablation.world.exploration;
      options.finds_shortest_violation = true;
      return options;
    }());
    expect_complete(result);
    EXPECT_GT(result.violations, 0U);
    EXPECT_LT(result.violations, result.executions);
  }
}

class AblationWorlds : public testing::TestWithParam<std::string_view> {
 protected:
  static std::vector<explorer::SmallAblation> ablations(std::string_view safeguard) {
    std::vector<explorer::SmallAblation> ablations = all_ablation_worlds();
    std::erase_if(ablations, [&](const explorer::SmallAblation& candidate) {
      return candidate.safeguard != safeguard;
    });
    EXPECT_FALSE(ablations.empty()) << "no small world for " << safeguard;
    return ablations;
  }
};

TEST_P(AblationWorlds, HoldWithTheSafeguardOnly) {
  for (const explorer::SmallAblation& ablation : ablations(GetParam())) {
    if (ablation.safeguard == "bounded-walks") {
      expect_one_schedule(ablation.world);
    } else {
      expect_proven(ablation.world);
    }
    const ExhaustiveResult without =
        explore(*ablation.without_safeguard, ablation.world.exploration);
    EXPECT_TRUE(without.violation.has_value()) << ablation.world.name << without.describe();
  }
}

INSTANTIATE_TEST_SUITE_P(Of, AblationWorlds,
                         testing::Values("crc-verification", "double-collect", "collector-retry",
                                         "exclusion", "expired-removal", "heartbeats",
                                         "location-expiry", "lock-before-move",
                                         "moved-entry-removal", "tag-discipline", "terminator-lock",
                                         "restart-after-lost-compare-and-swap", "bounded-walks"),
                         [](const auto& tested) {
                           std::string name(tested.param);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// Their worlds are too large with the safeguard, or go on for long after the first violation.
TEST(LargeAblationWorlds, AreViolatedWithoutTheSafeguard) {
  std::vector<std::string> violated;
  for (const explorer::SmallAblation& ablation : all_ablation_worlds()) {
    explorer::ExhaustiveOptions options = ablation.world.exploration;
    options.max_executions = 10'000;
    const bool is_large = ablation.safeguard == "epoch-reclamation" ||
                          ablation.safeguard == "drain-before-free" ||
                          ablation.safeguard == "fence-before-reclaim" ||
                          ablation.safeguard == "freeze-empty-slots" ||
                          ablation.safeguard == "release-after-completion" ||
                          ablation.safeguard == "unlock-before-forgetting";
    if (is_large && explore(*ablation.without_safeguard, options).violation) {
      violated.push_back(ablation.safeguard);
    }
  }
  EXPECT_EQ(violated.size(), 7U);  // two without drain-before-free
}

TEST(ShortestViolation, HasNoMoreStepsThanTheFirst) {
  explorer::SmallAblation ablation;
  for (explorer::SmallAblation& candidate : all_ablation_worlds()) {
    if (candidate.safeguard == "restart-after-lost-compare-and-swap") ablation = candidate;
  }
  const ExhaustiveResult first = explore(*ablation.without_safeguard, ablation.world.exploration);
  explorer::ExhaustiveOptions options = ablation.world.exploration;
  options.finds_shortest_violation = true;
  const ExhaustiveResult shortest = explore(*ablation.without_safeguard, options);
  ASSERT_TRUE(first.violation.has_value());
  ASSERT_TRUE(shortest.violation.has_value());
  EXPECT_EQ(first.coverage, Coverage::stopped);
  expect_complete(shortest);
  EXPECT_EQ(first.executions, shortest.executions_until_violation);
  EXPECT_GT(shortest.violations, 1);
  EXPECT_LE(shortest.violation->run.result.steps, first.violation->run.result.steps);
}

}  // namespace
}  // namespace falafel::store_scenario
