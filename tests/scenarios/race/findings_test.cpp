// The schedules of tests/replays/race still violate the same property with the same trace hash, and
// their scenarios hold with all safeguards on.
#include <gtest/gtest.h>

#include "stores/race/options.h"
#include "tests/scenarios/findings/findings.h"
#include "tools/scenarios/race/program.h"

namespace falafel::race_scenario {
namespace {

TEST(Findings, Replay) {
  // All but absence validation (docs/stores/race.md).
  ASSERT_EQ(findings::replays_in("race").size(), race::safeguard_descriptions.size() - 1);
  findings::expect_violations(*make_program(), "race", "docs/stores/race.md");
}

TEST(Findings, DoNotHappenWithAllSafeguards) {
  findings::expect_none_with_all_safeguards(*make_program(), "race");
}

}  // namespace
}  // namespace falafel::race_scenario
