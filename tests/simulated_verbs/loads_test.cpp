// Programs whose plain loads and stores are steps of the simulator. docs/verbs-programs.md tells
// what that shows.
#include <gtest/gtest.h>

#include <string>

#include "explorer/check.h"
#include "simulated_verbs/programs.h"
#include "tests/simulated_verbs/loads/loads.h"
#include "tests/simulated_verbs/programs_of_test.h"

namespace falafel::simulated_verbs {
namespace {

struct Pair {
  const char* name;
  int (*server)(int cured);
  int (*client)(int cured);
};

void add(Programs& programs, const Pair& pair, bool cured) {
  programs.client("server", [=] { return pair.server(cured ? 1 : 0); });
  programs.client("client", [=] { return pair.client(cured ? 1 : 0); });
}

class PollingProgram : public testing::TestWithParam<Pair> {};

TEST_P(PollingProgram, EndsWhenTheValueIsThere) {
  expect_success([](Programs& programs) { add(programs, GetParam(), true); }, {}, 200);
}

TEST_P(PollingProgram, RunsTheSameWayAgain) {
  expect_same_run_twice([](Programs& programs) { add(programs, GetParam(), true); }, 20);
}

class LoadingProgram : public testing::TestWithParam<Pair> {};

check::Result run(const Pair& pair, bool cured, std::uint64_t schedules) {
  return check::random({.name = std::string(pair.name) + (cured ? "-cured" : ""),
                        .schedules = schedules,
                        .shrink_seconds = 0.2,
                        .critical_tries = 1,
                        .output = testing::TempDir()},
                       [&](check::World& world) {
                         Programs programs(world);
                         add(programs, pair, cured);
                         world.run();
                       });
}

TEST_P(LoadingProgram, IsFound) {
  const check::Result result = run(GetParam(), false, 5'000);
  EXPECT_FALSE(result.holds());
  EXPECT_NE(result.story().find("status 2"), std::string::npos) << result.story();
}

TEST_P(LoadingProgram, IsCured) {
  const check::Result result = run(GetParam(), true, 500);
  EXPECT_TRUE(result.holds()) << result.story();
}

std::string name_of(const testing::TestParamInfo<Pair>& tested) { return tested.param.name; }

INSTANTIATE_TEST_SUITE_P(
    All, PollingProgram,
    testing::Values(Pair{"polled_flag", polled_flag_server, polled_flag_client},
                    Pair{"atomic_flag", atomic_flag_server, atomic_flag_client},
                    Pair{"polled_thread", polled_thread_server, polled_thread_client}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    All, LoadingProgram,
    testing::Values(Pair{"flag_before_data", flag_before_data_server, flag_before_data_client},
                    Pair{"flag_behind_data", flag_behind_data_server, flag_behind_data_client},
                    Pair{"borrowed_buffer", borrowed_buffer_server, borrowed_buffer_client},
                    Pair{"torn_copy", torn_copy_server, torn_copy_client}),
    name_of);

}  // namespace
}  // namespace falafel::simulated_verbs
