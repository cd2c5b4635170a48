// All special kinds of worlds at once, in few schedules: the sanitizers run this instead of the
// campaigns of each kind.
#include <gtest/gtest.h>

#include <cstdint>

#include "explorer/campaign.h"
#include "tests/explorer/describe_findings.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {
namespace {

ScenarioChoices special_worlds() {
  ScenarioChoices choices;
  choices.caches = Share::some;
  choices.warm_restarts = Share::some;
  choices.growth = Share::some;
  choices.memory_growth = Share::some;
  choices.heard_closes = Share::some;
  return choices;
}

void expect_to_hold(const ScenarioChoices& choices, std::uint64_t count) {
  const auto result = explorer::run_campaign(StoreProgram(choices), {.schedules = count});
  EXPECT_EQ(describe_findings(result), "");
}

TEST(SpecialWorlds, HoldWithScans) {
  ScenarioChoices choices = special_worlds();
  choices.scans = Share::some;
  expect_to_hold(choices, 200);
}

TEST(SpecialWorlds, HoldWithUpdates) {
  ScenarioChoices choices = special_worlds();
  choices.updates = Share::only;
  expect_to_hold(choices, 200);
}

TEST(SpecialWorlds, HoldWhereTagsWrapAround) {
  ScenarioChoices choices = special_worlds();
  choices.tag_worlds = Share::only;
  expect_to_hold(choices, 20);
}

TEST(SpecialWorlds, HoldBesideAHostileClient) {
  ScenarioChoices choices = special_worlds();
  choices.hostile = Share::only;
  expect_to_hold(choices, 100);
}

}  // namespace
}  // namespace falafel::store_scenario
