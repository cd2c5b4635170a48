// Scenarios of stores with blocks that once failed.
#include <gtest/gtest.h>

#include "explorer/campaign.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {
namespace {

// Blocks wait for clients that have stopped, and a request waits for the blocks. The server
// measured the memory again and again meanwhile.
TEST(Blocks, AreNotMeasuredForARequestThatWaitsForClients) {
  ScenarioChoices choices;
  choices.blocks = Share::only;
  const auto result =
      explorer::run_campaign(StoreProgram(choices), {.first_seed = 1'003'809, .schedules = 1});
  EXPECT_TRUE(result.findings.empty());
}

// A measurement was under way for a DELETE of the client when the server looked at its request. The
// last measurement, from before the DELETE, denied it.
TEST(Blocks, AreNotFullByAMeasurementFromBeforeADelete) {
  ScenarioChoices choices;
  choices.blocks = Share::only;
  choices.keys = 8;
  choices.slots = 16;
  choices.operations = 30;
  const auto result =
      explorer::run_campaign(StoreProgram(choices), {.first_seed = 600'671, .schedules = 1});
  EXPECT_TRUE(result.findings.empty());
}

}  // namespace
}  // namespace falafel::store_scenario
