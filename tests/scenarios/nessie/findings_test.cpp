// The schedules of tests/replays/nessie still violate the same property with the same trace
// hash, and their scenarios hold with all safeguards on.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/scenarios/findings/findings.h"
#include "tools/scenarios/nessie/program.h"

namespace falafel::nessie_scenario_test {
namespace {

using nessie::Architecture;

// The replay files of a version are in a folder of its name.
class NessieFindings : public testing::TestWithParam<Architecture> {
 protected:
  std::string folder() const {
    return "nessie/" + std::string(program_->name().substr(std::string("nessie-").size()));
  }

  std::unique_ptr<check::WorldProgram> program_ =
      nessie_scenario::make_program({.architecture = GetParam()});
};
INSTANTIATE_TEST_SUITE_P(Each, NessieFindings,
                         testing::Values(Architecture::client_driven, Architecture::server_driven,
                                         Architecture::hybrid));

TEST_P(NessieFindings, Replay) {
  ASSERT_FALSE(findings::replays_in(folder()).empty());
  findings::expect_violations(*program_, folder(), "docs/stores/nessie.md");
}

TEST_P(NessieFindings, DoNotHappenWithAllSafeguards) {
  findings::expect_none_with_all_safeguards(*program_, folder());
}

}  // namespace
}  // namespace falafel::nessie_scenario_test
