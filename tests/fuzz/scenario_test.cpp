// Scenarios as JSON: what is written is read again, and what is not a scenario is refused with the place.
#include "tools/fuzz/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/layout/entry.h"
#include "tools/fuzz/tag_world.h"

namespace falafel::fuzz {
namespace {

using testing::HasSubstr;

TEST(Scenario, SurvivesJson) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Scenario scenario = draw_scenario({}, seed);
    auto parsed = parse_scenario(to_json(scenario));
    ASSERT_TRUE(parsed.has_value()) << parsed.error();
    EXPECT_EQ(parsed->clients, scenario.clients);
    EXPECT_EQ(parsed->geometry, scenario.geometry);
    EXPECT_EQ(parsed->safeguards, scenario.safeguards);
    EXPECT_EQ(to_json(*parsed), to_json(scenario));
  }
}

TEST(Scenario, IsAFunctionOfItsSeed) {
  EXPECT_EQ(to_json(draw_scenario({}, 7)), to_json(draw_scenario({}, 7)));
  EXPECT_NE(to_json(draw_scenario({}, 7)), to_json(draw_scenario({}, 8)));
}

TEST(Scenario, KeepsToWhatIsChosen) {
  ScenarioChoices choices;
  choices.clients = 5;
  choices.operations = 3;
  choices.in_flight = 2;
  choices.slots = 7;
  choices.keys = 1;
  choices.faults = {sim::FaultKind::client_pause};
  choices.simulator_options = {{"late_visibility", "true"}, {"mtu_bytes", "512"}};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Scenario scenario = draw_scenario(choices, seed);
    ASSERT_EQ(scenario.clients.size(), 5U);
    EXPECT_EQ(scenario.operation_count(), 15U);
    EXPECT_EQ(scenario.geometry.table_entries, 7U);
    EXPECT_TRUE(scenario.simulation.late_visibility);
    EXPECT_EQ(scenario.simulation.mtu_bytes, 512U);
    for (const ClientPlan& client : scenario.clients) {
      EXPECT_EQ(client.fibers, 2U);
      for (const PlannedOperation& operation : client.operations) EXPECT_EQ(operation.key, 0U);
    }
    for (std::size_t index = 0; index < sim::fault_kind_count; ++index) {
      const auto kind = static_cast<sim::FaultKind>(index);
      if (kind != sim::FaultKind::client_pause) {
        EXPECT_EQ(scenario.simulation.fault_rate(kind), 0U);
      }
    }
  }
}

// By the relation that heartbeats rest on, which a shorter pause, a longer time-out or fewer bits break.
TEST(TagWorlds, HaveTagsThatOutlastOperations) {
  ScenarioChoices choices;
  choices.tag_worlds = Share::only;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Scenario scenario = draw_scenario(choices, seed);
    EXPECT_LT(scenario.geometry.tag_bits, engine::most_tag_bits);
    EXPECT_FALSE(engine::find_invalid_geometry(scenario.geometry));
    EXPECT_TRUE(do_tags_outlast_operations(scenario)) << describe(scenario);
    Scenario other = scenario;
    other.geometry.tag_bits -= 1;
    EXPECT_FALSE(do_tags_outlast_operations(other)) << describe(other);
    other = scenario;
    other.heartbeat_timeout_ns *= 4;
    EXPECT_FALSE(do_tags_outlast_operations(other)) << describe(other);
    other = scenario;
    other.clients.front().operations.front().pause_ns = 0;
    EXPECT_FALSE(do_tags_outlast_operations(other)) << describe(other);
    other.geometry.tag_bits = engine::most_tag_bits;
    EXPECT_TRUE(do_tags_outlast_operations(other)) << describe(other);
  }
}

TEST(TagWorlds, AreNotDrawnWhereAnOptionFixesWhatTheyNeed) {
  ScenarioChoices choices;
  choices.clients = 3;
  choices.tag_worlds = Share::only;
  EXPECT_EQ(draw_scenario(choices, 1).geometry.tag_bits, engine::most_tag_bits);
}

// Every member taken out, or replaced by something else, is named.
TEST(Scenario, NamesWhatIsWrong) {
  const nlohmann::json valid = to_json(draw_scenario({}, 1));
  for (const auto& [name, value] : valid.items()) {
    nlohmann::json without = valid;
    without.erase(name);
    const auto missing = parse_scenario(without);
    ASSERT_FALSE(missing.has_value()) << name;
    EXPECT_THAT(missing.error(), HasSubstr(name));
    for (const nlohmann::json& other : {nlohmann::json("x"), nlohmann::json(-1),
                                        nlohmann::json(1e300), nlohmann::json(nullptr)}) {
      nlohmann::json altered = valid;
      altered[name] = other;
      const auto refused = parse_scenario(altered);
      ASSERT_FALSE(refused.has_value()) << name << " " << other;
      EXPECT_THAT(refused.error(), HasSubstr(name));
    }
  }
}

// Files of before have fewer members: what they lack was fixed then.
TEST(Scenario, ReadsOlderFiles) {
  nlohmann::json json = to_json(draw_scenario({}, 1));
  json["geometry"].erase("tag_bits");
  const auto parsed = parse_scenario(json);
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  EXPECT_EQ(parsed->geometry.tag_bits, 30U);
}

TEST(Scenario, RefusesWhatWouldTakeAllMemory) {
  nlohmann::json json = to_json(draw_scenario({}, 1));
  json["geometry"]["mature_bytes"] = std::uint64_t{1} << 27;
  json["geometry"]["region_count"] = 65'536;
  json["geometry"]["region_bytes"] = std::uint64_t{1} << 27;
  const auto refused = parse_scenario(json);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error(), HasSubstr("geometry"));
}

TEST(Scenario, RefusesWhatIsNoObject) {
  for (const char* text : {"[]", "1", "null", "\"x\"", "{\"clients\":[1]}"}) {
    EXPECT_FALSE(parse_scenario(nlohmann::json::parse(text)).has_value()) << text;
  }
}

}  // namespace
}  // namespace falafel::fuzz
