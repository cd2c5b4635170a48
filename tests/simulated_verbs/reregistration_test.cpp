// ibv_rereg_mr: other rights, another protection domain, other memory; and receive requests whose
// buffers are not registered, which fail when a message arrives.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "tests/simulated_verbs/two_programs.h"

namespace falafel::simulated_verbs {
namespace {

// Without faults: a late answer would be another failure than the one that a test expects.
check::Result run_calmly(
    const std::string& name, const TwoPrograms::Body& left,
    const TwoPrograms::Body& right = [](TwoPrograms&) {}) {
  return run_two_programs(name, left, right, 60, {});
}

constexpr unsigned without_remote_writes = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;

int reregister(ibv_mr* region, int flags, ibv_pd* domain, std::uint64_t* memory,
               std::size_t length_bytes, unsigned rights) {
  return ibv_rereg_mr(region, flags, domain, memory, length_bytes, static_cast<int>(rights));
}

// The card that the right program offers when it has registered again.
constexpr const char* second_card = "after";

ibv_wc_status write_word(Endpoint& endpoint, const Card& peer) {
  endpoint.buffer[0] = 77;
  return endpoint.run(endpoint.to_peer(IBV_WR_RDMA_WRITE, 0, 8, peer, 64));
}

TEST(Reregistration, ChangesTheRightsUnderTheSameKeys) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    const Card peer = run.connect(endpoint, "left", "right");
    run.expect_equal(write_word(endpoint, peer), IBV_WC_SUCCESS, "WRITE before");
    run.exchange.offer("written", endpoint.card());
    run.exchange.await(second_card);
    run.expect_equal(write_word(endpoint, peer), IBV_WC_REM_ACCESS_ERR, "WRITE after");
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint;
    const Card before = endpoint.card();
    run.connect(endpoint, "right", "left");
    run.exchange.await("written");
    run.expect_equal(reregister(endpoint.mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0,
                                without_remote_writes),
                     0, "ibv_rereg_mr");
    run.expect_equal(endpoint.mr->rkey, before.rkey, "the key");
    run.exchange.offer(second_card, endpoint.card());
    endpoint.post_receive(1, 0, 8);
    run.expect_equal(endpoint.complete().status, IBV_WC_WR_FLUSH_ERR, "the end");
  };
  const check::Result result = run_calmly("rights", left, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(Reregistration, GivesOtherMemoryOtherKeys) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    const Card before = run.connect(endpoint, "left", "right");
    Card after = run.exchange.await(second_card);
    run.expect_equal(write_word(endpoint, after), IBV_WC_SUCCESS, "WRITE to the new memory");
    endpoint.run(endpoint.request(IBV_WR_SEND, 0, 8));
    run.expect_equal(write_word(endpoint, before), IBV_WC_REM_ACCESS_ERR, "the old key");
    run.exchange.offer("ended", {});
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint;
    const Card before = endpoint.card();
    std::uint64_t* const other = endpoint.buffer + Endpoint::buffer_bytes / 16;
    run.connect(endpoint, "right", "left");
    run.expect_equal(reregister(endpoint.mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, other,
                                Endpoint::buffer_bytes / 2, 0),
                     0, "ibv_rereg_mr");
    run.expect(endpoint.mr->addr == other, "the address of the region has not changed");
    run.expect_equal(endpoint.mr->length, Endpoint::buffer_bytes / 2, "the length");
    run.expect(endpoint.mr->rkey != before.rkey, "the key has not changed");
    Card after = endpoint.card();
    after.address = reinterpret_cast<std::uint64_t>(other);
    ibv_sge entry{.addr = after.address + 128, .length = 8, .lkey = endpoint.mr->lkey};
    ibv_recv_wr receive{.wr_id = 3, .next = nullptr, .sg_list = &entry, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    run.expect_equal(ibv_post_recv(endpoint.qp, &receive, &bad), 0, "ibv_post_recv");
    run.exchange.offer(second_card, after);
    run.expect_equal(endpoint.complete().status, IBV_WC_SUCCESS, "RECV in the new memory");
    run.expect_equal(other[8], 77U, "the word that was written");
    run.expect_equal(other[16], 77U, "the word that was sent");
    run.exchange.await("ended");
  };
  const check::Result result = run_calmly("translation", left, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

// The device finds the old key of a receive request when a message needs its buffer.
TEST(Reregistration, FailsReceiveRequestsUnderOldKeys) {
  const auto left = [](TwoPrograms& run) {
    Endpoint endpoint;
    run.connect(endpoint, "left", "right");
    run.exchange.await(second_card);
    run.expect_equal(endpoint.run(endpoint.request(IBV_WR_SEND, 0, 8)), IBV_WC_REM_OP_ERR, "SEND");
  };
  const auto right = [](TwoPrograms& run) {
    Endpoint endpoint;
    ibv_pd* const other = ibv_alloc_pd(endpoint.context);
    endpoint.to_init();
    endpoint.post_receive(1, 0, 64);
    run.connect(endpoint, "right", "left");
    run.expect_equal(reregister(endpoint.mr, IBV_REREG_MR_CHANGE_PD, other, nullptr, 0, 0), 0,
                     "ibv_rereg_mr");
    run.expect(endpoint.mr->pd == other, "the domain of the region has not changed");
    run.expect_equal(ibv_dealloc_pd(other), EBUSY, "ending the domain that the region uses");
    run.exchange.offer(second_card, endpoint.card());
    run.expect_equal(endpoint.complete().status, IBV_WC_LOC_PROT_ERR, "RECV");
    run.expect_equal(ibv_dereg_mr(endpoint.mr), 0, "ibv_dereg_mr");
    run.expect_equal(ibv_dealloc_pd(other), 0, "ending the domain");
  };
  const check::Result result = run_calmly("domain", left, right);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(ReceiveRequests, WithoutRegisteredMemoryFailWhenAMessageArrives) {
  for (const bool is_shared : {false, true}) {
    const auto left = [](TwoPrograms& run) {
      Endpoint endpoint;
      run.connect(endpoint, "left", "right");
      run.expect_equal(endpoint.run(endpoint.request(IBV_WR_SEND, 0, 0)), IBV_WC_SUCCESS,
                       "a message without data");
      run.expect_equal(endpoint.run(endpoint.request(IBV_WR_SEND, 0, 8)), IBV_WC_REM_OP_ERR,
                       "SEND");
    };
    const auto right = [is_shared](TwoPrograms& run) {
      Endpoint endpoint({.with_shared_receives = is_shared});
      endpoint.to_init();
      const std::uint32_t key = endpoint.mr->lkey;
      endpoint.mr->lkey = 12'345;
      run.expect_equal(endpoint.post_receive(1, 0, 64), 0, "the first request");
      run.expect_equal(endpoint.post_receive(2, 0, 64), 0, "the second request");
      endpoint.mr->lkey = key;
      run.connect(endpoint, "right", "left");
      run.expect_equal(endpoint.complete().status, IBV_WC_SUCCESS, "the first completion");
      run.expect_equal(endpoint.complete().status, IBV_WC_LOC_PROT_ERR, "the second completion");
    };
    const check::Result result = run_calmly("unregistered", left, right);
    EXPECT_TRUE(result.holds()) << result.story();
  }
}

TEST(Reregistration, RefusesPagingOnADeviceWithoutIt) {
  const auto left = [](TwoPrograms& run) {
    const Endpoint endpoint;
    errno = 0;
    run.expect_equal(reregister(endpoint.mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0,
                                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND),
                     int{IBV_REREG_MR_ERR_CMD}, "paging");
    run.expect_equal(errno, EOPNOTSUPP, "the error of the device");
  };
  const check::Result result = run_calmly("paging", left);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(Reregistration, RefusesWhatItCannotDo) {
  const auto left = [](TwoPrograms& run) {
    const Endpoint endpoint;
    const auto expect_input_error = [&](int flags, std::uint64_t* memory, unsigned rights,
                                        const std::string& what) {
      errno = 0;
      run.expect_equal(reregister(endpoint.mr, flags, nullptr, memory, 64, rights),
                       int{IBV_REREG_MR_ERR_INPUT}, what);
      run.expect_equal(errno, EINVAL, what);
    };
    expect_input_error(1 << 7, endpoint.buffer, 0, "an unknown flag");
    expect_input_error(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, 0, "no address");
    expect_input_error(IBV_REREG_MR_CHANGE_PD, nullptr, 0, "no domain");
    expect_input_error(IBV_REREG_MR_CHANGE_PD, nullptr, IBV_ACCESS_LOCAL_WRITE,
                       "rights without their flag");
    run.expect_equal(endpoint.mr->length, Endpoint::buffer_bytes, "the length");
    errno = 0;
    run.expect_equal(reregister(endpoint.mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0,
                                IBV_ACCESS_REMOTE_WRITE),
                     int{IBV_REREG_MR_ERR_CMD}, "remote writes without local ones");
    run.expect_equal(errno, EINVAL, "the error of the device");
    run.expect_equal(ibv_dereg_mr(endpoint.mr), 0, "ibv_dereg_mr of a region that cannot be used");
  };
  const check::Result result = run_calmly("refused", left);
  EXPECT_TRUE(result.holds()) << result.story();
}

}  // namespace
}  // namespace falafel::simulated_verbs
