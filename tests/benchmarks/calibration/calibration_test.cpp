// A calibration of the simulator gives back the profile of the card that it simulates: all values
// that requests show, within 2 %, although it begins with those of another card.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "tools/benchmarks/calibration/fit.h"
#include "tools/benchmarks/calibration/report.h"
#include "tools/benchmarks/calibration/simulated.h"
#include "tools/benchmarks/calibration/sources.h"

namespace falafel::calibration {
namespace {

using fabric::Opcode;
using sim::timing::Profile;

constexpr std::uint32_t clients = 8;
constexpr double tolerance = 0.02;

struct NamedValue {
  const char* name;
  std::uint64_t Profile::*value;
};
constexpr std::array visible_values{NamedValue{"post", &Profile::post_ps},
                                    NamedValue{"bus", &Profile::bus_ps_per_byte},
                                    NamedValue{"link", &Profile::link_ps_per_byte},
                                    NamedValue{"read gap", &Profile::read_gap_ps},
                                    NamedValue{"read interval", &Profile::read_interval_ps},
                                    NamedValue{"write interval", &Profile::write_interval_ps},
                                    NamedValue{"atomic interval", &Profile::atomic_interval_ps},
                                    NamedValue{"word interval", &Profile::word_interval_ps},
                                    NamedValue{"send interval", &Profile::send_interval_ps},
                                    NamedValue{"hash", &Profile::hash_ps},
                                    NamedValue{"hash per byte", &Profile::hash_ps_per_byte},
                                    NamedValue{"checksum", &Profile::checksum_ps},
                                    NamedValue{"checksum per byte", &Profile::checksum_ps_per_byte},
                                    NamedValue{"copy", &Profile::copy_ps},
                                    NamedValue{"copy per byte", &Profile::copy_ps_per_byte},
                                    NamedValue{"lock", &Profile::lock_ps}};

// Differences of latencies, which are whole nanoseconds and themselves fitted, show these.
constexpr std::array values_of_client{NamedValue{"operation", &Profile::operation_ps},
                                      NamedValue{"round trip", &Profile::round_trip_ps}};
constexpr double client_tolerance_ps = 10'000;

Profile base() { return sim::timing::find_profile("connectx3-qdr").value(); }

// A card that differs from the base in every value that requests show.
Profile another_card() {
  Profile card = base();
  card.doorbell_ps = 350'000;
  card.completion_ps = 300'000;
  card.read_ps = 2'400'000;
  card.write_ps = 900'000;
  card.atomic_ps = 2'900'000;
  card.send_ps = 1'400'000;
  card.link_ps_per_byte = 300;
  card.bus_ps_per_byte = 410;
  card.acknowledge_ps_per_byte = 150;
  card.read_gap_ps = 90'000;
  card.read_interval_ps = 120'000;
  card.write_interval_ps = 70'000;
  card.requester_interval_ps = 70'000;
  card.atomic_interval_ps = 300'000;
  card.word_interval_ps = 700'000;
  card.send_interval_ps = 200'000;
  card.post_ps = 150'000;
  card.hash_ps = 55'000;
  card.hash_ps_per_byte = 2'000;
  card.checksum_ps = 15'000;
  card.checksum_ps_per_byte = 300;
  card.copy_ps = 25'000;
  card.copy_ps_per_byte = 400;
  card.operation_ps = 310'000;
  card.round_trip_ps = 120'000;
  card.lock_ps = 15'000;
  return card;
}

Measurement measure(const Profile& card) {
  std::vector<TimedLoad> loads;
  for (const Load& load : fitted_loads(clients)) {
    const std::uint64_t duration_ns = load.length_bytes > 4'096 ? 20'000'000 : 2'000'000;
    loads.push_back({.load = load, .duration_ns = duration_ns});
  }
  return measure_simulated(card, loads);
}

void expect_given_back(const Profile& card) {
  const FittedProfile fitted = fit_profile({measure(card)}, clients, base());
  for (const NamedValue& value : visible_values) {
    const auto expected = static_cast<double>(card.*value.value);
    EXPECT_NEAR(static_cast<double>(fitted.profile.*value.value), expected, expected * tolerance)
        << value.name;
  }
  for (const NamedValue& value : values_of_client) {
    EXPECT_NEAR(static_cast<double>(fitted.profile.*value.value),
                static_cast<double>(card.*value.value), client_tolerance_ps)
        << value.name;
  }
  EXPECT_FALSE(fitted.profile.has_message_streams);
}

TEST(Calibration, GivesTheProfileOfACardBack) { expect_given_back(another_card()); }

TEST(Calibration, GivesTheProfileOfTheThesisCardBack) { expect_given_back(base()); }

// Values that no request shows by itself are assumed, and yet all loads take as long as they did.
TEST(Calibration, TheProfilePredictsWhatWasMeasured) {
  for (const Profile& card : {another_card(), sim::timing::find_profile("connectx2-ddr").value()}) {
    const Measurement measured = measure(card);
    const FittedProfile fitted = fit_profile({measured}, clients, base());
    for (const MeasuredLoad& each : fitted.predicted.loads) {
      const auto quantity = shows_latency(each.load) ? &Cost::latency_ns : &Cost::interval_ns;
      const double expected = measured.cost_of(each.load).*quantity;
      EXPECT_NEAR(each.cost.*quantity, expected, expected * tolerance)
          << to_string(each.load.opcode) << " " << each.load.length_bytes << " "
          << each.load.clients;
    }
    for (const auto latency : {&StoreLatency::absent_ns, &StoreLatency::present_ns}) {
      EXPECT_NEAR(fitted.predicted.store.*latency, measured.store.*latency,
                  measured.store.*latency * tolerance);
    }
  }
}

// A slow link limits the bandwidth, not the bus.
TEST(Calibration, ALinkThatIsTheLimitIsRecognized) {
  Profile card = base();
  card.link_ps_per_byte = 800;
  const FittedProfile fitted = fit_profile({measure(card)}, clients, base());
  EXPECT_NEAR(static_cast<double>(fitted.profile.link_ps_per_byte), 800, 800 * tolerance);
  EXPECT_NEAR(static_cast<double>(fitted.profile.bus_ps_per_byte), 300.4, 300.4 * tolerance);
}

TEST(Calibration, AProfilesFileHasItsValuesAndTheirSources) {
  Profile card = another_card();
  card.name = "mine";
  card.title = "My card";
  const std::string text = to_text(
      card, [](std::string_view value) { return source_of(value, "measured", {}, base()); });
  const auto parsed = sim::timing::parse_profile(text);
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  EXPECT_EQ(parsed->name, "mine");
  EXPECT_EQ(parsed->title, "My card");
  for (const NamedValue& value : visible_values) {
    EXPECT_EQ(parsed.value().*value.value, card.*value.value) << value.name;
  }
  const auto values = sim::timing::profile_values(text);
  ASSERT_TRUE(values.has_value());
  std::map<std::string, std::string> sources;
  for (const sim::timing::ProfileValue& value : *values) sources[value.name] = value.source;
  EXPECT_EQ(sources["read_ns"].find("measured: latency"), 0U);
  EXPECT_EQ(sources["doorbell_ns"].find("assumed"), 0U);
  EXPECT_EQ(sources["retry_ns"], "not measured; as connectx3-qdr");
}

// Otherwise this load would go on for three centuries of simulated time.
TEST(Calibration, ALoadEndsAfterTheMostRequests) {
  const Load load = fitted_loads(clients).front();
  const Measurement of_hundred = measure_simulated(
      base(),
      std::vector<TimedLoad>{
          {.load = load, .duration_ns = 10'000'000'000'000'000'000U, .most_requests = 100}});
  const Measurement of_duration =
      measure_simulated(base(), std::vector<TimedLoad>{{.load = load, .duration_ns = 1'000'000}});
  EXPECT_NEAR(of_hundred.cost_of(load).latency_ns, of_duration.cost_of(load).latency_ns, 1);
}

TEST(Calibration, RoundsCountByTheirMedian) {
  std::vector<Measurement> rounds;
  for (const double latency_ns : {5.0, 1.0, 9.0}) {
    rounds.push_back({.loads = {{.load = {}, .cost = {.latency_ns = latency_ns}}},
                      .processor = {.lock_ns = latency_ns},
                      .store = {.absent_ns = latency_ns, .present_ns = 2 * latency_ns}});
  }
  const Measurement median = median_of(rounds);
  EXPECT_EQ(median.cost_of({}).latency_ns, 5.0);
  EXPECT_EQ(median.processor.lock_ns, 5.0);
  EXPECT_EQ(median.store.absent_ns, 5.0);
  EXPECT_EQ(median.store.present_ns, 10.0);
}

}  // namespace
}  // namespace falafel::calibration
