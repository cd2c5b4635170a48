// Scenarios as JSON: output can be read back, and invalid input is rejected with its location.
#include "tools/scenarios/store/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "engine/layout/entry.h"
#include "tools/scenarios/store/tag_world.h"

namespace falafel::store_scenario {
namespace {

using testing::HasSubstr;

// Older files lack these members.
constexpr std::array<std::string_view, 11> members_of_today{
    "attacks",     "asks_for_regions_back",   "cleanups",
    "collection",  "destruction_drains",      "flush_timeout_ns",
    "hash_key",    "keeps_overwrite_reserve", "location_cache",
    "max_clients", "server_timeout_ns"};

template <typename Predicate>
bool has_operation(const Scenario& scenario, const Predicate& predicate) {
  return std::ranges::any_of(scenario.clients, [&](const ClientPlan& client) {
    return std::ranges::any_of(client.operations, predicate);
  });
}

TEST(Scenario, SurvivesJson) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Scenario scenario = draw_scenario({}, seed);
    auto parsed = parse_scenario(scenario.to_json());
    ASSERT_TRUE(parsed.has_value()) << parsed.error();
    EXPECT_EQ(parsed->clients, scenario.clients);
    EXPECT_EQ(parsed->attacks, scenario.attacks);
    EXPECT_EQ(parsed->geometry, scenario.geometry);
    EXPECT_EQ(parsed->safeguards, scenario.safeguards);
    EXPECT_EQ(parsed->to_json(), scenario.to_json());
  }
}

TEST(Scenario, IsAFunctionOfItsSeed) {
  EXPECT_EQ(draw_scenario({}, 7).to_json(), draw_scenario({}, 7).to_json());
  EXPECT_NE(draw_scenario({}, 7).to_json(), draw_scenario({}, 8).to_json());
}

TEST(Scenario, KeepsToWhatIsChosen) {
  ScenarioChoices choices;
  choices.clients = 5;
  choices.operations = 3;
  choices.in_flight = 2;
  choices.slots = 7;
  choices.keys = 1;
  choices.reference_bits = {.size_class = 2, .fingerprint = 5};
  choices.faults = {sim::FaultKind::client_pause};
  choices.simulator_options = {{"late_visibility", "true"}, {"mtu_bytes", "512"}};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Scenario scenario = draw_scenario(choices, seed);
    ASSERT_EQ(scenario.clients.size(), 5U);
    EXPECT_EQ(scenario.operation_count(), 15U);
    EXPECT_EQ(scenario.geometry.table_entries, 7U);
    EXPECT_EQ(scenario.geometry.size_class_bits, 2U);
    EXPECT_EQ(scenario.geometry.fingerprint_bits, 5U);
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

// Tests the relation that heartbeats rely on. A shorter pause, a longer time-out or fewer bits
// violate it.
TEST(TagWorlds, HaveTagsThatOutlastOperations) {
  ScenarioChoices choices;
  choices.tag_worlds = Share::only;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Scenario scenario = draw_scenario(choices, seed);
    EXPECT_LT(scenario.geometry.tag_bits, engine::most_tag_bits);
    EXPECT_FALSE(engine::find_invalid_geometry(scenario.geometry));
    EXPECT_TRUE(do_tags_outlast_operations(scenario)) << scenario.describe();
    Scenario other = scenario;
    other.geometry.tag_bits -= 1;
    EXPECT_FALSE(do_tags_outlast_operations(other)) << other.describe();
    other = scenario;
    other.heartbeat_timeout_ns *= 4;
    EXPECT_FALSE(do_tags_outlast_operations(other)) << other.describe();
    other = scenario;
    other.clients.front().operations.front().pause_ns = 0;
    EXPECT_FALSE(do_tags_outlast_operations(other)) << other.describe();
    other.geometry.tag_bits = engine::most_tag_bits;
    EXPECT_TRUE(do_tags_outlast_operations(other)) << other.describe();
  }
}

TEST(HostileClients, AttackInAllWays) {
  std::map<AttackKind, int> kinds;
  int worlds = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Scenario scenario = draw_scenario({}, seed);
    worlds += scenario.attacks.empty() ? 0 : 1;
    for (const PlannedAttack& attack : scenario.attacks) {
      EXPECT_LT(attack.slot, scenario.geometry.table_entries);
      ++kinds[attack.kind];
    }
  }
  // All but tricks.
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(AttackKind::evasion));
  EXPECT_GT(worlds, 30);
  EXPECT_LT(worlds, 70);
}

TEST(HostileClients, AreDrawnAsChosen) {
  ScenarioChoices choices;
  choices.hostile = Share::none;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    EXPECT_TRUE(draw_scenario(choices, seed).attacks.empty());
  }
  choices.hostile = Share::only;
  choices.tag_worlds = Share::none;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    EXPECT_FALSE(draw_scenario(choices, seed).attacks.empty());
  }
  choices.hostile = Share::some;
  choices.safeguards.bounded_walks = false;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    EXPECT_TRUE(draw_scenario(choices, seed).attacks.empty());
  }
}

TEST(HostileClients, OfUnknownKindsAreNamed) {
  ScenarioChoices choices;
  choices.hostile = Share::only;
  nlohmann::json json = draw_scenario(choices, 1).to_json();
  json["attacks"][0]["kind"] = "polite";
  const auto refused = parse_scenario(json);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error(), HasSubstr("attacks[0].kind"));
}

TEST(TagWorlds, AreNotDrawnWhereAnOptionFixesWhatTheyNeed) {
  ScenarioChoices choices;
  choices.clients = 3;
  choices.tag_worlds = Share::only;
  EXPECT_EQ(draw_scenario(choices, 1).geometry.tag_bits, engine::most_tag_bits);
}

TEST(Scenario, HasFingerprintsOnlyIfHardened) {
  ScenarioChoices choices;
  choices.safeguards = engine::Safeguards::published();
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    EXPECT_EQ(draw_scenario(choices, seed).geometry.offset_bits(), engine::reference_bits);
  }
}

// A large table needs most of the bits for its offsets.
TEST(Scenario, HasNoMoreBitsThanTheChunkLeaves) {
  ScenarioChoices choices;
  choices.slots = 65'536;
  choices.reference_bits = {.size_class = 3, .fingerprint = 8};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const engine::Geometry geometry = draw_scenario(choices, seed).geometry;
    EXPECT_FALSE(engine::find_invalid_geometry(geometry));
    EXPECT_EQ(geometry.size_class_bits, 3U);
  }
}

// Each member that is removed or replaced must be named in the error.
TEST(Scenario, NamesWhatIsWrong) {
  const nlohmann::json valid = draw_scenario({}, 1).to_json();
  for (const auto& [name, value] : valid.items()) {
    nlohmann::json without = valid;
    without.erase(name);
    if (std::ranges::find(members_of_today, name) == members_of_today.end()) {
      const auto missing = parse_scenario(without);
      ASSERT_FALSE(missing.has_value()) << name;
      EXPECT_THAT(missing.error(), HasSubstr(name));
    }
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

// Older files have fewer members; the missing ones have fixed values.
TEST(Scenario, ReadsOlderFiles) {
  nlohmann::json json = draw_scenario({}, 1).to_json();
  json["geometry"].erase("tag_bits");
  json["geometry"].erase("fingerprint_bits");
  json["geometry"].erase("size_class_bits");
  json["safeguards"].erase("heartbeats");
  json["readahead"].erase("validation");
  for (const std::string_view name : members_of_today) json.erase(std::string(name));
  for (nlohmann::json& client : json["clients"]) {
    client.erase("batch");
    for (nlohmann::json& operation : client["operations"]) {
      operation.erase("goodbye");
      operation.erase("cancel_after_ns");
    }
  }
  const auto parsed = parse_scenario(json);
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  EXPECT_EQ(parsed->geometry.tag_bits, 30U);
  EXPECT_EQ(parsed->geometry.fingerprint_bits, 0U);
  EXPECT_EQ(parsed->geometry.size_class_bits, 0U);
  EXPECT_TRUE(parsed->safeguards.heartbeats);
  EXPECT_TRUE(parsed->readahead.validation);
  EXPECT_EQ(parsed->hash_key, engine::HashKey{});
  EXPECT_EQ(parsed->max_clients, 0U);
  EXPECT_TRUE(parsed->cleanups.empty());
  for (const ClientPlan& client : parsed->clients) EXPECT_EQ(client.batch, 1U);
  EXPECT_EQ(parsed->flush_timeout_ns, 5'000'000'000U);
  EXPECT_EQ(parsed->server_timeout_ns, 1'000'000'000U);
}

// Each kind of scenario occurs sometimes, but not always.
TEST(Scenario, VariesInAllThatItHas) {
  const std::map<std::string, std::function<bool(const Scenario&)>> kinds{
      {"tags of a few bits", [](const Scenario& world) { return world.geometry.tag_bits < 30; }},
      {"fingerprints", [](const Scenario& world) { return world.geometry.fingerprint_bits > 0; }},
      {"fingerprints of one bit",
       [](const Scenario& world) { return world.geometry.fingerprint_bits == 1; }},
      {"fingerprints without size classes",
       [](const Scenario& world) {
         return world.geometry.fingerprint_bits > 0 && world.geometry.size_class_bits == 0;
       }},
      {"no validation", [](const Scenario& world) { return !world.readahead.validation; }},
      {"many containers ahead",
       [](const Scenario& world) { return world.readahead.containers > 4; }},
      {"much of them", [](const Scenario& world) { return world.readahead.container_bytes > 64; }},
      {"a large table", [](const Scenario& world) { return world.geometry.table_entries > 16; }},
      {"many clients", [](const Scenario& world) { return world.clients.size() > 4; }},
      {"few of them at a time",
       [](const Scenario& world) {
         return world.max_clients > 0 && world.max_clients < world.clients.size();
       }},
      {"a short time-out for flushes",
       [](const Scenario& world) { return world.flush_timeout_ns < 5'000'000'000; }},
      {"a device that drains", [](const Scenario& world) { return world.destruction_drains; }},
      {"clients whose data lands late",
       [](const Scenario& world) {
         return world.simulation.fault_rate(sim::FaultKind::slow_landing) > 0;
       }},
      {"a short time-out for the server",
       [](const Scenario& world) { return world.server_timeout_ns < 1'000'000'000; }},
      {"clients that stop for good",
       [](const Scenario& world) {
         return world.simulation.fault_rate(sim::FaultKind::client_stop) > 0;
       }},
      {"a server that stops for good",
       [](const Scenario& world) {
         return world.simulation.fault_rate(sim::FaultKind::server_stop) > 0;
       }},
      {"cleanups", [](const Scenario& world) { return !world.cleanups.empty(); }},
      {"goodbyes",
       [](const Scenario& world) {
         return has_operation(world,
                              [](const PlannedOperation& operation) { return operation.goodbye; });
       }},
      {"batches",
       [](const Scenario& world) {
         return std::ranges::any_of(world.clients,
                                    [](const ClientPlan& client) { return client.batch > 1; });
       }},
      {"cancelled operations", [](const Scenario& world) {
         return has_operation(world, [](const PlannedOperation& operation) {
           return operation.cancel_after_ns > 0;
         });
       }}};
  for (const auto& [name, is_of_kind] : kinds) {
    std::size_t count = 0;
    constexpr std::uint64_t seeds = 400;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      if (is_of_kind(draw_scenario({}, seed))) ++count;
    }
    EXPECT_GT(count, 0U) << name;
    EXPECT_LT(count, seeds) << name;
  }
}

// The paths of all fields as docs/replay-file.md names them. Another document covers safeguards.
void add_fields(const nlohmann::json& json, const std::string& path,
                std::set<std::string>& fields) {
  if (json.is_array()) {
    for (const nlohmann::json& element : json) add_fields(element, path + "[]", fields);
  }
  if (!json.is_object() || path == "safeguards") return;
  for (const auto& [name, value] : json.items()) {
    const std::string field = path.empty() ? name : path + "." + name;
    fields.insert(field);
    add_fields(value, field, fields);
  }
}

TEST(Scenario, HasADocumentOfAllItsFields) {
  std::ifstream stream(FALAFEL_SOURCE_FOLDER "/docs/replay-file.md");
  const std::string document{std::istreambuf_iterator<char>(stream), {}};
  std::set<std::string> fields;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    add_fields(draw_scenario({}, seed).to_json(), "", fields);
  }
  EXPECT_TRUE(fields.contains("cleanups[].pause_ns"));
  for (const std::string& field : fields) {
    EXPECT_THAT(document, HasSubstr("\n| `" + field + "` |"));
  }
}

TEST(Scenario, HasAHashKeyOfItsOwn) {
  EXPECT_NE(draw_scenario({}, 1).hash_key, draw_scenario({}, 2).hash_key);
  nlohmann::json json = draw_scenario({}, 1).to_json();
  json["hash_key"] = "0123456789abcdef0123456789abcdeF";
  const auto refused = parse_scenario(json);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error(), HasSubstr("hash_key"));
}

TEST(Scenario, RefusesWhatWouldTakeAllMemory) {
  nlohmann::json json = draw_scenario({}, 1).to_json();
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
}  // namespace falafel::store_scenario
