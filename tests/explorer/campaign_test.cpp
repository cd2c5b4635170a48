// Campaigns: the hardened protocol holds, a canary does not, and the same seeds yield the same
// result in every repetition and with any number of workers.
#include <gtest/gtest.h>

#include "engine/probes.h"
#include "explorer/campaign.h"
#include "tests/explorer/describe_findings.h"
#include "tests/thoroughness.h"
#include "tools/scenarios/store/program.h"

namespace falafel::store_scenario {
namespace {

// The options of a campaign of the store.
struct StoreCampaign : explorer::CampaignOptions {
  ScenarioChoices choices{};
  bool paranoid = false;
};

explorer::CampaignResult run(const StoreCampaign& campaign) {
  return explorer::run_campaign(StoreProgram(campaign.choices, campaign.paranoid), campaign);
}

StoreCampaign without(bool engine::Safeguards::*safeguard, std::uint64_t schedules) {
  StoreCampaign options;
  options.schedules = schedules;
  options.choices.safeguards.*safeguard = false;
  options.stops_at_violation = true;
  return options;
}

// The client of this run waits for memory, swaps against a remembered location, fails, and reads
// the container of the entry that the swap returned. The checker once did not know of that entry.
TEST(Campaign, AFailedSwapLeadsToAContainer) {
  StoreCampaign options;
  options.first_seed = 1'000'056;
  options.schedules = 1;
  options.paranoid = true;
  const explorer::CampaignResult result = run(options);
  EXPECT_TRUE(result.holds()) << describe_findings(result);
}

TEST(Campaign, HardenedHolds) {
  StoreCampaign options;
  options.first_seed = 1'000'000;
  options.schedules = 3'000;
  options.paranoid = true;
  options.jobs = 2;
  const explorer::CampaignResult result = run(options);
  EXPECT_EQ(result.schedules, 3'000U);
  EXPECT_TRUE(result.holds()) << describe_findings(result);
  EXPECT_EQ(result.unknown, 0U);
}

// The server defends itself and the others, and comes to rest.
TEST(Campaign, HoldsWithHostileClients) {
  StoreCampaign options;
  options.first_seed = 2'000'000;
  options.schedules = tests::usual_share(3'000);
  options.choices.hostile = Share::only;
  options.paranoid = true;
  options.jobs = 2;
  const explorer::CampaignResult result = run(options);
  EXPECT_TRUE(result.holds()) << describe_findings(result);
  EXPECT_EQ(result.unknown, 0U);
  EXPECT_GT(explorer::count_of(result.probes, engine::probes::client_expelled.name),
            tests::usual_share(500));
  EXPECT_GT(explorer::count_of(result.probes, engine::probes::entry_repaired.name),
            tests::usual_share(100));
}

// As long as nobody is hostile, nobody is expelled, no entry needs repair, and every container
// verifies.
TEST(Campaign, NeedsNoDefenseAgainstHonestClients) {
  StoreCampaign options;
  options.schedules = tests::usual_share(3'000);
  options.choices.hostile = Share::none;
  options.jobs = 2;
  const explorer::CampaignResult result = run(options);
  for (const fabric::Probe& probe :
       {engine::probes::restart_at_bad_checksum, engine::probes::container_corrupted,
        engine::probes::client_expelled, engine::probes::entry_repaired}) {
    EXPECT_EQ(explorer::count_of(result.probes, probe.name), 0U) << probe.name;
  }
}

// A campaign that does not reach the rare branches proves nothing about them.
TEST(Campaign, ReachesTheRareBranches) {
  StoreCampaign options;
  options.choices.caches = Share::some;
  options.choices.growth = Share::some;
  options.choices.memory_growth = Share::some;
  options.choices.heard_closes = Share::some;
  options.schedules = 3'000;
  options.jobs = 2;
  const explorer::CampaignResult result = run(options);
  for (const fabric::Probe& probe : engine::probes::all) {
    // Only servers that keep their memory recover (tests/scenarios/store/warm_restarts_test.cpp).
    if (probe.name.starts_with("recovery_")) continue;
    EXPECT_GT(explorer::count_of(result.probes, probe.name), 0U) << probe.name;
  }
  for (std::size_t index = 0; index < sim::fault_kind_count; ++index) {
    const auto kind = static_cast<sim::FaultKind>(index);
    const bool needs_unreliable_transports =
        kind == sim::FaultKind::unreliable_loss || kind == sim::FaultKind::datagram_reordering;
    // The store uses no wall clock.
    if (needs_unreliable_transports || kind == sim::FaultKind::clock_step) continue;
    EXPECT_GT(explorer::count_of(result.faults, to_string(kind)), 0U) << to_string(kind);
  }
}

// A cleanup whose processor did not see containers yet lost stored values, first with seed 79
// (docs/findings/cleanup-before-the-processor-sees.md).
TEST(Campaign, HoldsThoughTheProcessorSeesWritesLate) {
  StoreCampaign options;
  options.schedules = tests::usual_share(3'000);
  options.jobs = 2;
  options.choices.simulator_options = {{"late_visibility", "true"}};
  const explorer::CampaignResult result = run(options);
  EXPECT_TRUE(result.holds()) << describe_findings(result);
}

// During latency spikes, any amount of time may pass before the server takes a step. A checker once
// reported this as a server that never becomes idle
// (docs/findings/spikes-before-the-server-rests.md).
TEST(Campaign, IsPatientWhileSpikesStrikeAtEveryStep) {
  StoreCampaign options;
  options.schedules = 500;
  options.jobs = 2;
  options.choices.simulator_options = {{"fault_rate.latency_spike", "1"},
                                       {"fault_rate.client_crash", "20"},
                                       {"last_fault_step", "1600"}};
  const explorer::CampaignResult result = run(options);
  EXPECT_TRUE(result.holds()) << describe_findings(result);
}

TEST(Campaign, IsTheSameTwiceAndWithTwoWorkers) {
  StoreCampaign options;
  options.choices.safeguards = engine::Safeguards::published();
  options.schedules = 400;
  const explorer::CampaignResult once = run(options);
  const explorer::CampaignResult twice = run(options);
  options.jobs = 2;
  const explorer::CampaignResult by_two = run(options);
  EXPECT_EQ(once.schedules, 400U);
  for (const explorer::CampaignResult& other : {twice, by_two}) {
    EXPECT_EQ(other.hash, once.hash);
    EXPECT_EQ(other.steps, once.steps);
    EXPECT_EQ(other.violations, once.violations);
    EXPECT_EQ(other.probes, once.probes);
    EXPECT_EQ(other.faults, once.faults);
  }
}

// A run of `urw` depends on an earlier run, but on nothing else.
TEST(Campaign, IsTheSameWithTwoWorkersForEveryStrategy) {
  for (std::size_t kind = 0; kind < sim::strategy_kind_count; ++kind) {
    StoreCampaign options;
    options.choices.strategy = static_cast<sim::StrategyKind>(kind);
    options.schedules = 200;
    const explorer::CampaignResult once = run(options);
    options.jobs = 2;
    EXPECT_EQ(run(options).hash, once.hash) << to_string(*options.choices.strategy);
    EXPECT_TRUE(once.holds()) << describe_findings(once);
  }
}

TEST(Campaign, PublishedProtocolFails) {
  StoreCampaign options;
  options.choices.safeguards = engine::Safeguards::published();
  options.schedules = 2'000;
  options.stops_at_violation = true;
  EXPECT_FALSE(run(options).holds());
}

TEST(Campaign, CanariesFail) {
  using engine::Safeguards;
  for (const auto safeguard :
       {&Safeguards::double_collect, &Safeguards::collector_retry, &Safeguards::exclusion,
        &Safeguards::release_after_completion, &Safeguards::drain_before_free,
        &Safeguards::tag_discipline, &Safeguards::terminator_lock,
        &Safeguards::restart_after_lost_compare_and_swap, &Safeguards::bounded_walks}) {
    EXPECT_FALSE(run(without(safeguard, 5'000)).holds());
  }
}

// The other safeguards hide most late reads, so this test takes longer and uses special scenarios.
TEST(Campaign, WithoutEpochReclamationMemoryIsReusedTooEarly) {
  StoreCampaign options = without(&engine::Safeguards::epoch_reclamation, 20'000);
  options.choices.slots = 4;
  options.choices.keys = 2;
  options.choices.faults = {sim::FaultKind::client_pause, sim::FaultKind::late_packets};
  options.jobs = 2;
  EXPECT_FALSE(run(options).holds());
}

// Tags wrap around only in special scenarios.
TEST(Campaign, WithoutHeartbeatsTagsComeRound) {
  StoreCampaign options = without(&engine::Safeguards::heartbeats, 10'000);
  options.choices.tag_worlds = Share::only;
  options.jobs = 2;
  const explorer::CampaignResult result = run(options);
  EXPECT_TRUE(result.violations.contains("aba")) << describe_findings(result);
}

TEST(Campaign, HeartbeatsKeepTagsFromComingRound) {
  StoreCampaign options;
  options.choices.tag_worlds = Share::only;
  options.schedules = tests::usual_share(2'000);
  options.jobs = 2;
  const explorer::CampaignResult result = run(options);
  EXPECT_TRUE(result.holds()) << describe_findings(result);
}

}  // namespace
}  // namespace falafel::store_scenario
