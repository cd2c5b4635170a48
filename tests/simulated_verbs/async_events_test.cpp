// Asynchronous events: of queue pairs that fail, and of shared receive queues that run empty.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "tests/simulated_verbs/two_programs.h"

namespace falafel::simulated_verbs {
namespace {

void expect_event(TwoPrograms& run, const Endpoint& endpoint, ibv_event_type type) {
  ibv_async_event event{};
  run.expect_equal(ibv_get_async_event(endpoint.context, &event), 0, "the event");
  run.expect_equal(event.event_type, type, "its type");
  const bool is_of_queue = type == IBV_EVENT_SRQ_LIMIT_REACHED;
  run.expect(is_of_queue ? event.element.srq == endpoint.srq : event.element.qp == endpoint.qp,
             "its object");
  ibv_ack_async_event(&event);
}

// Reads memory that it may not read.
void trespass(TwoPrograms& run) {
  Endpoint endpoint;
  const Card peer = run.connect(endpoint, "left", "right");
  const ibv_send_wr read = endpoint.to_peer(IBV_WR_RDMA_READ, 0, 8, peer, 0);
  run.expect_equal(endpoint.run(read), IBV_WC_REM_ACCESS_ERR, "READ");
}

// The queue pair may already be in error when this returns.
void admit_requests(TwoPrograms& run, Endpoint& endpoint) {
  endpoint.to_init();
  run.exchange.offer("right", endpoint.card());
  endpoint.to_rtr(run.exchange.await("left"));
}

TEST(AsyncEvents, TellTheResponderOfARefusedRequest) {
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint({.region_rights = IBV_ACCESS_LOCAL_WRITE});
    admit_requests(run, endpoint);
    pollfd polled{.fd = endpoint.context->async_fd, .events = POLLIN, .revents = 0};
    run.expect_equal(poll(&polled, 1, -1), 1, "the descriptor");
    expect_event(run, endpoint, IBV_EVENT_QP_ACCESS_ERR);
    run.expect_equal(poll(&polled, 1, 0), 0, "the descriptor afterwards");
    fcntl(endpoint.context->async_fd, F_SETFL, O_NONBLOCK);
    ibv_async_event event{};
    run.expect_equal(ibv_get_async_event(endpoint.context, &event), -1, "a second event");
    run.expect_equal(errno, EAGAIN, "its reason");
    run.expect_equal(ibv_destroy_qp(endpoint.qp), 0, "destroying the queue pair");
  };
  const check::Result result = run_two_programs("refused-access", trespass, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(AsyncEvents, HoldUpDestructionUntilTheyAreAcknowledged) {
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint({.region_rights = IBV_ACCESS_LOCAL_WRITE});
    admit_requests(run, endpoint);
    ibv_async_event event{};
    run.expect_equal(ibv_get_async_event(endpoint.context, &event), 0, "the event");
    ibv_destroy_qp(endpoint.qp);
  };
  const check::Result result = run_two_programs("unacknowledged", trespass, right);
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failures.front().property, check::stuck_property);
}

TEST(AsyncEvents, AreGoneWithTheirQueuePair) {
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint({.region_rights = IBV_ACCESS_LOCAL_WRITE});
    admit_requests(run, endpoint);
    pollfd polled{.fd = endpoint.context->async_fd, .events = POLLIN, .revents = 0};
    run.expect_equal(poll(&polled, 1, -1), 1, "the descriptor");
    ibv_destroy_qp(endpoint.qp);
    run.expect_equal(poll(&polled, 1, 0), 0, "the descriptor without the queue pair");
  };
  const check::Result result = run_two_programs("gone", trespass, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(AsyncEvents, TellThatASharedReceiveQueueRunsEmpty) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    run.connect(endpoint, "left", "right");
    run.exchange.await("ready");
    for (int message = 0; message < 2; ++message) {
      run.expect_equal(endpoint.run(endpoint.request(IBV_WR_SEND, 0, 8)), IBV_WC_SUCCESS, "SEND");
    }
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint({.with_shared_receives = true});
    for (std::uint64_t index = 0; index < 3; ++index) endpoint.post_receive(index, 64, 8);
    ibv_srq_attr limits{};
    limits.srq_limit = endpoint.options.max_recv_wr + 1;
    run.expect_equal(ibv_modify_srq(endpoint.srq, &limits, IBV_SRQ_LIMIT), EINVAL, "a large limit");
    limits.srq_limit = 2;
    run.expect_equal(ibv_modify_srq(endpoint.srq, &limits, IBV_SRQ_LIMIT), 0, "the limit");
    ibv_query_srq(endpoint.srq, &limits);
    run.expect_equal(limits.srq_limit, 2U, "the limit that it tells");
    run.connect(endpoint, "right", "left");
    run.exchange.offer("ready", endpoint.card());
    expect_event(run, endpoint, IBV_EVENT_SRQ_LIMIT_REACHED);
    ibv_query_srq(endpoint.srq, &limits);
    run.expect_equal(limits.srq_limit, 0U, "the limit after its event");
  };
  const check::Result result = run_two_programs("limit", left, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

// After the event, no message of this queue pair arrives any more.
TEST(AsyncEvents, TellThatAQueuePairTakesNoMoreReceiveRequests) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    const Card peer = run.connect(endpoint, "left", "right");
    ibv_send_wr write = endpoint.to_peer(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 64, peer, 0);
    endpoint.post(write);
    endpoint.complete();
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint({.with_shared_receives = true});
    endpoint.post_receive(1, 64, 8);
    run.connect(endpoint, "right", "left");
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    run.expect_equal(ibv_modify_qp(endpoint.qp, &attributes, IBV_QP_STATE), 0, "the error");
    expect_event(run, endpoint, IBV_EVENT_QP_LAST_WQE_REACHED);
    ibv_wc completion{};
    while (ibv_poll_cq(endpoint.cq, 1, &completion) > 0) {
    }
    run.expect_equal(usleep(1'000), 0, "sleeping");
    run.expect_equal(ibv_poll_cq(endpoint.cq, 1, &completion), 0, "completions after the event");
  };
  const check::Result result = run_two_programs("last-request", left, right, 300);
  EXPECT_TRUE(result.holds()) << result.story();
}

}  // namespace
}  // namespace falafel::simulated_verbs
