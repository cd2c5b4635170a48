// Programs that connect by synchronous calls of rdma_cm, and those that find datagram services.
#include <gtest/gtest.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "simulated_verbs/programs.h"
#include "tests/simulated_verbs/connecting.h"
#include "tests/simulated_verbs/programs_of_test.h"

namespace falafel::simulated_verbs {
namespace {

// -------------------------------------------------------------------------------------------------
// Synchronous calls

int open_endpoint(rdma_cm_id*& id, const char* node, int flags) {
  rdma_addrinfo hints{};
  hints.ai_flags = flags;
  hints.ai_port_space = RDMA_PS_TCP;
  rdma_addrinfo* found = nullptr;
  FALAFEL_REQUIRE(rdma_getaddrinfo(node, "7471", &hints, &found) == 0);
  FALAFEL_REQUIRE(found->ai_qp_type == IBV_QPT_RC);
  ibv_qp_init_attr init = usual_attributes();
  init.sq_sig_all = 1;
  FALAFEL_REQUIRE(rdma_create_ep(&id, found, nullptr, &init) == 0);
  rdma_freeaddrinfo(found);
  return 0;
}

TEST(EndpointTest, EndpointsWaitForTheirEvents) {
  expect_success([](Programs& programs) {
    programs.client("server", [] {
      rdma_cm_id* listener = nullptr;
      if (const int line = open_endpoint(listener, nullptr, RAI_PASSIVE); line != 0) return line;
      FALAFEL_REQUIRE(rdma_listen(listener, 0) == 0);
      rdma_cm_id* id = nullptr;
      FALAFEL_REQUIRE(rdma_get_request(listener, &id) == 0 && id->qp != nullptr);
      std::uint64_t word = 0;
      ibv_mr* const region = rdma_reg_msgs(id, &word, sizeof word);
      FALAFEL_REQUIRE(rdma_post_recv(id, nullptr, &word, sizeof word, region) == 0);
      FALAFEL_REQUIRE(rdma_accept(id, nullptr) == 0);
      ibv_wc completion{};
      FALAFEL_REQUIRE(rdma_get_recv_comp(id, &completion) == 1 && word == 7);
      FALAFEL_REQUIRE(rdma_disconnect(id) == 0);
      rdma_dereg_mr(region);
      rdma_destroy_ep(id);
      rdma_destroy_ep(listener);
      return 0;
    });
    programs.client("client", [] {
      rdma_cm_id* id = nullptr;
      if (const int line = open_endpoint(id, "server", 0); line != 0) return line;
      FALAFEL_REQUIRE(rdma_connect(id, nullptr) == 0);
      std::uint64_t word = 7;
      ibv_wc completion{};
      if (const int line = send_word(id, word, completion); line != 0) return line;
      FALAFEL_REQUIRE(rdma_disconnect(id) == 0);
      rdma_destroy_ep(id);
      return 0;
    });
  });
}

TEST(EndpointTest, SynchronousCallsReportErrors) {
  expect_success([](Programs& programs) {
    programs.client("only", [] {
      rdma_cm_id* id = nullptr;
      if (const int line = open_endpoint(id, "10.0.0.1", 0); line != 0) return line;
      FALAFEL_REQUIRE(rdma_connect(id, nullptr) == -1 && errno == ECONNREFUSED);
      rdma_destroy_ep(id);
      return 0;
    });
  });
}

// -------------------------------------------------------------------------------------------------
// Datagrams

// Datagrams may be lost. `expects_loss`: fails if one arrives.
AddPrograms one_datagram(bool expects_loss) {
  return [expects_loss](Programs& programs) {
    programs.client("server", [expects_loss] {
      const Server server(RDMA_PS_UDP);
      const Taken request = take_event(server.channel, true);
      FALAFEL_REQUIRE(request.private_data == padded("hello", 180));
      rdma_cm_id* const id = request.id;
      ibv_qp_init_attr init = usual_attributes(IBV_QPT_UD);
      FALAFEL_REQUIRE(rdma_create_qp(id, nullptr, &init) == 0);
      constexpr std::size_t routing_bytes = 40;
      constexpr std::size_t buffer_bytes = routing_bytes + sizeof(std::uint64_t);
      // Still there when the function returns, because a datagram may arrive then.
      auto* const buffer = static_cast<char*>(std::calloc(1, buffer_bytes));
      ibv_mr* const region = rdma_reg_msgs(id, buffer, buffer_bytes);
      FALAFEL_REQUIRE(rdma_post_recv(id, nullptr, buffer, buffer_bytes, region) == 0);
      rdma_conn_param parameters = parameters_with("welcome");
      parameters.qp_num = id->qp->qp_num;
      FALAFEL_REQUIRE(rdma_accept(id, &parameters) == 0);
      ibv_wc completion{};
      constexpr int polls = 50;
      for (int poll = 0; poll < polls; ++poll) {
        if (ibv_poll_cq(id->recv_cq, 1, &completion) == 0) continue;
        FALAFEL_REQUIRE(completion.byte_len == buffer_bytes && buffer[routing_bytes] == 7);
        FALAFEL_REQUIRE(!expects_loss);
        break;
      }
      return 0;
    });
    programs.client("client", [] {
      Client client(RDMA_PS_UDP);
      if (const int line = client.resolve(); line != 0) return line;
      ibv_qp_init_attr init = usual_attributes(IBV_QPT_UD);
      FALAFEL_REQUIRE(rdma_create_qp(client.id, nullptr, &init) == 0);
      rdma_conn_param parameters = parameters_with("hello");
      FALAFEL_REQUIRE(rdma_connect(client.id, &parameters) == 0);
      Taken event = take_event(client.channel, true);
      FALAFEL_REQUIRE(event.type == RDMA_CM_EVENT_ESTABLISHED);
      FALAFEL_REQUIRE(event.private_data == padded("welcome", 136));
      FALAFEL_REQUIRE(event.datagrams.qkey == RDMA_UDP_QKEY);
      ibv_ah* const handle = ibv_create_ah(client.id->pd, &event.datagrams.ah_attr);
      FALAFEL_REQUIRE(handle != nullptr);
      std::uint64_t word = 7;
      ibv_mr* const region = rdma_reg_msgs(client.id, &word, sizeof word);
      FALAFEL_REQUIRE(rdma_post_ud_send(client.id, nullptr, &word, sizeof word, region,
                                        IBV_SEND_SIGNALED, handle, event.datagrams.qp_num) == 0);
      ibv_wc completion{};
      FALAFEL_REQUIRE(rdma_get_send_comp(client.id, &completion) == 1);
      return 0;
    });
  };
}

TEST(EndpointTest, FindsDatagramServices) {
  expect_success(one_datagram(false));
  expect_failure(one_datagram(true), "verbs.exit-status");
}

TEST(EndpointTest, DatagramServicesMayBeAbsentOrReject) {
  expect_success([](Programs& programs) {
    programs.client("server", [] {
      const Server server(RDMA_PS_UDP);
      FALAFEL_REQUIRE(rdma_reject(take_event(server.channel, true).id, nullptr, 0) == 0);
      return 0;
    });
    programs.client("client", [] {
      for (const int status : {2, 1}) {
        Client client(RDMA_PS_UDP);
        const std::uint16_t chosen = status == 1 ? service_port + 1 : service_port;
        if (const int line = client.resolve(server_address, chosen); line != 0) return line;
        rdma_conn_param parameters = parameters_with("");
        FALAFEL_REQUIRE(rdma_connect(client.id, &parameters) == 0);
        const Taken event = take_event(client.channel, true);
        FALAFEL_REQUIRE(event.type == RDMA_CM_EVENT_UNREACHABLE && event.status == status);
      }
      return 0;
    });
  });
}

}  // namespace
}  // namespace falafel::simulated_verbs
