// The schedules of tests/replays/replicated still violate the same property with the same trace
// hash, and their scenarios hold with all safeguards on.
#include <gtest/gtest.h>

#include "stores/replicated/options.h"
#include "tests/scenarios/findings/findings.h"
#include "tools/scenarios/replicated/program.h"

namespace falafel::replicated_scenario {
namespace {

TEST(Findings, Replay) {
  // All but read-after-mark, of which no schedule is known.
  ASSERT_EQ(findings::replays_in("replicated").size(),
            replicated::safeguard_descriptions.size() - 1);
  findings::expect_violations(*make_program(), "replicated", "docs/replication.md");
}

TEST(Findings, DoNotHappenWithAllSafeguards) {
  findings::expect_none_with_all_safeguards(*make_program(), "replicated");
}

}  // namespace
}  // namespace falafel::replicated_scenario
