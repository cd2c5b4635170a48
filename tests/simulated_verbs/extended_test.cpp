// The extended functions: batches of requests (ibv_wr_start), and completion queues that are read
// field by field (ibv_start_poll).
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>

#include "fabric/time_units.h"
#include "tests/simulated_verbs/two_programs.h"

namespace falafel::simulated_verbs {
namespace {

constexpr std::uint64_t writes_and_adds =
    IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_SEND;

void lend_memory(TwoPrograms& run) {
  Endpoint endpoint;
  run.connect(endpoint, "right", "left");
  run.exchange.await("done");
}

// Runs the program against a peer whose memory it may use.
void expect_holds(const std::string& name,
                  const std::function<void(TwoPrograms&, Endpoint&, const Card&)>& program,
                  const EndpointOptions& options) {
  const auto left = [&](TwoPrograms& run) {
    Endpoint endpoint(options);
    const Card peer = run.connect(endpoint, "left", "right");
    program(run, endpoint, peer);
    run.exchange.offer("done", peer);
  };
  const check::Result result = run_two_programs(name, left, lend_memory);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(Batch, PostsItsRequestsInOrder) {
  const auto program = [](TwoPrograms& run, Endpoint& endpoint, const Card& peer) {
    ibv_qp_ex* const qp = ibv_qp_to_qp_ex(endpoint.qp);
    std::uint64_t value = 41;
    ibv_wr_start(qp);
    qp->wr_id = 7;
    qp->wr_flags = 0;
    ibv_wr_rdma_write(qp, peer.rkey, peer.address);
    ibv_wr_set_inline_data(qp, &value, sizeof value);
    value = 0;  // the data was copied
    qp->wr_id = 8;
    qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_atomic_fetch_add(qp, peer.rkey, peer.address, 1);
    ibv_wr_set_sge(qp, endpoint.mr->lkey, reinterpret_cast<std::uint64_t>(endpoint.buffer), 8);
    run.expect_equal(ibv_wr_complete(qp), 0, "the batch");
    const ibv_wc completion = endpoint.complete();
    run.expect_equal(completion.wr_id, 8U, "the identity");
    run.expect_equal(completion.status, IBV_WC_SUCCESS, "the status");
    run.expect_equal(endpoint.buffer[0], 41U, "the value before");
    run.expect_equal(word_at(peer, 0), 42U, "the value after");
  };
  expect_holds("batch", program, {.max_inline_data = 8, .operations = writes_and_adds});
}

TEST(Batch, IsPostedAsAWholeOrNotAtAll) {
  const auto program = [](TwoPrograms& run, Endpoint& endpoint, const Card& peer) {
    ibv_qp_ex* const qp = ibv_qp_to_qp_ex(endpoint.qp);
    qp->wr_flags = IBV_SEND_SIGNALED;
    const auto add_write = [&](std::uint32_t length) {
      ibv_wr_rdma_write(qp, peer.rkey, peer.address);
      ibv_wr_set_sge(qp, endpoint.mr->lkey, reinterpret_cast<std::uint64_t>(endpoint.buffer),
                     length);
    };
    endpoint.buffer[0] = 1;
    ibv_wr_start(qp);
    for (int request = 0; request < 3; ++request) add_write(8);
    run.expect_equal(ibv_wr_complete(qp), ENOMEM, "three requests for two places");
    ibv_wr_start(qp);
    add_write(8);
    std::array<std::uint64_t, 2> data{};
    ibv_wr_rdma_write(qp, peer.rkey, peer.address);
    ibv_wr_set_inline_data(qp, data.data(), sizeof data);
    run.expect_equal(ibv_wr_complete(qp), EINVAL, "a request with too much inline data");
    ibv_wr_start(qp);
    add_write(8);
    ibv_wr_abort(qp);
    ibv_wr_start(qp);
    run.expect_equal(ibv_wr_complete(qp), 0, "an empty batch");
    ibv_wr_start(qp);
    ibv_wr_set_sge(qp, endpoint.mr->lkey, reinterpret_cast<std::uint64_t>(endpoint.buffer), 8);
    run.expect_equal(ibv_wr_complete(qp), EINVAL, "a buffer without a request");
    run.expect_equal(endpoint.run(endpoint.to_peer(IBV_WR_RDMA_READ, 64, 8, peer, 0)),
                     IBV_WC_SUCCESS, "READ");
    run.expect_equal(endpoint.buffer[8], 0U, "what the READ found");
  };
  expect_holds("whole-batch", program,
               {.max_send_wr = 2, .max_inline_data = 8, .operations = writes_and_adds});
}

TEST(Batch, KnowsTheOperationsThatWereNamedOnly) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint({.operations = writes_and_adds});
    ibv_qp_ex* const qp = ibv_qp_to_qp_ex(endpoint.qp);
    run.expect(qp->wr_rdma_write != nullptr, "WRITE");
    run.expect(qp->wr_rdma_read == nullptr, "READ");
    run.expect(ibv_qp_to_qp_ex(Endpoint().qp) == nullptr, "a queue pair without operations");
    ibv_qp_init_attr_ex init{};
    init.send_cq = init.recv_cq = endpoint.cq;
    init.qp_type = IBV_QPT_UC;
    init.pd = endpoint.pd;
    init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    init.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ;
    run.expect(ibv_create_qp_ex(endpoint.context, &init) == nullptr, "READ on UC");
    run.expect_equal(errno, EOPNOTSUPP, "its reason");
    init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
    run.expect(ibv_create_qp_ex(endpoint.context, &init) != nullptr, "no flags");
    init.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
    run.expect(ibv_create_qp_ex(endpoint.context, &init) == nullptr, "a flag");
  };
  const check::Result result = run_two_programs(
      "operations", left, [](TwoPrograms&) {}, 1);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(Batch, SendsDatagrams) {
  const EndpointOptions options{.type = IBV_QPT_UD, .operations = IBV_QP_EX_WITH_SEND_WITH_IMM};
  const auto left = [&](TwoPrograms& run) {
    Endpoint endpoint(options);
    const Card peer = run.connect(endpoint, "left", "right");
    run.exchange.await("ready");
    ibv_ah_attr address{};
    address.dlid = peer.lid;
    address.port_num = 1;
    ibv_qp_ex* const qp = ibv_qp_to_qp_ex(endpoint.qp);
    qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_ah* const receiver = ibv_create_ah(endpoint.pd, &address);
    while (!run.exchange.has("received")) {  // datagrams may be lost
      ibv_wr_start(qp);
      ibv_wr_send_imm(qp, 5);
      ibv_wr_set_ud_addr(qp, receiver, peer.qp_num, options.qkey);
      run.expect_equal(ibv_wr_complete(qp), 0, "the batch");
      run.expect_equal(endpoint.complete().status, IBV_WC_SUCCESS, "the status");
    }
  };
  const auto right = [&](TwoPrograms& run) {
    Endpoint endpoint(options);
    run.connect(endpoint, "right", "left");
    endpoint.post_receive(1, 0, 64);
    run.exchange.offer("ready", endpoint.card());
    const ibv_wc completion = endpoint.complete();
    run.expect_equal(completion.imm_data, 5U, "the immediate");
    run.exchange.offer("received", endpoint.card());
  };
  const check::Result result = run_two_programs("datagrams", left, right, 60, {});
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(ExtendedAttributes, AreThoseOfTheDeviceAndItsPorts) {
  const auto left = [](TwoPrograms& run) {
    const Endpoint endpoint;
    ibv_device_attr_ex attributes{};
    run.expect_equal(ibv_query_device_ex(endpoint.context, nullptr, &attributes), 0, "the query");
    run.expect_equal(attributes.phys_port_cnt_ex, 1U, "the number of ports");
    run.expect_equal(attributes.orig_attr.phys_port_cnt, 1U, "the same, as older programs see it");
    run.expect(attributes.orig_attr.vendor_id != 0, "a vendor");
    run.expect_equal(attributes.hca_core_clock, 1'000'000U, "the clock of completions, in kHz");
    run.expect(attributes.completion_timestamp_mask == ~std::uint64_t{0}, "its bits");
    const ibv_query_device_ex_input unknown{.comp_mask = 1};
    run.expect_equal(ibv_query_device_ex(endpoint.context, &unknown, &attributes), EINVAL,
                     "an unknown question");
  };
  const check::Result result = run_two_programs(
      "attributes", left, [](TwoPrograms&) {}, 1);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(RefusedFunctions, GiveTheReason) {
  const auto left = [](TwoPrograms& run) {
    const Endpoint endpoint;
    errno = 0;
    run.expect(ibv_reg_dmabuf_mr(endpoint.pd, 0, 64, 0, 0, 0) == nullptr, "ibv_reg_dmabuf_mr");
    run.expect_equal(errno, EOPNOTSUPP, "its reason");
  };
  const check::Result result = run_two_programs(
      "refused", left, [](TwoPrograms&) {}, 1);
  EXPECT_TRUE(result.holds()) << result.story();
}

ibv_cq_ex* create_queue(ibv_context* context, std::uint64_t fields) {
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = 16;
  wanted.wc_flags = fields;
  return ibv_create_cq_ex(context, &wanted);
}

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * fabric::second_ns +
         static_cast<std::uint64_t>(now.tv_nsec);
}

TEST(ExtendedCompletionQueue, IsReadFieldByField) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    run.connect(endpoint, "left", "right");
    run.exchange.await("ready");
    for (const std::uint32_t length : {8U, 16U}) {
      run.expect_equal(endpoint.run(endpoint.request(IBV_WR_SEND, 0, length)), IBV_WC_SUCCESS,
                       "SEND");
    }
    run.exchange.offer("sent", endpoint.card());
    run.exchange.await("done");
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint({.wants_extended_queue = true});
    run.connect(endpoint, "right", "left");
    ibv_cq_ex* const cq = endpoint.extended_cq;
    run.expect(cq->read_byte_len != nullptr, "a field that was named");
    run.expect(cq->read_slid == nullptr, "a field that was not named");
    ibv_poll_cq_attr attributes{};
    run.expect_equal(ibv_start_poll(cq, &attributes), ENOENT, "an empty queue");
    endpoint.post_receive(1, 0, 16);
    endpoint.post_receive(2, 0, 16);
    const std::uint64_t began_ns = now_ns();
    run.exchange.offer("ready", endpoint.card());
    run.exchange.await("sent");
    while (ibv_start_poll(cq, &attributes) == ENOENT) {
    }
    std::uint64_t least_stamp_ns = began_ns;
    for (std::uint64_t index = 0; index < 2; ++index) {
      if (index > 0) {
        while (ibv_next_poll(cq) == ENOENT) {
        }
      }
      run.expect_equal(cq->wr_id, index + 1, "the identity");
      run.expect_equal(cq->status, IBV_WC_SUCCESS, "the status");
      run.expect_equal(ibv_wc_read_opcode(cq), IBV_WC_RECV, "the opcode");
      run.expect_equal(ibv_wc_read_byte_len(cq), 8 * (index + 1), "the length");
      run.expect_equal(ibv_wc_read_qp_num(cq), endpoint.qp->qp_num, "the number");
      const std::uint64_t stamp_ns = ibv_wc_read_completion_ts(cq);
      run.expect(least_stamp_ns <= stamp_ns && stamp_ns <= now_ns(), "the time stamp");
      least_stamp_ns = stamp_ns;
    }
    run.expect_equal(ibv_next_poll(cq), ENOENT, "the end");
    ibv_end_poll(cq);
    run.exchange.offer("done", endpoint.card());
  };
  const check::Result result = run_two_programs("fields", left, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(ExtendedCompletionQueue, RefusesFieldsThatNobodyFills) {
  const auto left = [](TwoPrograms& run) {
    const Endpoint endpoint;
    run.expect(create_queue(endpoint.context, IBV_WC_EX_WITH_CVLAN) == nullptr, "a VLAN");
    run.expect_equal(errno, EOPNOTSUPP, "its reason");
    ibv_cq_ex* const made = create_queue(endpoint.context, IBV_WC_STANDARD_FLAGS);
    run.expect_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(made)), 0, "destroying the queue");
  };
  const check::Result result = run_two_programs(
      "unknown-fields", left, [](TwoPrograms&) {}, 1);
  EXPECT_TRUE(result.holds()) << result.story();
}

}  // namespace
}  // namespace falafel::simulated_verbs
