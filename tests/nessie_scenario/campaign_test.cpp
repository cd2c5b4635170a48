// Concurrent operations under many schedules.
#include <gtest/gtest.h>

#include "explorer/check.h"
#include "tools/nessie_scenario/program.h"

namespace falafel::nessie_scenario_test {
namespace {

check::Options campaign(std::uint64_t schedules) {
  return {.schedules = schedules, .shrink_seconds = 0, .output = testing::TempDir()};
}

TEST(NessieScenario, HoldsWithAllSafeguards) {
  const auto program = nessie_scenario::make_program(nessie_scenario::Variant::hardened);
  const check::Result result = check::run_campaign(*program, campaign(3'000), {});
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(NessieScenario, FailsAsPublished) {
  const auto program = nessie_scenario::make_program(nessie_scenario::Variant::published);
  const check::Result result = check::run_campaign(*program, campaign(20'000), {});
  EXPECT_FALSE(result.holds());
}

}  // namespace
}  // namespace falafel::nessie_scenario_test
