// Compares the frequencies of the zipfian generators with the definition of the distribution and
// with YCSB.
#include "tools/benchmarks/store/zipfian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace falafel::store_benchmark {
namespace {

std::vector<double> frequencies(const Zipfian& zipfian, std::uint64_t draws) {
  fabric::RandomGenerator random(1);
  std::vector<double> counts(zipfian.items());
  for (std::uint64_t draw = 0; draw < draws; ++draw) counts.at(zipfian.next(random)) += 1;
  for (double& count : counts) count /= static_cast<double>(draws);
  return counts;
}

// Gray's method is exact for the first two ranks.
TEST(Zipfian, FirstRanksComeAsOftenAsTheDistributionSays) {
  constexpr std::uint64_t items = 1'000;
  constexpr std::uint64_t draws = 1'000'000;
  const std::vector<double> seen = frequencies(Zipfian(items), draws);
  const double first = 1 / zeta(0, items);
  EXPECT_NEAR(seen[0], first, 0.002);
  EXPECT_NEAR(seen[1], first / std::pow(2, zipfian_constant), 0.002);
}

// Further ranks are approximate, but their sums are close.
TEST(Zipfian, TheFirstHundredRanksHaveTheirShare) {
  constexpr std::uint64_t items = 10'000;
  const std::vector<double> seen = frequencies(Zipfian(items), 1'000'000);
  double share = 0;
  for (std::size_t rank = 0; rank < 100; ++rank) share += seen[rank];
  EXPECT_NEAR(share, zeta(0, 100) / zeta(0, items), 0.02);
}

TEST(Zipfian, ZetaIsWhatYcsbHasForTenThousandMillionItems) {
  // The sum of the first million terms, and the integral of the rest.
  constexpr double first = 1e6;
  const double rest = (std::pow(1e10, 0.01) - std::pow(first, 0.01)) / 0.01;
  EXPECT_NEAR(zeta(0, 1'000'000) + rest, 26.469'028'201'783'02, 1e-4);
}

TEST(Zipfian, AnItemAddedIsAsIfItHadBeenThereFromTheBeginning) {
  Zipfian grown(100);
  for (int item = 0; item < 50; ++item) grown.add_item();
  const Zipfian whole(150);
  fabric::RandomGenerator random(7);
  fabric::RandomGenerator same(7);
  for (int draw = 0; draw < 10'000; ++draw) ASSERT_EQ(grown.next(random), whole.next(same));
}

// Utils.fnvhash64 of YCSB returns the absolute value. The value for 0 was computed by hand (FNV-1a
// over eight zero bytes).
TEST(Scatter, IsFnvOverEightBytes) {
  std::uint64_t expected = 0xcbf2'9ce4'8422'2325;
  for (int byte = 0; byte < 8; ++byte) expected *= 0x100'0000'01b3;
  if (expected >> 63U != 0) expected = 0 - expected;
  EXPECT_EQ(scatter(0), expected);
  EXPECT_EQ(scatter(1) >> 63U, 0U);
}

TEST(ScrambledZipfian, TheMostPopularKeyHasYcsbsShareWhateverTheNumberOfKeys) {
  constexpr double share = 1 / 26.469'028'201'783'02;
  for (const std::uint64_t keys : {1'000U, 1'000'000U}) {
    const ScrambledZipfian scrambled(keys);
    fabric::RandomGenerator random(3);
    constexpr int draws = 500'000;
    int popular = 0;
    for (int draw = 0; draw < draws; ++draw)
      popular += scrambled.next(random) == scatter(0) % keys ? 1 : 0;
    EXPECT_NEAR(static_cast<double>(popular) / draws, share, 0.003) << keys;
  }
}

TEST(ScrambledZipfian, PopularKeysAreSpreadOut) {
  const ScrambledZipfian scrambled(1'000'000);
  fabric::RandomGenerator random(5);
  std::set<std::uint64_t> tenths;
  for (int draw = 0; draw < 1'000; ++draw) tenths.insert(scrambled.next(random) / 100'000);
  EXPECT_EQ(tenths.size(), 10U);
}

}  // namespace
}  // namespace falafel::store_benchmark
