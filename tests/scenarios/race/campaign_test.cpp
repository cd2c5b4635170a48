// Campaigns of RACE hashing: with all safeguards, all properties hold; without one of them, or as
// published, the fuzzer finds a violation.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "explorer/campaign.h"
#include "stores/race/options.h"
#include "tests/explorer/describe_findings.h"
#include "tools/scenarios/race/program.h"
#include "tools/scenarios/race/values.h"

namespace falafel::race_scenario {
namespace {

explorer::CampaignResult run(const explorer::Program& program, std::uint64_t schedules,
                             bool stops_at_violation) {
  explorer::CampaignOptions options;
  options.schedules = schedules;
  options.jobs = 2;
  options.stops_at_violation = stops_at_violation;
  return explorer::run_campaign(program, options);
}

TEST(Race, HoldsWithAllSafeguards) {
  const auto program = make_program();
  const auto result = run(*program, 5'000, false);
  EXPECT_EQ(describe_findings(result), "");
  EXPECT_EQ(result.unknown, 0U);
  for (const auto& [name, runs] : program->conditions()) EXPECT_GT(runs, 0U) << name;
}

class Without : public testing::TestWithParam<race::SafeguardDescription> {};

TEST_P(Without, ASafeguardItDoesNotHold) {
  const auto program = make_program()->without(std::string(GetParam().name));
  const auto result = run(*program, 300'000, true);
  EXPECT_FALSE(result.holds()) << result.schedules << " schedules hold without " << GetParam().name;
}

// All but absence validation, without which no search has found a violation (docs/stores/race.md).
std::vector<race::SafeguardDescription> safeguards_with_findings() {
  std::vector<race::SafeguardDescription> safeguards;
  std::ranges::copy_if(
      race::safeguard_descriptions, std::back_inserter(safeguards),
      [](const auto& safeguard) { return safeguard.name != "absence-validation"; });
  return safeguards;
}
INSTANTIATE_TEST_SUITE_P(Each, Without, testing::ValuesIn(safeguards_with_findings()),
                         [](const auto& tested) {
                           std::string name(tested.param.name);
                           std::erase(name, '-');
                           return name;
                         });

TEST(Values, TellWhetherSomebodyWroteThem) {
  for (const char* const name : {"1", "12", "999"}) {
    auto bytes = encode_value(name);
    EXPECT_EQ(decode_value(bytes), name);
    bytes.back() ^= std::byte{1};
    EXPECT_NE(decode_value(bytes), name);
  }
  EXPECT_EQ(decode_value({}), "0 bytes that nobody wrote");
}

}  // namespace
}  // namespace falafel::race_scenario
