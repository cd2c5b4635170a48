// The schedules of tests/replays/c-hint still violate the same property with the same trace
// hash, and their scenarios hold with all safeguards on.
#include <gtest/gtest.h>

#include "stores/c_hint/options.h"
#include "tests/scenarios/findings/findings.h"
#include "tools/scenarios/c_hint/program.h"

namespace falafel::c_hint_scenario {
namespace {

TEST(Findings, Replay) {
  ASSERT_EQ(findings::replays_in("c-hint").size(), c_hint::safeguard_descriptions.size());
  findings::expect_violations(*make_program(), "c-hint", "docs/stores/c-hint.md");
}

TEST(Findings, DoNotHappenWithAllSafeguards) {
  findings::expect_none_with_all_safeguards(*make_program(), "c-hint");
}

}  // namespace
}  // namespace falafel::c_hint_scenario
