// Mistakes of public programs, written again as programs in C: each is found, and its cure holds.
// docs/verbs-programs.md tells them.
#include <gtest/gtest.h>

#include <string>

#include "explorer/check.h"
#include "simulated_verbs/programs.h"
#include "tests/simulated_verbs/reports/reports.h"

namespace falafel::simulated_verbs {
namespace {

struct Report {
  const char* name;
  int (*server)(int cured);
  int (*client)(int cured);
  // Devices of some vendors have equal keys, so those that differ are no drawn option.
  bool has_distinct_keys = false;
};

check::Result run(const Report& report, bool cured, std::uint64_t schedules) {
  return check::random({.name = std::string(report.name) + (cured ? "-cured" : ""),
                        .schedules = schedules,
                        // Runs that never end take long to shrink, which is not the matter here.
                        .shrink_seconds = 0.2,
                        .critical_tries = 1,
                        .output = testing::TempDir(),
                        .network = {.adjust =
                                        [&](sim::SimulationOptions& options) {
                                          options.max_inline_bytes = 64;
                                          options.distinct_keys = report.has_distinct_keys;
                                        }}},
                       [&](check::World& world) {
                         Programs programs(world);
                         programs.client("server", [&] { return report.server(cured ? 1 : 0); });
                         programs.client("client", [&] { return report.client(cured ? 1 : 0); });
                         world.run();
                       });
}

class VerbsReport : public testing::TestWithParam<Report> {};

TEST_P(VerbsReport, IsFound) {
  const check::Result result = run(GetParam(), false, 5'000);
  EXPECT_FALSE(result.holds()) << result.story();
}

TEST_P(VerbsReport, IsCured) {
  const check::Result result = run(GetParam(), true, 300);
  EXPECT_TRUE(result.holds()) << result.story();
}

INSTANTIATE_TEST_SUITE_P(
    All, VerbsReport,
    testing::Values(
        Report{"buffer_reuse", buffer_reuse_server, buffer_reuse_client},
        Report{"armed_late", armed_late_server, armed_late_client},
        Report{"full_queue", full_queue_server, full_queue_client},
        Report{"late_receive", late_receive_server, late_receive_client},
        Report{"lost_receives", lost_receives_server, lost_receives_client},
        Report{"early_answer", early_answer_server, early_answer_client},
        Report{"late_write", late_write_server, late_write_client},
        Report{"failed_opcode", failed_opcode_server, failed_opcode_client},
        Report{"timed_out_buffer", timed_out_buffer_server, timed_out_buffer_client},
        Report{"inline_limit", inline_limit_server, inline_limit_client},
        Report{"fixed_mtu", fixed_mtu_server, fixed_mtu_client},
        Report{"local_key", local_key_server, local_key_client, true},
        Report{"lost_shared_receives", lost_shared_receives_server, lost_shared_receives_client},
        Report{"unacknowledged", unacknowledged_server, unacknowledged_client},
        Report{"after_accept", after_accept_server, after_accept_client},
        Report{"private_length", private_length_server, private_length_client},
        Report{"late_event", late_event_server, late_event_client},
        Report{"acknowledged_twice", acknowledged_twice_server, acknowledged_twice_client}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace falafel::simulated_verbs
