// Rounds whose noise is greater than a cost: the calibration repeats them, and then says that it
// cannot tell. The noise is added to a calibration of the simulator, so nothing here depends on how
// fast the machine is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/benchmarks/calibration/repetition.h"
#include "tools/benchmarks/calibration/simulated.h"
#include "tools/benchmarks/calibration/sources.h"

namespace falafel::calibration {
namespace {

using sim::timing::Profile;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t two_clients = 2;
constexpr double work_ns = 310 + 120;  // of the client, for its first round trip

Profile card() {
  Profile card = sim::timing::find_profile("connectx3-qdr").value();
  card.operation_ps = 310'000;
  card.round_trip_ps = 120'000;
  card.hash_ps_per_byte = 2'000;
  card.checksum_ps_per_byte = 300;
  card.copy_ps_per_byte = 400;
  card.lock_ps = 15'000;
  return card;
}

const Measurement& without_noise() {
  static const Measurement measured = [] {
    std::vector<TimedLoad> loads;
    for (const Load& load : fitted_loads(two_clients)) {
      loads.push_back({.load = load, .duration_ns = 2'000'000});
    }
    return measure_simulated(card(), loads);
  }();
  return measured;
}

// A round in which every round trip of the store takes longer by `noise_ns`.
Measurement with_slower_store(double noise_ns) {
  Measurement round = without_noise();
  round.store.absent_ns += noise_ns;
  round.store.present_ns += 2 * noise_ns;
  return round;
}

std::vector<Measurement> with_slower_stores(std::initializer_list<double> noises_ns) {
  std::vector<Measurement> rounds;
  for (const double noise_ns : noises_ns) rounds.push_back(with_slower_store(noise_ns));
  return rounds;
}

FittedProfile fit(const std::vector<Measurement>& rounds) {
  return fit_profile(rounds, two_clients, card());
}

const ShownCost& work_of(const FittedProfile& fitted) { return fitted.costs.back(); }

double client_ps(const Profile& profile) {
  return static_cast<double>(profile.operation_ps + profile.round_trip_ps);
}

TEST(Spread, OfFewValuesIsAllOfThem) {
  const Spread one = spread_of({5});
  EXPECT_EQ(one.low, 5);
  EXPECT_EQ(one.high, 5);
  const Spread three = spread_of({7, -2, 5});
  EXPECT_EQ(three.median, 5);
  EXPECT_EQ(three.low, -2);
  EXPECT_EQ(three.high, 7);
  EXPECT_EQ(to_text(three), "5.000 (-2.000 to 7.000 in 3 rounds)");
}

// Fewer than three of 12 values are below the median with a probability of 1.9 %; above it, too.
TEST(Spread, OfManyValuesLeavesTheOutermostOut) {
  const Spread twelve = spread_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_EQ(twelve.low, 3);
  EXPECT_EQ(twelve.high, 10);
  EXPECT_EQ(twelve.values, 12U);
}

TEST(Noise, SmallerThanTheClientsWorkLeavesItTold) {
  const FittedProfile fitted = fit(with_slower_stores({-100, 0, 100}));
  EXPECT_THAT(untold(fitted), IsEmpty());
  EXPECT_NEAR(work_of(fitted).ns.median, work_ns, 10);
  EXPECT_NEAR(work_of(fitted).ns.low, work_ns - 100, 10);
  EXPECT_NEAR(work_of(fitted).ns.high, work_ns + 100, 10);
  EXPECT_NEAR(client_ps(fitted.profile), 1e3 * work_ns, 1e4);
}

// The store was measured while other programs left it more of the processor than the raw requests.
TEST(Noise, ThatMakesTheClientFreeIsReportedWithItsErrorBars) {
  const FittedProfile fitted = fit(with_slower_stores({-2'000, -1'000, 300}));
  EXPECT_EQ(client_ps(fitted.profile), 0);
  EXPECT_FALSE(is_told(work_of(fitted)));
  EXPECT_THAT(untold(fitted), HasSubstr("operation_ns + round_trip_ns: -5"));
  EXPECT_THAT(untold(fitted), HasSubstr(" in 3 rounds)"));
  EXPECT_THAT(untold(fitted), Not(HasSubstr("post_ns")));
}

// The median is plausible, but the rounds do not even agree on its sign.
TEST(Noise, GreaterThanAPlausibleValueHidesIt) {
  const FittedProfile fitted = fit(with_slower_stores({-2'000, 0, 2'000}));
  EXPECT_GT(client_ps(fitted.profile), 0);
  EXPECT_THAT(untold(fitted), HasSubstr("operation_ns + round_trip_ns: 4"));
}

// Other programs slow the READs of two rounds down, and each round trip of their GETs as much.
TEST(Noise, OfAWholeRoundDoesNotHideTheClientsWork) {
  std::vector<Measurement> rounds = with_slower_stores({0, 5'000, 9'000});
  for (MeasuredLoad& each : rounds[1].loads) each.cost.latency_ns += 5'000;
  for (MeasuredLoad& each : rounds[2].loads) each.cost.latency_ns += 9'000;
  StoreLatency predicted = with_slower_store(5'000).store;  // as the median of the READs
  predicted.absent_ns -= 430;
  predicted.present_ns -= 430 + 120;
  const ClientWork work = client_work(rounds, predicted);
  EXPECT_NEAR(work.first_round_trip_ns.low, 430, 1e-6);
  EXPECT_NEAR(work.first_round_trip_ns.high, 430, 1e-6);
  EXPECT_NEAR(work.further_round_trip_ns.low, 120, 1e-6);
  EXPECT_NEAR(work.further_round_trip_ns.high, 120, 1e-6);
}

TEST(Noise, InTheProcessorsCostsIsReported) {
  Measurement round = without_noise();
  round.processor.hash.ns_per_byte = -0.5;
  round.processor.lock_ns = 1e6;  // two of them would be more than posting takes
  FittedProfile fitted;
  fitted.costs = shown_costs({round}, client_work({round}, {}));
  EXPECT_THAT(untold(fitted), HasSubstr("hash_ns_per_byte: -0.500 (-0.500 to -0.500 in 1 round)"));
  EXPECT_THAT(untold(fitted), HasSubstr("post_ns: -"));
  EXPECT_THAT(untold(fitted), Not(HasSubstr("copy_ns_per_byte")));
}

// Hands out prepared rounds, three for each measurement.
class PreparedRounds {
 public:
  explicit PreparedRounds(std::vector<Measurement> rounds) : rounds_(std::move(rounds)) {}

  tl::expected<std::vector<Measurement>, std::string> operator()() {
    if (rounds_.size() < 3 * (measurements + 1))
      return tl::unexpected(std::string("no more rounds"));
    const auto begin = rounds_.begin() + static_cast<std::ptrdiff_t>(3 * measurements);
    ++measurements;
    return std::vector<Measurement>(begin, begin + 3);
  }

  std::size_t measurements = 0;

 private:
  std::vector<Measurement> rounds_;
};

tl::expected<Calibrated, std::string> calibrate_with(PreparedRounds& rounds,
                                                     std::vector<std::string>& repeated) {
  return calibrate([&] { return rounds(); }, two_clients, card(),
                   [&](const std::string& untold) { repeated.push_back(untold); });
}

TEST(Repetition, EndsAsSoonAsAllRoundsTogetherTell) {
  PreparedRounds rounds(with_slower_stores({0, -2'000, 2'000, 0, 10, -10, 20, -20, 30}));
  std::vector<std::string> repeated;
  const auto calibrated = calibrate_with(rounds, repeated);
  ASSERT_TRUE(calibrated.has_value()) << calibrated.error();
  EXPECT_EQ(rounds.measurements, 3U);
  ASSERT_EQ(repeated.size(), 2U);
  EXPECT_THAT(repeated.front(), HasSubstr("in 3 rounds"));
  EXPECT_THAT(untold(calibrated->fitted), IsEmpty());
  EXPECT_NEAR(client_ps(calibrated->fitted.profile), 1e3 * work_ns, 5e4);
}

TEST(Repetition, DoesNotFollowRoundsThatTell) {
  PreparedRounds rounds(with_slower_stores({0, 10, -10}));
  std::vector<std::string> repeated;
  ASSERT_TRUE(calibrate_with(rounds, repeated).has_value());
  EXPECT_EQ(rounds.measurements, 1U);
  EXPECT_THAT(repeated, IsEmpty());
}

TEST(Repetition, EndsAfterTheMostAndCannotTell) {
  PreparedRounds rounds(std::vector<Measurement>(30, with_slower_store(-1'000)));
  std::vector<std::string> repeated;
  const auto calibrated = calibrate_with(rounds, repeated);
  ASSERT_TRUE(calibrated.has_value()) << calibrated.error();
  EXPECT_EQ(rounds.measurements, most_repetitions + 1);
  EXPECT_EQ(repeated.size(), most_repetitions);
  EXPECT_THAT(untold(calibrated->fitted), HasSubstr("in 12 rounds"));
}

TEST(Repetition, PassesTheErrorOfAPartyOn) {
  PreparedRounds rounds(with_slower_stores({-1'000, -1'000, -1'000}));
  std::vector<std::string> repeated;
  const auto calibrated = calibrate_with(rounds, repeated);
  ASSERT_FALSE(calibrated.has_value());
  EXPECT_EQ(calibrated.error(), "no more rounds");
}

TEST(Source, HasTheErrorBarsOfACost) {
  const std::vector<ShownCost> costs{
      {.values = {"lock_ns"}, .ns = spread_of({4, 5, 6})},
      {.values = {"operation_ns", "round_trip_ns"}, .ns = spread_of({90, 100, 120})}};
  EXPECT_THAT(source_of("lock_ns", "measured", costs, card()),
              HasSubstr("; lock_ns: 5.000 (4.000 to 6.000 in 3 rounds)"));
  EXPECT_THAT(source_of("round_trip_ns", "measured", costs, card()),
              HasSubstr("; operation_ns + round_trip_ns: 100.000 (90.000 to 120.000 in 3 rounds)"));
}

}  // namespace
}  // namespace falafel::calibration
