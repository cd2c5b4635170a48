// Predictions for the store follow from the profile: their shapes are those of sections 5.4 and 5.5
// of the thesis, and a run repeats exactly.
#include <gtest/gtest.h>

#include "tools/benchmarks/figures/latency.h"
#include "tools/benchmarks/figures/throughput.h"

namespace falafel::figures {
namespace {

using sim::timing::Profile;

Profile thesis_profile() { return sim::timing::find_profile("connectx3-qdr").value(); }

ThroughputLoad small_load(std::uint32_t clients, std::uint32_t get_percent) {
  return {.clients = clients,
          .get_percent = get_percent,
          .table_entries = 1 << 14,
          .duration_ns = 3'000'000};
}

double rate(const ThroughputLoad& load) {
  return measure_throughput(thesis_profile(), load).operations_per_second;
}

TEST(TimedStore, ARunRepeatsExactly) {
  const Throughput first = measure_throughput(thesis_profile(), small_load(3, 50));
  const Throughput again = measure_throughput(thesis_profile(), small_load(3, 50));
  EXPECT_EQ(first.operations_per_second, again.operations_per_second);
  EXPECT_EQ(first.get_latency_us, again.get_latency_us);
  EXPECT_EQ(first.set_latency_us, again.set_latency_us);
}

// Figure 5.5: mixes are the weighted average of GETs and SETs.
TEST(TimedStore, AMixOfOneClientIsTheWeightedAverage) {
  const double gets = rate(small_load(1, 100));
  const double sets = rate(small_load(1, 0));
  const double half = rate(small_load(1, 50));
  EXPECT_GT(gets, 1.3 * sets);
  EXPECT_NEAR(half, 2 / (1 / gets + 1 / sets), 0.05 * half);
}

// Figure 5.6: SETs of many clients are limited by the server's card, which serves atomics slowly.
TEST(TimedStore, ManyClientsReachTheLimitOfTheCard) {
  const double ten = rate(small_load(10, 0));
  const Throughput thirty = measure_throughput(thesis_profile(), small_load(30, 0));
  const Throughput forty = measure_throughput(thesis_profile(), small_load(40, 0));
  EXPECT_NEAR(forty.operations_per_second, thirty.operations_per_second,
              0.05 * thirty.operations_per_second);
  EXPECT_GT(thirty.operations_per_second, 1.3 * ten);
  EXPECT_EQ(forty.server.front().part, "responder");
  EXPECT_GT(forty.server.front().share, 0.95);
  EXPECT_GT(forty.set_latency_us, 1.2 * thirty.set_latency_us);
}

// Figure 5.10: each further container and each compare-and-swap costs a round trip.
TEST(TimedStore, LatenciesAreSumsOfRoundTrips) {
  const std::vector<double> us = measure_latencies(thesis_profile(), 8, {});
  const double get_empty = us[0];
  const double get = us[1];
  const double get_in_chain = us[2];
  const double set_new = us[3];
  const double set = us[4];
  EXPECT_NEAR(get - get_empty, 2.9, 0.5);
  EXPECT_NEAR(get_in_chain - get, 2 * 2.9, 1);
  EXPECT_NEAR(set_new - get_empty, 3.1, 0.5);
  EXPECT_NEAR(set - get, 3.1, 0.5);
}

// The client's own work: GETs and SETs take it once, and for each round trip.
TEST(TimedStore, TheClientsWorkIsCharged) {
  Profile profile = thesis_profile();
  const std::vector<double> before_us = measure_latencies(profile, 8, {});
  profile.operation_ps += 10'000'000;
  profile.round_trip_ps += 1'000'000;
  const std::vector<double> after_us = measure_latencies(profile, 8, {});
  EXPECT_NEAR(after_us[0] - before_us[0], 11, 0.01) << "GET, empty entry";
  EXPECT_NEAR(after_us[1] - before_us[1], 12, 0.01) << "GET";
  EXPECT_NEAR(after_us[3] - before_us[3], 12, 0.01) << "SET, new key";
  EXPECT_NEAR(after_us[4] - before_us[4], 13, 0.01) << "SET, existing key";
}

// From a value size on, the start of a container does not contain the value any more.
TEST(TimedStore, AValueBeyondTheReadaheadCostsARoundTrip) {
  const Profile profile = thesis_profile();
  const double within = measure_latencies(profile, 464, {})[1];
  const double beyond = measure_latencies(profile, 496, {})[1];
  EXPECT_GT(beyond, within + 2);
}

// However long the chain is. The search takes at least two.
TEST(TimedStore, AKeyWhoseLocationIsRememberedCostsOneRoundTrip) {
  const engine::Safeguards hardened = engine::Safeguards::hardened();
  const std::vector<double> us = measure_latencies(
      thesis_profile(), 8, {.safeguards = hardened, .location_cache_entries = 1'024});
  const std::vector<double> searching_us =
      measure_latencies(thesis_profile(), 8, {.safeguards = hardened});
  for (const std::size_t with_location : {1U, 2U, 4U, 5U, 7U, 8U}) {
    EXPECT_NEAR(us[with_location], 3.1, 0.4) << latency_cases()[with_location].name;
    EXPECT_GT(searching_us[with_location], us[with_location] + 2.9);
  }
  EXPECT_NEAR(us[0], searching_us[0], 0.1) << "there is no location of an absent key";
}

TEST(TimedStore, TheHardenedProtocolIsNotFaster) {
  ThroughputLoad load = small_load(4, 50);
  const double published = rate(load);
  load.safeguards = engine::Safeguards::hardened();
  EXPECT_LE(rate(load), 1.02 * published);
}

}  // namespace
}  // namespace falafel::figures
