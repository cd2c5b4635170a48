// Campaigns of Troost's store: with all safeguards, all properties hold on every transport; without
// one of them, the fuzzer finds a violation.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "explorer/campaign.h"
#include "tests/explorer/describe_findings.h"
#include "tools/scenarios/two_sided/program.h"

namespace falafel::two_sided_scenario {
namespace {

using fabric::Transport;

explorer::CampaignResult run(const explorer::Program& program, std::uint64_t schedules,
                             bool stops_at_violation) {
  explorer::CampaignOptions options;
  options.schedules = schedules;
  options.jobs = 2;
  options.stops_at_violation = stops_at_violation;
  return explorer::run_campaign(program, options);
}

class TwoSided : public testing::TestWithParam<Transport> {};
INSTANTIATE_TEST_SUITE_P(Each, TwoSided,
                         testing::Values(Transport::reliable_connection,
                                         Transport::unreliable_connection,
                                         Transport::unreliable_datagram, Transport::message_stream),
                         [](const auto& tested) {
                           return std::string(make_program(tested.param)->name().substr(10));
                         });

TEST_P(TwoSided, HoldsWithAllSafeguards) {
  const auto result = run(*make_program(GetParam()), 3'000, false);
  EXPECT_EQ(describe_findings(result), "");
  EXPECT_EQ(result.unknown, 0U);
}

TEST_P(TwoSided, DoesNotHoldWithoutASafeguard) {
  const auto program = make_program(GetParam());
  for (const std::string& safeguard : program->safeguards()) {
    const auto result = run(*program->without(safeguard), 100'000, true);
    EXPECT_FALSE(result.holds()) << result.schedules << " schedules hold without " << safeguard;
  }
}

// RC and TCP neither lose nor repeat messages.
TEST_P(TwoSided, HasTheSafeguardsThatMatter) {
  std::vector<std::string> expected{"bucket-mutexes", "lookup-mutexes", "pair-before-bucket",
                                    "pair-locks",     "time-outs",      "waiting-locks",
                                    "whole-keys"};
  if (GetParam() == Transport::unreliable_connection ||
      GetParam() == Transport::unreliable_datagram) {
    expected.insert(expected.end(), {"request-deduplication", "response-matching"});
    std::ranges::sort(expected);
  }
  EXPECT_EQ(make_program(GetParam())->safeguards(), expected);
}

}  // namespace
}  // namespace falafel::two_sided_scenario
