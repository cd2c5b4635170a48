// Queue pairs that are created alone: which changes of state there are, what they need, and how two
// of them find each other.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "simulated_verbs/queue_pair_states.h"
#include "tests/simulated_verbs/two_programs.h"

namespace falafel::simulated_verbs {
namespace {

constexpr int to_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int to_rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int to_rts = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

struct Change {
  ibv_qp_state from;
  ibv_qp_state to;
  int mask;
};
constexpr std::array usual{Change{IBV_QPS_RESET, IBV_QPS_INIT, to_init},
                           Change{IBV_QPS_INIT, IBV_QPS_RTR, to_rtr},
                           Change{IBV_QPS_RTR, IBV_QPS_RTS, to_rts}};

TEST(QueuePairStates, EachChangeNeedsAllOfItsAttributes) {
  for (const Change& change : usual) {
    EXPECT_TRUE(may_change_state(IBV_QPT_RC, change.from, change.to, change.mask));
    for (int bit = 1; bit <= change.mask; bit <<= 1) {
      if ((change.mask & bit) == 0 || bit == IBV_QP_STATE) continue;
      EXPECT_FALSE(may_change_state(IBV_QPT_RC, change.from, change.to, change.mask & ~bit))
          << "from " << change.from << " without attribute " << bit;
    }
  }
}

TEST(QueuePairStates, AttributesOfOtherChangesAreRefused) {
  EXPECT_FALSE(may_change_state(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, to_init | IBV_QP_AV));
  EXPECT_FALSE(may_change_state(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, to_rtr | IBV_QP_TIMEOUT));
  EXPECT_TRUE(
      may_change_state(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, to_rtr | IBV_QP_ACCESS_FLAGS));
}

TEST(QueuePairStates, NoStateIsSkipped) {
  EXPECT_FALSE(may_change_state(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_RTR, to_rtr));
  EXPECT_FALSE(may_change_state(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTS, to_rts));
  EXPECT_FALSE(may_change_state(IBV_QPT_RC, IBV_QPS_ERR, IBV_QPS_INIT, to_init));
}

TEST(QueuePairStates, EveryStateGoesToResetAndToError) {
  for (const ibv_qp_state from :
       {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_ERR}) {
    EXPECT_TRUE(may_change_state(IBV_QPT_UD, from, IBV_QPS_RESET, IBV_QP_STATE));
    EXPECT_TRUE(may_change_state(IBV_QPT_UC, from, IBV_QPS_ERR, IBV_QP_STATE));
    EXPECT_FALSE(may_change_state(IBV_QPT_RC, from, IBV_QPS_ERR, IBV_QP_STATE | IBV_QP_QKEY));
  }
}

TEST(QueuePairStates, DatagramsNeedNoPath) {
  EXPECT_TRUE(may_change_state(IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_STATE));
  EXPECT_FALSE(may_change_state(IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_STATE));
}

TEST(SimulatedQueuePair, IsRefusedWhatItsStateForbids) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    const Card self = endpoint.card();
    run.expect_equal(endpoint.post_receive(1, 0, 8), EINVAL, "a receive in RESET");
    run.expect_equal(endpoint.to_rtr(self), EINVAL, "RESET to RTR");
    run.expect_equal(endpoint.to_init(), 0, "RESET to INIT");
    run.expect_equal(endpoint.post_receive(1, 0, 8), 0, "a receive in INIT");
    run.expect_equal(endpoint.post(endpoint.request(IBV_WR_SEND, 0, 8)), EINVAL, "a SEND in INIT");
    run.expect_equal(endpoint.to_rtr({.lid = 77, .qp_num = 1}), EINVAL, "a LID of nobody");
    run.expect_equal(ibv_dealloc_pd(endpoint.pd), EBUSY, "a domain in use");
    run.expect_equal(ibv_destroy_cq(endpoint.cq), EBUSY, "a completion queue in use");
    run.expect_equal(ibv_destroy_qp(endpoint.qp), 0, "destroying");
    run.expect_equal(ibv_destroy_cq(endpoint.cq), 0, "destroying the completion queue");
    run.expect_equal(ibv_dereg_mr(endpoint.mr), 0, "deregistering");
    run.expect_equal(ibv_dealloc_pd(endpoint.pd), 0, "destroying the domain");
    run.expect_equal(ibv_close_device(endpoint.context), 0, "closing");
  };
  const check::Result result = run_two_programs(
      "states", left, [](TwoPrograms&) {}, 1);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedQueuePair, GivesUpIfItsPeerIsDestroyed) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    const Card peer = run.connect(endpoint, "left", "right");
    run.expect_equal(endpoint.run(endpoint.to_peer(IBV_WR_RDMA_READ, 0, 8, peer, 0)),
                     IBV_WC_RETRY_EXC_ERR, "READ");
    run.exchange.offer("done", {});
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint;
    endpoint.to_init();
    run.exchange.offer("right", endpoint.card());
    run.expect_equal(ibv_destroy_qp(endpoint.qp), 0, "destroying");
    run.exchange.await("done");
  };
  const check::Result result = run_two_programs("alone", left, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedQueuePair, EndsWhenItsProgramClosesTheDevice) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    const Card peer = run.connect(endpoint, "left", "right");
    run.exchange.await("closed");
    run.expect_equal(endpoint.run(endpoint.to_peer(IBV_WR_RDMA_READ, 0, 8, peer, 0)),
                     IBV_WC_RETRY_EXC_ERR, "READ");
    run.exchange.offer("done", {});
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint;
    run.connect(endpoint, "right", "left");
    run.expect_equal(ibv_close_device(endpoint.context), 0, "closing");
    run.exchange.offer("closed", {});
    run.exchange.await("done");
    const Endpoint another;
  };
  const check::Result result = run_two_programs("closed", left, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedQueuePair, WaitsForAPeerThatBecomesReadyLater) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    const Card peer = run.connect(endpoint, "left", "right");
    run.exchange.offer("posted", {});
    run.expect_equal(endpoint.run(endpoint.to_peer(IBV_WR_RDMA_READ, 0, 8, peer, 0)),
                     IBV_WC_SUCCESS, "READ");
    run.exchange.offer("done", {});
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint;
    run.exchange.offer("right", endpoint.card());
    const Card peer = run.exchange.await("left");
    run.exchange.await("posted");
    run.expect_equal(endpoint.connect(peer), 0, "connecting");
    run.exchange.await("done");
  };
  const check::Result result = run_two_programs("later", left, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedQueuePair, ReachesNobodyWithOtherPacketNumbers) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint({.sq_psn = 5});
    const Card peer = run.connect(endpoint, "left", "right");
    run.expect_equal(endpoint.run(endpoint.to_peer(IBV_WR_RDMA_READ, 0, 8, peer, 0)),
                     IBV_WC_RETRY_EXC_ERR, "READ");
    run.exchange.offer("done", {});
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint({.rq_psn = 6});
    run.connect(endpoint, "right", "left");
    run.exchange.await("done");
  };
  const check::Result result = run_two_programs("packet-numbers", left, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedQueuePair, ConnectsAgainWithItsNumberAfterReset) {
  const auto work = [](TwoPrograms& run, const char* own, const char* peer_name) {
    Endpoint endpoint;
    for (const char* round : {" 1", " 2"}) {
      const std::string name = std::string(own) + round;
      const Card peer = run.connect(endpoint, name, std::string(peer_name) + round);
      run.expect_equal(endpoint.run(endpoint.to_peer(IBV_WR_RDMA_READ, 0, 8, peer, 0)),
                       IBV_WC_SUCCESS, "READ in round" + std::string(round));
      run.exchange.offer(name + " done", {});
      run.exchange.await(std::string(peer_name) + round + " done");
      ibv_qp_attr attr{};
      attr.qp_state = IBV_QPS_RESET;
      run.expect_equal(ibv_modify_qp(endpoint.qp, &attr, IBV_QP_STATE), 0, "to RESET");
    }
  };
  const check::Result result = run_two_programs(
      "again", [&](TwoPrograms& run) { work(run, "left", "right"); },
      [&](TwoPrograms& run) { work(run, "right", "left"); });
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedQueuePair, SendsDatagramsToTheKeyOfTheReceiver) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint({.type = IBV_QPT_UD});
    const Card peer = run.connect(endpoint, "left", "right");
    ibv_ah_attr attr{};
    attr.dlid = peer.lid;
    attr.port_num = 1;
    ibv_ah* const ah = ibv_create_ah(endpoint.pd, &attr);
    ibv_send_wr message = endpoint.request(IBV_WR_SEND, 0, 8);
    message.wr.ud = {.ah = ah, .remote_qpn = peer.qp_num, .remote_qkey = 0x999};
    run.expect_equal(endpoint.run(message), IBV_WC_SUCCESS, "a datagram with another key");
    endpoint.buffer[0] = 6;
    message.wr.ud.remote_qkey = 0x1234;
    run.exchange.await("posted");
    run.expect_equal(endpoint.run(message), IBV_WC_SUCCESS, "a datagram");
    run.exchange.offer("sent", {});
    run.exchange.await("done");
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint({.type = IBV_QPT_UD});
    const Card peer = run.connect(endpoint, "right", "left");
    endpoint.post_receive(1, 64, 48);
    run.exchange.offer("posted", {});
    const ibv_wc received = endpoint.complete();
    run.expect_equal(received.byte_len, 48U, "the length with the header");
    run.expect(received.src_qp == peer.qp_num && received.slid == peer.lid, "the sender");
    run.expect_equal(endpoint.buffer[13], 6U, "the datagram with the right key");
    run.exchange.offer("done", {});
  };
  const check::Result result = run_two_programs("datagrams", left, right, 60, {});
  EXPECT_TRUE(result.holds()) << result.story();
}

// A receive request is flushed, then its queue pair is destroyed. Drivers of some devices drop the
// completion, and others leave it to the program.
int poll_after_destroying(TwoPrograms& run) {
  Endpoint endpoint;
  endpoint.to_init();
  endpoint.post_receive(5, 0, 8);
  const std::uint32_t number = endpoint.qp->qp_num;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  run.expect_equal(ibv_modify_qp(endpoint.qp, &attributes, IBV_QP_STATE), 0, "to ERR");
  usleep(1'000);
  run.expect_equal(ibv_destroy_qp(endpoint.qp), 0, "destroying the queue pair");
  ibv_wc completion{};
  const int polled = ibv_poll_cq(endpoint.cq, 1, &completion);
  run.expect(polled == 0 || (completion.wr_id == 5 && completion.status == IBV_WC_WR_FLUSH_ERR &&
                             completion.qp_num == number),
             "the completion of the receive request");
  run.expect_equal(ibv_poll_cq(endpoint.cq, 1, &completion), 0, "a second completion");
  return polled;
}

void poll_after_destroying_expects(int expected, bool completions_outlive_queue_pair) {
  const auto adjust = [=](sim::SimulationOptions& network) {
    network.completions_outlive_queue_pair = completions_outlive_queue_pair;
  };
  const check::Result result =
      check::random({.name = "destroyed",
                     .schedules = 60,
                     .output = testing::TempDir(),
                     .network = {.faults = {}, .adjust = adjust}},
                    [&](check::World& world) {
                      Programs programs(world);
                      TwoPrograms run(world);
                      programs.client("left", [&run, expected] {
                        run.expect_equal(poll_after_destroying(run), expected, "completions");
                        return 0;
                      });
                      world.run();
                    });
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedQueuePair, LosesItsCompletionsWhenItIsDestroyed) {
  poll_after_destroying_expects(0, false);
}

TEST(SimulatedQueuePair, LeavesItsCompletionsAsAnOption) { poll_after_destroying_expects(1, true); }

}  // namespace
}  // namespace falafel::simulated_verbs
