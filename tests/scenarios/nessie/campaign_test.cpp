// Concurrent operations under many schedules, of the three versions of Nessie.
#include <gtest/gtest.h>

#include "explorer/check.h"
#include "tools/scenarios/nessie/program.h"

namespace falafel::nessie_scenario_test {
namespace {

using nessie::Architecture;
using nessie_scenario::make_program;
using nessie_scenario::Variant;

check::Options campaign(std::uint64_t schedules) {
  return {.schedules = schedules, .shrink_seconds = 0, .output = testing::TempDir()};
}

class Nessie : public testing::TestWithParam<Architecture> {};
INSTANTIATE_TEST_SUITE_P(Each, Nessie,
                         testing::Values(Architecture::client_driven, Architecture::server_driven,
                                         Architecture::hybrid),
                         [](const auto& tested) {
                           return nessie_scenario::name_of({.architecture = tested.param})
                               .substr(std::string("nessie-").size());
                         });

TEST_P(Nessie, HoldsWithAllSafeguards) {
  const auto program = make_program({.architecture = GetParam()});
  const check::Result result = check::run_campaign(*program, campaign(3'000), {});
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST_P(Nessie, FailsAsPublished) {
  const auto program = make_program({.architecture = GetParam(), .variant = Variant::published});
  const check::Result result = check::run_campaign(*program, campaign(20'000), {});
  EXPECT_FALSE(result.holds());
}

}  // namespace
}  // namespace falafel::nessie_scenario_test
