// The schedules of tests/replays/pilaf still violate the same property with the same trace hash,
// and their scenarios hold with all safeguards on.
#include <gtest/gtest.h>

#include "tests/scenarios/findings/findings.h"
#include "tools/scenarios/pilaf/program.h"

namespace falafel::pilaf_scenario {
namespace {

TEST(Findings, Replay) {
  // All but one: a run without bounded retries ends at the limit of steps, so its file is large.
  ASSERT_EQ(findings::replays_in("pilaf").size(), pilaf::safeguard_descriptions.size() - 1);
  findings::expect_violations(*make_program(pilaf::GetPath::reads), "pilaf",
                              "docs/stores/pilaf.md");
}

TEST(Findings, DoNotHappenWithAllSafeguards) {
  findings::expect_none_with_all_safeguards(*make_program(pilaf::GetPath::reads), "pilaf");
}

}  // namespace
}  // namespace falafel::pilaf_scenario
