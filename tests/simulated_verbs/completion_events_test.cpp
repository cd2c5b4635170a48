// Completion queues: events, their well-known race, and queues that are too small.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>

#include "tests/simulated_verbs/two_programs.h"

namespace falafel::simulated_verbs {
namespace {

constexpr std::uint64_t messages = 3;

void send_all(TwoPrograms& run) {
  Endpoint endpoint;
  run.connect(endpoint, "left", "right");
  for (std::uint64_t sent = 0; sent < messages; ++sent) {
    run.expect_equal(endpoint.run(endpoint.request(IBV_WR_SEND, 0, 8)), IBV_WC_SUCCESS, "SEND");
  }
}

// Receives all messages by events. The right order is to arm, to poll until nothing is left, and to
// wait only then.
void receive_all(TwoPrograms& run, bool polls_after_arming) {
  Endpoint endpoint({.with_channel = true});
  endpoint.to_init();
  for (std::uint64_t index = 0; index < messages; ++index) endpoint.post_receive(index, 64, 8);
  run.exchange.offer("right", endpoint.card());
  endpoint.to_rtr(run.exchange.await("left"));
  ibv_wc completion;
  std::uint64_t received = 0;
  const auto poll_all = [&] {
    while (ibv_poll_cq(endpoint.cq, 1, &completion) > 0) ++received;
  };
  for (;;) {
    if (!polls_after_arming) poll_all();
    if (ibv_req_notify_cq(endpoint.cq, 0) != 0) return;
    if (polls_after_arming) poll_all();
    if (received == messages) break;
    ibv_cq* raised = nullptr;
    void* context = nullptr;
    run.expect_equal(ibv_get_cq_event(endpoint.channel, &raised, &context), 0, "the event");
    run.expect(raised == endpoint.cq, "the queue of the event");
    ibv_ack_cq_events(raised, 1);
  }
  run.expect_equal(ibv_destroy_qp(endpoint.qp), 0, "destroying the queue pair");
  run.expect_equal(ibv_destroy_cq(endpoint.cq), 0, "destroying the queue");
}

TEST(CompletionEvents, WakeAProgramThatPollsAfterArming) {
  const auto right = [](TwoPrograms& run) { receive_all(run, true); };
  const check::Result result = run_two_programs("events", send_all, right, 300);
  EXPECT_TRUE(result.holds()) << result.story();
}

// As in brpc's issue 3415: what arrives between the empty poll and the arming raises no event.
TEST(CompletionEvents, ArePastIfAProgramArmsAfterPolling) {
  const auto right = [](TwoPrograms& run) { receive_all(run, false); };
  const check::Result result = run_two_programs("armed-late", send_all, right, 2'000);
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failures.front().property, check::stuck_property);
}

// A queue that is armed for solicited messages stays silent for others, until one of these comes or
// a request fails.
TEST(CompletionEvents, MayConcernSolicitedMessagesOnly) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    run.connect(endpoint, "left", "right");
    run.exchange.await("armed");
    ibv_send_wr message = endpoint.request(IBV_WR_SEND, 0, 8);
    run.expect_equal(endpoint.run(message), IBV_WC_SUCCESS, "a silent message");
    run.exchange.offer("silent", endpoint.card());
    run.exchange.await("polled");
    message.send_flags |= IBV_SEND_SOLICITED;
    run.expect_equal(endpoint.run(message), IBV_WC_SUCCESS, "a solicited message");
    run.exchange.offer("done", endpoint.card());
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint({.with_channel = true});
    run.connect(endpoint, "right", "left");
    for (std::uint64_t index = 0; index < 3; ++index) endpoint.post_receive(index, 64, 8);
    ibv_req_notify_cq(endpoint.cq, 1);
    run.exchange.offer("armed", endpoint.card());
    run.exchange.await("silent");
    pollfd polled{.fd = endpoint.channel->fd, .events = POLLIN, .revents = 0};
    run.expect_equal(poll(&polled, 1, 1), 0, "the descriptor after a silent message");
    run.exchange.offer("polled", endpoint.card());
    const auto expect_raised = [&](const std::string& what) {
      ibv_cq* raised = nullptr;
      void* context = nullptr;
      run.expect_equal(ibv_get_cq_event(endpoint.channel, &raised, &context), 0, what);
      ibv_ack_cq_events(raised, 1);
    };
    expect_raised("the event of the solicited message");
    run.exchange.await("done");
    ibv_req_notify_cq(endpoint.cq, 1);
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    run.expect_equal(ibv_modify_qp(endpoint.qp, &attributes, IBV_QP_STATE), 0, "the error");
    expect_raised("the event of a flushed request");
  };
  const check::Result result = run_two_programs("solicited", left, right, 200);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(CompletionEvents, CanBePolledForByTheDescriptor) {
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint({.with_channel = true});
    endpoint.to_init();
    endpoint.post_receive(1, 64, 8);
    fcntl(endpoint.channel->fd, F_SETFL, O_NONBLOCK);
    ibv_req_notify_cq(endpoint.cq, 0);
    ibv_cq* raised = nullptr;
    void* context = nullptr;
    run.expect_equal(ibv_get_cq_event(endpoint.channel, &raised, &context), -1, "no event yet");
    run.expect_equal(errno, EAGAIN, "its reason");
    pollfd polled{.fd = endpoint.channel->fd, .events = POLLIN, .revents = 0};
    run.expect_equal(poll(&polled, 1, 1), 0, "nothing within a millisecond");
    run.exchange.offer("right", endpoint.card());
    endpoint.to_rtr(run.exchange.await("left"));
    run.expect_equal(poll(&polled, 1, -1), 1, "the descriptor");
    run.expect_equal(polled.revents, POLLIN, "its event");
    run.expect_equal(ibv_get_cq_event(endpoint.channel, &raised, &context), 0, "the event");
    run.expect_equal(poll(&polled, 1, 0), 0, "the descriptor afterwards");
  };
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    run.connect(endpoint, "left", "right");
    endpoint.run(endpoint.request(IBV_WR_SEND, 0, 8));
  };
  const check::Result result = run_two_programs("descriptor", left, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(CompletionEvents, DestroyingWaitsForAcknowledgements) {
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint({.with_channel = true});
    endpoint.to_init();
    for (std::uint64_t index = 0; index < messages; ++index) endpoint.post_receive(index, 64, 8);
    run.exchange.offer("right", endpoint.card());
    ibv_req_notify_cq(endpoint.cq, 0);
    endpoint.to_rtr(run.exchange.await("left"));
    ibv_cq* raised = nullptr;
    void* context = nullptr;
    ibv_get_cq_event(endpoint.channel, &raised, &context);
    for (std::uint64_t received = 0; received < messages; ++received) endpoint.complete();
    ibv_destroy_qp(endpoint.qp);
    ibv_destroy_cq(endpoint.cq);
  };
  const check::Result result = run_two_programs("unacknowledged", send_all, right, 20);
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failures.front().property, check::stuck_property);
}

TEST(CompletionQueue, ThatIsTooSmallIsReported) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint({.cqe = 2});
    const Card peer = run.connect(endpoint, "left", "right");
    for (std::uint64_t posted = 0; posted < 4; ++posted) {
      endpoint.post(endpoint.to_peer(IBV_WR_RDMA_WRITE, 0, 8, peer, 0));
    }
    run.exchange.await("rested");
    endpoint.complete();
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint;
    run.connect(endpoint, "right", "left");
    ibv_wc completion;
    for (int polls = 0; polls < 20; ++polls) ibv_poll_cq(endpoint.cq, 1, &completion);
    run.exchange.offer("rested", {});
  };
  const check::Result result = run_two_programs("overrun", left, right, 100);
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failures.front().property, "verbs.completion-queue-overrun");
}

TEST(SimulatedPrograms, RunTheSameAgain) {
  const auto run_once = [] {
    return run_two_programs(
        "repeated", send_all, [](TwoPrograms& run) { receive_all(run, true); }, 50);
  };
  const check::Result first = run_once();
  EXPECT_TRUE(first.holds()) << first.story();
  EXPECT_EQ(first.hash, run_once().hash);
}

}  // namespace
}  // namespace falafel::simulated_verbs
