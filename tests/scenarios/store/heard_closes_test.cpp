// Scenarios in which clients hear that the server has closed their connection: how they are drawn,
// and that they hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "engine/probes.h"
#include "explorer/campaign.h"
#include "tests/explorer/describe_findings.h"
#include "tests/scenarios/store/drawn_worlds.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {
namespace {

ScenarioChoices heard_closes(Share share) {
  ScenarioChoices choices;
  choices.heard_closes = share;
  return choices;
}

TEST(HeardCloses, HoldWhereClientsAreFencedAndExpelled) {
  for (const bool are_silent : {false, true}) {
    ScenarioChoices choices = heard_closes(Share::only);
    (are_silent ? choices.tag_worlds : choices.hostile) = Share::only;
    const auto result = explorer::run_campaign(StoreProgram(choices), {.schedules = 200});
    EXPECT_EQ(describe_findings(result), "");
    EXPECT_GT(explorer::count_of(result.probes, engine::probes::server_close_heard.name), 0U);
  }
}

TEST(HeardCloses, AreDrawnAsChosen) {
  expect_drawn_as_chosen(heard_closes(Share::some),
                         [](const Scenario& scenario) { return scenario.clients_hear_close; });
  for (std::uint64_t seed = 1; seed <= drawn_seeds; ++seed) {
    EXPECT_TRUE(draw_scenario(heard_closes(Share::only), seed).clients_hear_close) << seed;
    EXPECT_FALSE(draw_scenario(heard_closes(Share::none), seed).clients_hear_close) << seed;
  }
}

TEST(HeardCloses, SurviveJsonAndAreDocumented) {
  const Scenario scenario = draw_scenario(heard_closes(Share::only), 1);
  const auto parsed = parse_scenario(scenario.to_json());
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  EXPECT_TRUE(parsed->clients_hear_close);
  EXPECT_THAT(scenario.describe(), testing::HasSubstr("clients hear"));
  EXPECT_THAT(replay_file_document(), testing::HasSubstr("`clients_hear_close`"));
}

}  // namespace
}  // namespace falafel::store_scenario
