// Programs over the simulated libibverbs: every operation moves its data, and every mistake has the
// completion or the error that a device gives.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "tests/simulated_verbs/two_programs.h"

namespace falafel::simulated_verbs {
namespace {

constexpr std::uint64_t ready_offset = 1024;

// The right side waits until the left one has written there.
void await_word(const Endpoint& endpoint) {
  ibv_wc completion;
  const volatile std::uint64_t* const word = endpoint.buffer + ready_offset / 8;
  while (*word == 0) ibv_poll_cq(endpoint.cq, 1, &completion);
}

void serve(TwoPrograms& run) {
  Endpoint endpoint;
  run.connect(endpoint, "right", "left");
  await_word(endpoint);
}

void tell_ready(TwoPrograms& run, Endpoint& endpoint, const Card& peer) {
  endpoint.buffer[ready_offset / 8] = 1;
  run.expect_equal(
      endpoint.run(endpoint.to_peer(IBV_WR_RDMA_WRITE, ready_offset, 8, peer, ready_offset)),
      IBV_WC_SUCCESS, "the last WRITE");
}

TEST(SimulatedVerbs, OneSidedOperationsMoveTheirData) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    const Card peer = run.connect(endpoint, "left", "right");
    endpoint.buffer[0] = 41;
    run.expect_equal(endpoint.run(endpoint.to_peer(IBV_WR_RDMA_WRITE, 0, 8, peer, 64)),
                     IBV_WC_SUCCESS, "WRITE");
    ibv_send_wr add = endpoint.to_peer(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 8, peer, 64);
    add.wr.atomic.compare_add = 1;
    run.expect_equal(endpoint.run(add), IBV_WC_SUCCESS, "FETCH_ADD");
    run.expect_equal(endpoint.buffer[1], 41U, "the word before the addition");
    ibv_send_wr swap = endpoint.to_peer(IBV_WR_ATOMIC_CMP_AND_SWP, 8, 8, peer, 64);
    swap.wr.atomic.compare_add = 42;
    swap.wr.atomic.swap = 7;
    run.expect_equal(endpoint.run(swap), IBV_WC_SUCCESS, "CAS");
    run.expect_equal(endpoint.buffer[1], 42U, "the word before the swap");
    run.expect_equal(endpoint.run(endpoint.to_peer(IBV_WR_RDMA_READ, 16, 8, peer, 64)),
                     IBV_WC_SUCCESS, "READ");
    run.expect_equal(endpoint.buffer[2], 7U, "the word that was read");
    tell_ready(run, endpoint, peer);
  };
  const check::Result result = run_two_programs("one-sided", left, serve);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedVerbs, MessagesArriveWithTheirImmediateNumbers) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    const Card peer = run.connect(endpoint, "left", "right");
    endpoint.buffer[0] = 0x1122;
    ibv_send_wr message = endpoint.request(IBV_WR_SEND_WITH_IMM, 0, 8);
    message.imm_data = htobe32(99);
    run.expect_equal(endpoint.run(message), IBV_WC_SUCCESS, "SEND");
    ibv_send_wr write = endpoint.to_peer(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 8, peer, 128);
    write.imm_data = htobe32(100);
    run.expect_equal(endpoint.run(write), IBV_WC_SUCCESS, "WRITE with immediate");
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint;
    endpoint.to_init();
    endpoint.post_receive(5, 256, 64);
    endpoint.post_receive(6, 512, 64);
    run.exchange.offer("right", endpoint.card());
    const Card peer = run.exchange.await("left");
    run.expect_equal(endpoint.to_rtr(peer), 0, "to RTR");
    const ibv_wc message = endpoint.complete();
    run.expect(message.opcode == IBV_WC_RECV && message.wr_id == 5, "a message");
    run.expect(message.wc_flags == IBV_WC_WITH_IMM && be32toh(message.imm_data) == 99,
               "its number");
    run.expect_equal(message.byte_len, 8U, "its length");
    run.expect_equal(message.qp_num, endpoint.qp->qp_num, "its queue pair");
    run.expect_equal(endpoint.buffer[32], 0x1122U, "its data");
    const ibv_wc write = endpoint.complete();
    run.expect(write.opcode == IBV_WC_RECV_RDMA_WITH_IMM && be32toh(write.imm_data) == 100,
               "the number of the WRITE");
    run.expect_equal(endpoint.buffer[16], 0x1122U, "the data of the WRITE");
  };
  const check::Result result = run_two_programs("messages", left, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedVerbs, InlineDataNeedsNoRegistration) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint({.max_inline_data = 16});
    const Card peer = run.connect(endpoint, "left", "right");
    std::uint64_t words[2] = {3, 4};
    ibv_sge entries[2] = {
        {.addr = reinterpret_cast<std::uint64_t>(&words[1]), .length = 8, .lkey = 0},
        {.addr = reinterpret_cast<std::uint64_t>(&words[0]), .length = 8, .lkey = 0}};
    ibv_send_wr write = endpoint.to_peer(IBV_WR_RDMA_WRITE, 0, 8, peer, 64);
    write.sg_list = entries;
    write.num_sge = 2;
    write.send_flags |= IBV_SEND_INLINE;
    run.expect_equal(endpoint.post(write), 0, "posting");
    words[0] = words[1] = 0;  // the data has been copied
    run.expect_equal(endpoint.complete().status, IBV_WC_SUCCESS, "WRITE");
    run.expect_equal(endpoint.run(endpoint.to_peer(IBV_WR_RDMA_READ, 0, 16, peer, 64)),
                     IBV_WC_SUCCESS, "READ");
    run.expect(endpoint.buffer[0] == 4 && endpoint.buffer[1] == 3, "the data of both entries");
    ibv_send_wr longer = endpoint.to_peer(IBV_WR_RDMA_WRITE, 0, 24, peer, 64);
    longer.send_flags |= IBV_SEND_INLINE;
    run.expect_equal(endpoint.post(longer), EINVAL, "more inline data than was agreed");
    tell_ready(run, endpoint, peer);
  };
  const check::Result result = run_two_programs("inline", left, serve);
  EXPECT_TRUE(result.holds()) << result.story();
}

// The completion of one request with this change, and of one behind it.
check::Result run_with_mistake(const std::string& name, const EndpointOptions& server_options,
                               const std::function<void(ibv_send_wr&)>& change,
                               ibv_wc_status expected) {
  const auto left = [&](TwoPrograms& run) {
    Endpoint endpoint;
    const Card peer = run.connect(endpoint, "left", "right");
    run.expect_equal(endpoint.post(endpoint.to_peer(IBV_WR_RDMA_WRITE, 0, 0, peer, 0)), 0, "first");
    ibv_send_wr wrong = endpoint.to_peer(IBV_WR_RDMA_READ, 0, 8, peer, 64);
    change(wrong);
    run.expect_equal(endpoint.post(wrong), 0, "posting the mistake");
    run.expect_equal(endpoint.post(endpoint.to_peer(IBV_WR_RDMA_WRITE, 0, 8, peer, 0)), 0, "last");
    run.expect_equal(endpoint.complete().status, IBV_WC_SUCCESS, "the request before");
    run.expect_equal(endpoint.complete().status, expected, "the mistake");
    run.expect_equal(endpoint.complete().status, IBV_WC_WR_FLUSH_ERR, "the request behind");
    ibv_qp_attr attr;
    ibv_qp_init_attr init;
    ibv_query_qp(endpoint.qp, &attr, IBV_QP_STATE, &init);
    run.expect_equal(attr.qp_state, IBV_QPS_ERR, "the state of the queue pair");
    run.exchange.offer("done", {});
  };
  const auto right = [&](TwoPrograms& run) {
    Endpoint endpoint(server_options);
    run.exchange.offer("right", endpoint.card());
    // The mistake may arrive before the last step of connecting, which then fails.
    endpoint.connect(run.exchange.await("left"));
    run.exchange.await("done");
  };
  return run_two_programs(name, left, right);
}

TEST(SimulatedVerbs, AWrongRemoteKeyIsARemoteAccessError) {
  const auto change = [](ibv_send_wr& work) { work.wr.rdma.rkey += 1'000; };
  const auto result = run_with_mistake("remote-key", {}, change, IBV_WC_REM_ACCESS_ERR);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedVerbs, ARangeBeyondTheRegionIsARemoteAccessError) {
  const auto change = [](ibv_send_wr& work) { work.wr.rdma.remote_addr -= 72; };
  const auto result = run_with_mistake("bounds", {}, change, IBV_WC_REM_ACCESS_ERR);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedVerbs, AQueuePairWithoutTheRightIsARemoteAccessError) {
  const auto result = run_with_mistake(
      "queue-pair-rights", {.queue_pair_rights = IBV_ACCESS_REMOTE_WRITE}, [](ibv_send_wr&) {},
      IBV_WC_REM_ACCESS_ERR);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedVerbs, AWrongLocalKeyIsALocalProtectionError) {
  const auto change = [](ibv_send_wr& work) { work.sg_list->lkey += 1'000; };
  const auto result = run_with_mistake("local-key", {}, change, IBV_WC_LOC_PROT_ERR);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedVerbs, AMisalignedAtomicIsAnInvalidRequest) {
  const auto change = [](ibv_send_wr& work) {
    const ibv_send_wr read = work;
    work.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    work.wr.atomic.remote_addr = read.wr.rdma.remote_addr + 4;
    work.wr.atomic.rkey = read.wr.rdma.rkey;
    work.wr.atomic.compare_add = 1;
  };
  const auto result = run_with_mistake("misaligned", {}, change, IBV_WC_REM_INV_REQ_ERR);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedVerbs, AMessageWithoutReceiveExceedsItsRetries) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint({.rnr_retry = 1});
    run.connect(endpoint, "left", "right");
    run.expect_equal(endpoint.run(endpoint.request(IBV_WR_SEND, 0, 8)), IBV_WC_RNR_RETRY_EXC_ERR,
                     "SEND");
    run.exchange.offer("done", {});
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint;
    run.connect(endpoint, "right", "left");
    run.exchange.await("done");
  };
  const check::Result result = run_two_programs("no-receive", left, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(SimulatedVerbs, SharedReceiveQueuesTakeMessages) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    run.connect(endpoint, "left", "right");
    endpoint.buffer[0] = 8;
    run.expect_equal(endpoint.run(endpoint.request(IBV_WR_SEND, 0, 8)), IBV_WC_SUCCESS, "SEND");
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint({.with_shared_receives = true});
    run.expect_equal(endpoint.post_receive(1, 64, 8), 0, "posting");
    run.expect_equal(ibv_destroy_srq(endpoint.srq), EBUSY, "destroying a queue in use");
    run.connect(endpoint, "right", "left");
    run.expect_equal(endpoint.complete().wr_id, 1U, "the completion");
    run.expect_equal(endpoint.buffer[8], 8U, "the message");
  };
  const check::Result result = run_two_programs("shared", left, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

}  // namespace
}  // namespace falafel::simulated_verbs
