// Strict runs: calls that the specification forbids are violations, and say what is wrong.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "tests/simulated_verbs/two_programs.h"

namespace falafel::simulated_verbs {
namespace {

check::Result run_alone(const TwoPrograms::Body& program, bool is_strict) {
  return run_two_programs("strict", program, [](TwoPrograms&) {}, 3, {}, {.is_strict = is_strict});
}

// The call fails in any run. In a strict one, that is a violation with this explanation.
void expect_violation(const TwoPrograms::Body& program, const std::string& explanation) {
  const check::Result lenient = run_alone(program, false);
  EXPECT_TRUE(lenient.holds()) << lenient.story();
  const check::Result strict = run_alone(program, true);
  ASSERT_FALSE(strict.holds());
  EXPECT_EQ(strict.failures.front().property, invalid_call_property);
  EXPECT_NE(strict.story().find(explanation), std::string::npos) << strict.story();
}

TEST(StrictRun, NamesTheAttributesThatAChangeLacks) {
  const auto program = [](TwoPrograms& run) {
    const Endpoint endpoint;
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = 1;
    run.expect_equal(ibv_modify_qp(endpoint.qp, &attributes, IBV_QP_STATE | IBV_QP_PORT), EINVAL,
                     "INIT");
  };
  expect_violation(program, "from RESET to INIT lacks IBV_QP_ACCESS_FLAGS, IBV_QP_PKEY_INDEX");
}

TEST(StrictRun, NamesTheAttributesThatAChangeDoesNotTake) {
  const auto program = [](TwoPrograms& run) {
    const Endpoint endpoint;
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    run.expect_equal(ibv_modify_qp(endpoint.qp, &attributes, IBV_QP_STATE | IBV_QP_PORT), EINVAL,
                     "ERR");
  };
  expect_violation(program, "from RESET to ERR does not take IBV_QP_PORT");
}

TEST(StrictRun, NamesTheStatesBetweenWhichThereIsNoChange) {
  const auto program = [](TwoPrograms& run) {
    Endpoint endpoint;
    run.expect_equal(endpoint.to_rts(), EINVAL, "RTS");
  };
  expect_violation(program, "cannot go from RESET to RTS");
}

TEST(StrictRun, NamesTheValueThatIsNotPossible) {
  const auto program = [](TwoPrograms& run) {
    Endpoint endpoint;
    endpoint.to_init();
    Card nobody;
    nobody.lid = 77;
    run.expect_equal(endpoint.to_rtr(nobody), EINVAL, "RTR");
  };
  expect_violation(program, "the value of ah_attr is not possible");
}

TEST(StrictRun, NamesTheStateInWhichAQueuePairCannotSend) {
  const auto program = [](TwoPrograms& run) {
    Endpoint endpoint;
    endpoint.to_init();
    run.expect_equal(endpoint.post(endpoint.request(IBV_WR_SEND, 0, 8)), EINVAL, "SEND");
  };
  expect_violation(program, "a queue pair in INIT cannot send");
}

TEST(StrictRun, NamesAnObjectThatIsInUse) {
  const auto program = [](TwoPrograms& run) {
    const Endpoint endpoint;
    run.expect_equal(ibv_destroy_cq(endpoint.cq), EBUSY, "destroying the queue");
  };
  expect_violation(program, "ibv_destroy_cq: queue pairs use it");
}

TEST(StrictRun, AcceptsAFullQueue) {
  const auto program = [](TwoPrograms& run) {
    Endpoint endpoint({.max_send_wr = 1, .max_recv_wr = 1});
    endpoint.to_init();
    run.expect_equal(endpoint.post_receive(1, 0, 8), 0, "the first receive request");
    run.expect_equal(endpoint.post_receive(2, 0, 8), ENOMEM, "the second one");
  };
  const check::Result result = run_alone(program, true);
  EXPECT_TRUE(result.holds()) << result.story();
}

}  // namespace
}  // namespace falafel::simulated_verbs
