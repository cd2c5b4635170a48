// The schedules of tests/replays/two-sided still violate the same property with the same trace
// hash, and their scenarios hold with all safeguards on.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/scenarios/findings/findings.h"
#include "tools/scenarios/two_sided/program.h"

namespace falafel::two_sided_scenario {
namespace {

using fabric::Transport;

// The replay files of a transport are in a folder of its name.
class Findings : public testing::TestWithParam<Transport> {
 protected:
  std::string folder() const {
    return "two-sided/" + std::string(program_->name().substr(std::string("two-sided-").size()));
  }

  std::unique_ptr<check::WorldProgram> program_ = make_program(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Each, Findings,
                         testing::Values(Transport::reliable_connection,
                                         Transport::unreliable_connection,
                                         Transport::unreliable_datagram,
                                         Transport::message_stream));

TEST_P(Findings, Replay) {
  // A hang of UD is due to a way of waiting, which is no safeguard.
  const std::size_t hangs = GetParam() == Transport::unreliable_datagram ? 1 : 0;
  ASSERT_EQ(findings::replays_in(folder()).size(), program_->safeguards().size() + hangs);
  findings::expect_violations(*program_, folder(), "docs/stores/two-sided.md");
}

TEST_P(Findings, DoNotHappenWithAllSafeguards) {
  findings::expect_none_with_all_safeguards(*program_, folder());
}

}  // namespace
}  // namespace falafel::two_sided_scenario
