// Memory windows of both types: who may use them, from when on, and until when.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/simulated_verbs/two_programs.h"

namespace falafel::simulated_verbs {
namespace {

constexpr unsigned rights_for_windows = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
constexpr std::uint64_t window_offset = 256;
constexpr std::uint64_t window_bytes = 64;
constexpr const char* bound_card = "bound";
constexpr const char* ended_card = "ended";

ibv_mw_bind_info part_of(const Endpoint& endpoint, unsigned rights) {
  return {.mr = endpoint.mr,
          .addr = reinterpret_cast<std::uint64_t>(endpoint.buffer) + window_offset,
          .length = window_bytes,
          .mw_access_flags = rights};
}

ibv_send_wr bind_request(ibv_mw* window, const ibv_mw_bind_info& info) {
  ibv_send_wr work{};
  work.opcode = IBV_WR_BIND_MW;
  work.send_flags = IBV_SEND_SIGNALED;
  work.bind_mw = {.mw = window, .rkey = ibv_inc_rkey(window->rkey), .bind_info = info};
  return work;
}

ibv_send_wr invalidation(std::uint32_t key) {
  ibv_send_wr work{};
  work.opcode = IBV_WR_LOCAL_INV;
  work.send_flags = IBV_SEND_SIGNALED;
  work.invalidate_rkey = key;
  return work;
}

Card card_of(const Endpoint& endpoint, std::uint32_t key) {
  Card card = endpoint.card();
  card.rkey = key;
  return card;
}

ibv_wc_status write_to(Endpoint& endpoint, const Card& peer, std::uint64_t offset,
                       std::uint32_t length_bytes = 8) {
  return endpoint.run(endpoint.to_peer(IBV_WR_RDMA_WRITE, 0, length_bytes, peer, offset));
}

// Without faults: a late answer would be another failure than the one that a test expects.
check::Result run_without_faults(const std::string& name, const TwoPrograms::Body& left,
                                 const TwoPrograms::Body& right) {
  return run_two_programs(name, left, right, 60, {});
}

// Waits until the peer has failed this side's queue pair, or has said that it has ended.
void await_end(const TwoPrograms& run) { run.exchange.await(ended_card); }

// The left program does this with the window that the right one has bound, and the right one this
// afterwards.
using Use = std::function<void(TwoPrograms&, Endpoint&, const Card&)>;
using Afterwards = std::function<void(TwoPrograms&, Endpoint&, ibv_mw*)>;

check::Result use_window(const std::string& name, unsigned rights, const Use& use,
                         const Afterwards& afterwards = {}) {
  const auto left = [&](TwoPrograms& run) {
    Endpoint endpoint;
    run.connect(endpoint, "left", "right");
    use(run, endpoint, run.exchange.await(bound_card));
    run.exchange.offer(ended_card, {});
  };
  const auto right = [&](TwoPrograms& run) {
    Endpoint endpoint({.region_rights = rights_for_windows});
    ibv_mw* const window = ibv_alloc_mw(endpoint.pd, IBV_MW_TYPE_2);
    endpoint.to_init();
    endpoint.post_receive(1, 0, 64);
    run.connect(endpoint, "right", "left");
    ibv_send_wr bind = bind_request(window, part_of(endpoint, rights));
    run.expect_equal(endpoint.post(bind), 0, "posting the bind");
    const ibv_wc bound = endpoint.complete();
    run.expect_equal(bound.status, IBV_WC_SUCCESS, "the bind");
    run.expect_equal(bound.opcode, IBV_WC_BIND_MW, "the opcode of the bind");
    run.expect_equal(window->rkey, bind.bind_mw.rkey, "the key of the window");
    run.exchange.offer(bound_card, card_of(endpoint, window->rkey));
    if (afterwards) afterwards(run, endpoint, window);
    await_end(run);
    run.expect_equal(ibv_dealloc_mw(window), 0, "ibv_dealloc_mw");
    run.expect_equal(ibv_dereg_mr(endpoint.mr), 0, "ibv_dereg_mr without windows");
  };
  return run_without_faults(name, left, right);
}

TEST(MemoryWindows, GiveAPeerAPartOfARegion) {
  const auto within = [](TwoPrograms& run, Endpoint& endpoint, const Card& window) {
    run.expect_equal(write_to(endpoint, window, window_offset, window_bytes), IBV_WC_SUCCESS,
                     "the whole window");
    run.expect_equal(write_to(endpoint, window, window_offset + 8, window_bytes),
                     IBV_WC_REM_ACCESS_ERR, "beyond its end");
  };
  const check::Result inside = use_window("within", IBV_ACCESS_REMOTE_WRITE, within);
  EXPECT_TRUE(inside.holds()) << inside.story();
  const auto before = [](TwoPrograms& run, Endpoint& endpoint, const Card& window) {
    run.expect_equal(write_to(endpoint, window, window_offset - 8), IBV_WC_REM_ACCESS_ERR,
                     "before its start");
  };
  const check::Result outside = use_window("before", IBV_ACCESS_REMOTE_WRITE, before);
  EXPECT_TRUE(outside.holds()) << outside.story();
}

TEST(MemoryWindows, HaveRightsOfTheirOwn) {
  const auto use = [](TwoPrograms& run, Endpoint& endpoint, const Card& window) {
    run.expect_equal(endpoint.run(endpoint.to_peer(IBV_WR_RDMA_READ, 0, 8, window, window_offset)),
                     IBV_WC_SUCCESS, "READ");
    run.expect_equal(write_to(endpoint, window, window_offset), IBV_WC_REM_ACCESS_ERR, "WRITE");
  };
  const check::Result result = use_window("rights", IBV_ACCESS_REMOTE_READ, use);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(MemoryWindows, OfZeroBasedAddressesBeginAtZero) {
  const auto use = [](TwoPrograms& run, Endpoint& endpoint, const Card& window) {
    Card card = window;
    card.address = 0;
    run.expect_equal(write_to(endpoint, card, window_bytes - 8), IBV_WC_SUCCESS, "its last word");
    run.expect_equal(write_to(endpoint, card, window_bytes), IBV_WC_REM_ACCESS_ERR, "the next one");
  };
  const check::Result result =
      use_window("zero-based", IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED, use);
  EXPECT_TRUE(result.holds()) << result.story();
}

// A SEND behind the invalidation says that it has happened.
TEST(MemoryWindows, EndByALocalInvalidation) {
  const auto use = [](TwoPrograms& run, Endpoint& endpoint, const Card& window) {
    endpoint.post_receive(2, 512, 8);
    run.expect_equal(endpoint.complete().status, IBV_WC_SUCCESS, "RECV");
    run.expect_equal(write_to(endpoint, window, window_offset), IBV_WC_REM_ACCESS_ERR, "WRITE");
  };
  const auto afterwards = [](TwoPrograms& run, Endpoint& endpoint, ibv_mw* window) {
    run.expect_equal(ibv_dereg_mr(endpoint.mr), EBUSY, "ibv_dereg_mr below a window");
    endpoint.post(invalidation(window->rkey));
    const ibv_wc ended = endpoint.complete();
    run.expect_equal(ended.status, IBV_WC_SUCCESS, "the invalidation");
    run.expect_equal(ended.opcode, IBV_WC_LOCAL_INV, "its opcode");
    endpoint.post(endpoint.request(IBV_WR_SEND, 0, 8));
  };
  const check::Result result = use_window("local", IBV_ACCESS_REMOTE_WRITE, use, afterwards);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(MemoryWindows, EndByASendOfThePeer) {
  const auto use = [](TwoPrograms& run, Endpoint& endpoint, const Card& window) {
    run.expect_equal(write_to(endpoint, window, window_offset), IBV_WC_SUCCESS, "WRITE before");
    ibv_send_wr message = endpoint.request(IBV_WR_SEND_WITH_INV, 0, 8);
    message.invalidate_rkey = window.rkey;
    run.expect_equal(endpoint.run(message), IBV_WC_SUCCESS, "SEND");
    run.expect_equal(write_to(endpoint, window, window_offset), IBV_WC_REM_ACCESS_ERR, "WRITE");
  };
  const auto afterwards = [](TwoPrograms& run, Endpoint& endpoint, ibv_mw* window) {
    const ibv_wc received = endpoint.complete();
    run.expect_equal(received.status, IBV_WC_SUCCESS, "RECV");
    run.expect_equal(received.opcode, IBV_WC_RECV, "its opcode");
    run.expect_equal(received.wc_flags, unsigned{IBV_WC_WITH_INV}, "its flags");
    run.expect_equal(received.invalidated_rkey, window->rkey, "the key that ended");
  };
  const check::Result result = use_window("remote", IBV_ACCESS_REMOTE_WRITE, use, afterwards);
  EXPECT_TRUE(result.holds()) << result.story();
}

// The requests take their turns: the window is free when the second bind comes, but not before.
TEST(MemoryWindows, OfType2AreBoundAgainBehindTheirInvalidation) {
  const auto use = [](TwoPrograms&, Endpoint&, const Card&) {};
  const auto bind_again = [](TwoPrograms& run, Endpoint& endpoint, ibv_mw* window) {
    const ibv_mw_bind_info info = part_of(endpoint, IBV_ACCESS_REMOTE_READ);
    endpoint.post(invalidation(window->rkey));
    endpoint.post(bind_request(window, info));
    run.expect_equal(endpoint.complete().status, IBV_WC_SUCCESS, "the invalidation");
    run.expect_equal(endpoint.complete().status, IBV_WC_SUCCESS, "the bind behind it");
    run.expect_equal(endpoint.run(bind_request(window, info)), IBV_WC_MW_BIND_ERR,
                     "a bind of a bound window");
  };
  const check::Result result = use_window("again", IBV_ACCESS_REMOTE_READ, use, bind_again);
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(MemoryWindows, AreNotEndedByOtherKeys) {
  const auto use = [](TwoPrograms& run, Endpoint& endpoint, const Card& window) {
    ibv_send_wr message = endpoint.request(IBV_WR_SEND_WITH_INV, 0, 8);
    message.invalidate_rkey = ibv_inc_rkey(window.rkey);
    run.expect_equal(endpoint.run(message), IBV_WC_REM_ACCESS_ERR, "SEND");
  };
  const check::Result result = use_window("other key", IBV_ACCESS_REMOTE_WRITE, use);
  EXPECT_TRUE(result.holds()) << result.story();
}

// The left program has two queue pairs, and the window belongs to the first one.
TEST(MemoryWindows, OfType2AreForOneQueuePair) {
  for (const bool is_of_first : {true, false}) {
    const auto left = [is_of_first](TwoPrograms& run) {
      Endpoint first;
      Endpoint second;
      run.connect(first, "left", "right");
      run.connect(second, "left 2", "right 2");
      const Card window = run.exchange.await(bound_card);
      run.expect_equal(write_to(is_of_first ? first : second, window, window_offset),
                       is_of_first ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR, "WRITE");
      run.exchange.offer(ended_card, {});
    };
    const auto right = [](TwoPrograms& run) {
      Endpoint first({.region_rights = rights_for_windows});
      EndpointOptions same_domain;
      same_domain.domain_of = &first;
      Endpoint second(same_domain);
      ibv_mw* const window = ibv_alloc_mw(first.pd, IBV_MW_TYPE_2);
      run.connect(first, "right", "left");
      run.connect(second, "right 2", "left 2");
      run.expect_equal(first.run(bind_request(window, part_of(first, IBV_ACCESS_REMOTE_WRITE))),
                       IBV_WC_SUCCESS, "the bind");
      run.exchange.offer(bound_card, card_of(first, window->rkey));
      await_end(run);
    };
    const check::Result result = run_without_faults("one queue pair", left, right);
    EXPECT_TRUE(result.holds()) << result.story();
  }
}

// Each bind gives a window of type 1 a new key and ends the old one, and so does one without bytes.
TEST(MemoryWindows, OfType1AreBoundAgain) {
  for (const std::uint64_t length_bytes : {window_bytes, std::uint64_t{0}}) {
    const auto left = [length_bytes](TwoPrograms& run) {
      Endpoint endpoint;
      run.connect(endpoint, "left", "right");
      const Card old = run.exchange.await("old");
      run.expect_equal(write_to(endpoint, old, window_offset), IBV_WC_SUCCESS, "the first key");
      run.exchange.offer("written", {});
      const Card window = run.exchange.await(bound_card);
      if (length_bytes > 0) {
        run.expect_equal(write_to(endpoint, window, window_offset), IBV_WC_SUCCESS, "the new key");
      }
      run.expect_equal(write_to(endpoint, old, window_offset), IBV_WC_REM_ACCESS_ERR,
                       "the old key");
      run.exchange.offer(ended_card, {});
    };
    const auto right = [length_bytes](TwoPrograms& run) {
      Endpoint endpoint({.region_rights = rights_for_windows});
      ibv_mw* const window = ibv_alloc_mw(endpoint.pd, IBV_MW_TYPE_1);
      run.connect(endpoint, "right", "left");
      ibv_mw_bind bind{.wr_id = 9,
                       .send_flags = IBV_SEND_SIGNALED,
                       .bind_info = part_of(endpoint, IBV_ACCESS_REMOTE_WRITE)};
      run.expect_equal(ibv_bind_mw(endpoint.qp, window, &bind), 0, "ibv_bind_mw");
      run.expect_equal(endpoint.complete().status, IBV_WC_SUCCESS, "the first bind");
      run.exchange.offer("old", card_of(endpoint, window->rkey));
      run.exchange.await("written");
      bind.bind_info.length = length_bytes;
      run.expect_equal(ibv_bind_mw(endpoint.qp, window, &bind), 0, "ibv_bind_mw again");
      run.expect_equal(endpoint.complete().wr_id, 9U, "the second bind");
      run.exchange.offer(bound_card, card_of(endpoint, window->rkey));
      await_end(run);
    };
    const check::Result result = run_without_faults("type 1", left, right);
    EXPECT_TRUE(result.holds()) << result.story();
  }
}

// A device finds these mistakes when the turn of the request comes.
TEST(MemoryWindows, OfMistakesFailTheirBind) {
  struct Mistake {
    const char* what;
    unsigned region_rights;
    unsigned window_rights;
    std::uint64_t length_bytes;
    bool keeps_key;
  };
  const std::array mistakes{
      Mistake{"a region without the right", IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_READ,
              window_bytes, false},
      Mistake{"WRITEs to what is not written", IBV_ACCESS_MW_BIND, IBV_ACCESS_REMOTE_WRITE,
              window_bytes, false},
      Mistake{"more than the region", rights_for_windows, IBV_ACCESS_REMOTE_READ,
              Endpoint::buffer_bytes, false},
      Mistake{"the same key", rights_for_windows, IBV_ACCESS_REMOTE_READ, window_bytes, true}};
  for (const Mistake& mistake : mistakes) {
    const auto right = [&mistake](TwoPrograms& run) {
      Endpoint endpoint({.region_rights = mistake.region_rights});
      ibv_mw* const window = ibv_alloc_mw(endpoint.pd, IBV_MW_TYPE_2);
      run.connect(endpoint, "right", "left");
      ibv_mw_bind_info info = part_of(endpoint, mistake.window_rights);
      info.length = mistake.length_bytes;
      ibv_send_wr bind = bind_request(window, info);
      if (mistake.keeps_key) bind.bind_mw.rkey = window->rkey;
      run.expect_equal(endpoint.run(bind), IBV_WC_MW_BIND_ERR, mistake.what);
    };
    const auto left = [](TwoPrograms& run) {
      Endpoint endpoint;
      run.connect(endpoint, "left", "right");
      endpoint.post_receive(1, 0, 8);
    };
    const check::Result result = run_without_faults("mistakes", left, right);
    EXPECT_TRUE(result.holds()) << result.story();
  }
}

}  // namespace
}  // namespace falafel::simulated_verbs
