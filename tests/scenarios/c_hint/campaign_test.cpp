// Campaigns of C-Hint: with all safeguards, all properties hold; without one of them, the fuzzer
// finds a violation.
#include <gtest/gtest.h>

#include <string>

#include "explorer/campaign.h"
#include "stores/c_hint/options.h"
#include "tests/explorer/describe_findings.h"
#include "tools/scenarios/c_hint/program.h"

namespace falafel::c_hint_scenario {
namespace {

explorer::CampaignResult run(const explorer::Program& program, std::uint64_t schedules,
                             bool stops_at_violation) {
  explorer::CampaignOptions options;
  options.schedules = schedules;
  options.jobs = 2;
  options.stops_at_violation = stops_at_violation;
  return explorer::run_campaign(program, options);
}

TEST(CHint, HoldsWithAllSafeguards) {
  const auto result = run(*make_program(), 5'000, false);
  EXPECT_EQ(describe_findings(result), "");
  EXPECT_EQ(result.unknown, 0U);
}

class Without : public testing::TestWithParam<c_hint::SafeguardDescription> {};

TEST_P(Without, ASafeguardItDoesNotHold) {
  const auto program = make_program()->without(std::string(GetParam().name));
  const auto result = run(*program, 20'000, true);
  EXPECT_FALSE(result.holds()) << result.schedules << " schedules hold without " << GetParam().name;
}
INSTANTIATE_TEST_SUITE_P(Each, Without, testing::ValuesIn(c_hint::safeguard_descriptions),
                         [](const auto& tested) {
                           std::string name(tested.param.name);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace falafel::c_hint_scenario
