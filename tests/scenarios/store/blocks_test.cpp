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

}  // namespace
}  // namespace falafel::store_scenario
