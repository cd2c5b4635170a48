// Scenarios in which the store is a cache: what they contain, and that the fuzzer tells a correct
// cache from one without the safeguard that only caches need.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/layout/pinned.h"
#include "engine/probes.h"
#include "explorer/campaign.h"
#include "tests/explorer/describe_findings.h"
#include "tests/scenarios/store/drawn_worlds.h"
#include "tools/scenarios/store/cache_history.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {
namespace {

using testing::HasSubstr;

ScenarioChoices caches_only() {
  ScenarioChoices choices;
  choices.caches = Share::only;
  return choices;
}

TEST(Caches, HoldWithAllSafeguards) {
  const StoreProgram program(caches_only());
  const auto result = explorer::run_campaign(program, {.schedules = 4'000});
  EXPECT_EQ(describe_findings(result), "");
  EXPECT_GT(explorer::count_of(result.probes, engine::probes::value_expired.name), 500U);
  EXPECT_GT(explorer::count_of(result.probes, engine::probes::collector_met_expired.name), 500U);
  EXPECT_GT(explorer::count_of(result.probes, engine::probes::value_evicted.name), 500U);
  EXPECT_GT(explorer::count_of(result.probes, engine::probes::value_spared.name), 500U);
}

// Nothing was left to evict in blocks. Then a value was copied to one, and a SET was refused.
TEST(Caches, EvictWhatWasCopiedToBlocksMeanwhile) {
  ScenarioChoices choices = caches_only();
  choices.blocks = Share::only;
  const auto result =
      explorer::run_campaign(StoreProgram(choices), {.first_seed = 18'096, .schedules = 1});
  EXPECT_EQ(describe_findings(result), "");
}

TEST(Caches, FindAnExpiredValueAgainIfItIsNotRemoved) {
  const auto program = StoreProgram().without("expired-removal");
  const auto result =
      explorer::run_campaign(*program, {.schedules = 2'000, .stops_at_violation = true});
  EXPECT_TRUE(result.findings.contains("linearizability")) << describe_findings(result);
}

TEST(Caches, AreDrawnAsChosen) {
  ScenarioChoices some;
  some.caches = Share::some;
  some.tag_worlds = Share::none;
  expect_drawn_as_chosen(some,
                         [](const Scenario& scenario) { return scenario.geometry.values_expire; });
}

// A cache has room for as many containers as the store that it is made of.
TEST(Caches, HaveRoomForTheExpiry) {
  ScenarioChoices without_caches;
  without_caches.tag_worlds = Share::none;
  ScenarioChoices caches = without_caches;
  caches.caches = Share::only;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const engine::Geometry before = draw_scenario(without_caches, seed).geometry;
    const Scenario cache = draw_scenario(caches, seed);
    if (cache.evicts) continue;
    const engine::Geometry& after = cache.geometry;
    EXPECT_EQ(engine::find_invalid_geometry(after), std::nullopt);
    EXPECT_GE(after.region_bytes, before.region_bytes);
    EXPECT_GE(after.mature_bytes / after.region_bytes, before.mature_bytes / before.region_bytes);
  }
}

TEST(Caches, SurviveJsonAndAreDocumented) {
  const std::string document = replay_file_document();
  for (const std::string_view field :
       {"geometry.values_expire", "evicts", "wall_clock_error_ns",
        "clients[].operations[].time_to_live_ns", "clients[].operations[].pins"}) {
    EXPECT_THAT(document, HasSubstr("\n| `" + std::string(field) + "` |"));
  }
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Scenario scenario = draw_scenario(caches_only(), seed);
    const auto parsed = parse_scenario(scenario.to_json());
    ASSERT_TRUE(parsed.has_value()) << parsed.error();
    EXPECT_EQ(parsed->clients, scenario.clients);
    EXPECT_EQ(parsed->geometry, scenario.geometry);
    EXPECT_EQ(parsed->evicts, scenario.evicts);
    EXPECT_EQ(parsed->wall_clock_error_ns, scenario.wall_clock_error_ns);
  }
}

TEST(Caches, HaveSomePinnedValues) {
  std::uint64_t pinned = 0;
  std::uint64_t with_times = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    for (const ClientPlan& client : draw_scenario(caches_only(), seed).clients) {
      for (const PlannedOperation& operation : client.operations) {
        if (operation.pins()) {
          ++pinned;
          EXPECT_EQ(operation.kind, OperationKind::set);
        } else if (operation.time_to_live_ns > 0) {
          ++with_times;
        }
      }
    }
  }
  EXPECT_GT(pinned, 100U);
  EXPECT_GT(with_times, pinned);
}

// Operations of one key, one after the other.
class Recorded {
 public:
  Recorded& set(std::uint64_t at_ns, std::uint64_t time_to_live_ns) {
    return add(checkers::OperationKind::set, checkers::Answer::stored, "1", at_ns, time_to_live_ns);
  }
  Recorded& finds(std::uint64_t at_ns) {
    return add(checkers::OperationKind::get, checkers::Answer::found, "1", at_ns, 0);
  }
  Recorded& misses(std::uint64_t at_ns) {
    return add(checkers::OperationKind::get, checkers::Answer::not_found, "", at_ns, 0);
  }
  bool holds(std::uint64_t wall_clock_error_ns, const std::string& damaged_key = {},
             bool evicts = false) const {
    Scenario scenario;
    scenario.evicts = evicts;
    scenario.wall_clock_error_ns = wall_clock_error_ns;
    return check_cache(history_, times_, scenario, [&](const std::string& key) {
             return key == damaged_key;
           }).verdict == checkers::Verdict::holds;
  }

 private:
  Recorded& add(checkers::OperationKind kind, checkers::Answer answer, const std::string& value,
                std::uint64_t at_ns, std::uint64_t time_to_live_ns) {
    history_.push_back({.kind = kind,
                        .answer = answer,
                        .key = "key",
                        .value = value,
                        .call_time = 2 * history_.size(),
                        .return_time = 2 * history_.size() + 1});
    times_.push_back(
        {.call_ns = at_ns, .return_ns = at_ns + 1, .time_to_live_ns = time_to_live_ns});
    return *this;
  }

  std::vector<checkers::Operation> history_;
  std::vector<OperationTimes> times_;
};

TEST(CacheHistory, AllowsForTheErrorsOfTwoClocks) {
  const Recorded set = Recorded().set(0, 1'000);
  EXPECT_TRUE(Recorded(set).finds(1'000).holds(0));
  EXPECT_FALSE(Recorded(set).finds(1'001).holds(0));
  EXPECT_TRUE(Recorded(set).finds(1'200).holds(100));
  EXPECT_FALSE(Recorded(set).finds(1'201).holds(100));
  EXPECT_FALSE(Recorded(set).misses(998).holds(0));
  EXPECT_TRUE(Recorded(set).misses(999).holds(0));
  EXPECT_FALSE(Recorded(set).misses(798).holds(100));
  EXPECT_TRUE(Recorded(set).misses(799).holds(100));
  EXPECT_FALSE(Recorded(set).misses(999).finds(1'000).holds(100));
  EXPECT_FALSE(Recorded().set(0, 0).misses(1'000'000).holds(100));
  EXPECT_TRUE(Recorded().set(0, 0).misses(1'000'000).holds(100, "key"));
}

TEST(CacheHistory, LetsNoPinnedValueVanish) {
  const auto holds = [](std::uint64_t time_to_live_ns) {
    return Recorded().set(0, time_to_live_ns).misses(1'000'000).holds(100, {}, true);
  };
  EXPECT_TRUE(holds(0));
  EXPECT_TRUE(holds(10'000'000));
  EXPECT_FALSE(holds(engine::pinned_time_to_live_ns));
  EXPECT_TRUE(
      Recorded().set(0, engine::pinned_time_to_live_ns).finds(1'000'000).holds(100, {}, true));
}

}  // namespace
}  // namespace falafel::store_scenario
