// The schedules of tests/replays/swarm still violate the same property with the same trace
// hash, and their scenarios hold with all safeguards on.
#include <gtest/gtest.h>

#include "stores/swarm/options.h"
#include "tests/scenarios/findings/findings.h"
#include "tools/scenarios/swarm/program.h"

namespace falafel::swarm_findings_test {
namespace {

TEST(Findings, Replay) {
  // All but ended-guesses, of which no schedule is known.
  ASSERT_EQ(findings::replays_in("swarm").size(), swarm::safeguard_descriptions.size() - 1);
  findings::expect_violations(*swarm_scenario::make_program(), "swarm", "docs/stores/swarm.md");
}

TEST(Findings, DoNotHappenWithAllSafeguards) {
  findings::expect_none_with_all_safeguards(*swarm_scenario::make_program(), "swarm");
}

}  // namespace
}  // namespace falafel::swarm_findings_test
