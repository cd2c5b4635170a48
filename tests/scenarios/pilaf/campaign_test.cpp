// Campaigns of Pilaf: with all safeguards, all properties hold; without one of them, or as
// published, the fuzzer finds a violation.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "explorer/campaign.h"
#include "tests/explorer/describe_findings.h"
#include "tools/scenarios/pilaf/program.h"

namespace falafel::pilaf_scenario {
namespace {

using pilaf::GetPath;

// Rare failures come soon after these seeds.
const std::map<std::string_view, std::uint64_t> first_seeds{
    {"absence-validation", 17'001}, {"bounded-retries", 21'001}, {"entry-checksums", 58'001},
    {"extent-checksums", 3'001},    {"keyed-checksums", 6'001},  {"moves-from-the-end", 71'501},
    {"record-checksums", 1'501}};

explorer::CampaignResult run(const explorer::Program& program, std::uint64_t first_seed,
                             std::uint64_t schedules, bool stops_at_violation) {
  explorer::CampaignOptions options;
  options.first_seed = first_seed;
  options.schedules = schedules;
  options.jobs = 2;
  options.stops_at_violation = stops_at_violation;
  return explorer::run_campaign(program, options);
}

TEST(Pilaf, HoldsWithAllSafeguards) {
  const auto result = run(*make_program(GetPath::reads), 1, 5'000, false);
  EXPECT_EQ(describe_findings(result), "");
  EXPECT_EQ(result.unknown, 0U);
}

TEST(PilafVo, HoldsWithAllSafeguards) {
  const auto result = run(*make_program(GetPath::messages), 1, 5'000, false);
  EXPECT_EQ(describe_findings(result), "");
  EXPECT_EQ(result.unknown, 0U);
}

class Without : public testing::TestWithParam<pilaf::SafeguardDescription> {};

TEST_P(Without, ASafeguardItDoesNotHold) {
  const auto program = make_program(GetPath::reads)->without(std::string(GetParam().name));
  const auto rare = first_seeds.find(GetParam().name);
  const auto result = run(*program, rare == first_seeds.end() ? 1 : rare->second, 300'000, true);
  EXPECT_FALSE(result.holds()) << result.schedules << " schedules hold without " << GetParam().name;
}
INSTANTIATE_TEST_SUITE_P(Each, Without, testing::ValuesIn(pilaf::safeguard_descriptions),
                         [](const auto& tested) {
                           std::string name(tested.param.name);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace falafel::pilaf_scenario
