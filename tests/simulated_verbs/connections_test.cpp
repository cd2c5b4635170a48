// Programs that connect by rdma_cm, exchange messages and disconnect.
#include <gtest/gtest.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "explorer/check.h"
#include "simulated_verbs/programs.h"
#include "tests/simulated_verbs/connecting.h"
#include "tests/simulated_verbs/programs_of_test.h"

namespace falafel::simulated_verbs {
namespace {

// One message to the server, whose answer is its double.
int serve_one_message() {
  Server server;
  FALAFEL_REQUIRE(server.is_listening);
  const Taken request = take_event(server.channel);
  FALAFEL_REQUIRE(request.type == RDMA_CM_EVENT_CONNECT_REQUEST);
  FALAFEL_REQUIRE(request.listen_id == server.listener && request.id->context == &server);
  FALAFEL_REQUIRE(request.private_data == padded("hello", 56));
  FALAFEL_REQUIRE(request.connection.initiator_depth == 1);
  FALAFEL_REQUIRE(rdma_get_src_port(request.id) == htons(service_port));
  rdma_cm_id* const id = request.id;
  ibv_qp_init_attr init = usual_attributes();
  FALAFEL_REQUIRE(rdma_create_qp(id, nullptr, &init) == 0);
  FALAFEL_REQUIRE(init.send_cq == id->send_cq && id->qp != nullptr);
  std::array<std::uint64_t, 2> words{};
  ibv_mr* const region = rdma_reg_msgs(id, words.data(), sizeof words);
  FALAFEL_REQUIRE(region != nullptr);
  FALAFEL_REQUIRE(rdma_post_recv(id, nullptr, words.data(), 8, region) == 0);
  rdma_conn_param parameters = parameters_with("welcome");
  FALAFEL_REQUIRE(rdma_accept(id, &parameters) == 0);
  ibv_wc completion{};
  FALAFEL_REQUIRE(rdma_get_recv_comp(id, &completion) == 1);
  FALAFEL_REQUIRE(completion.status == IBV_WC_SUCCESS);
  words[1] = 2 * words[0];
  FALAFEL_REQUIRE(rdma_post_send(id, nullptr, &words[1], 8, region, IBV_SEND_SIGNALED) == 0);
  FALAFEL_REQUIRE(rdma_get_send_comp(id, &completion) == 1);
  FALAFEL_REQUIRE(completion.status == IBV_WC_SUCCESS);
  FALAFEL_REQUIRE(take_event(server.channel).type == RDMA_CM_EVENT_ESTABLISHED);
  const Taken end = take_event(server.channel);
  FALAFEL_REQUIRE(end.type == RDMA_CM_EVENT_DISCONNECTED && end.id == id);
  FALAFEL_REQUIRE(rdma_disconnect(id) == 0);
  FALAFEL_REQUIRE(take_event(server.channel).type == RDMA_CM_EVENT_TIMEWAIT_EXIT);
  FALAFEL_REQUIRE(rdma_dereg_mr(region) == 0);
  rdma_destroy_qp(id);
  FALAFEL_REQUIRE(rdma_destroy_id(id) == 0 && rdma_destroy_id(server.listener) == 0);
  rdma_destroy_event_channel(server.channel);
  return 0;
}

int send_one_message() {
  Client client;
  if (const int line = client.resolve(); line != 0) return line;
  rdma_cm_id* const id = client.id;
  FALAFEL_REQUIRE(rdma_get_dst_port(id) == htons(service_port) && rdma_get_src_port(id) != 0);
  ibv_qp_init_attr init = usual_attributes();
  FALAFEL_REQUIRE(rdma_create_qp(id, nullptr, &init) == 0);
  std::array<std::uint64_t, 2> words{21, 0};
  ibv_mr* const region = rdma_reg_msgs(id, words.data(), sizeof words);
  FALAFEL_REQUIRE(rdma_post_recv(id, nullptr, &words[1], 8, region) == 0);
  rdma_conn_param parameters = parameters_with("hello");
  FALAFEL_REQUIRE(rdma_connect(id, &parameters) == 0);
  const Taken established = take_event(client.channel);
  FALAFEL_REQUIRE(established.type == RDMA_CM_EVENT_ESTABLISHED && established.status == 0);
  FALAFEL_REQUIRE(established.private_data == padded("welcome", 196));
  FALAFEL_REQUIRE(rdma_post_send(id, nullptr, words.data(), 8, region, IBV_SEND_SIGNALED) == 0);
  ibv_wc completion{};
  FALAFEL_REQUIRE(rdma_get_recv_comp(id, &completion) == 1);
  FALAFEL_REQUIRE(completion.status == IBV_WC_SUCCESS && words[1] == 42);
  FALAFEL_REQUIRE(rdma_get_send_comp(id, &completion) == 1);
  FALAFEL_REQUIRE(rdma_disconnect(id) == 0);
  FALAFEL_REQUIRE(take_event(client.channel).type == RDMA_CM_EVENT_DISCONNECTED);
  FALAFEL_REQUIRE(rdma_dereg_mr(region) == 0);
  rdma_destroy_qp(id);
  FALAFEL_REQUIRE(rdma_destroy_id(id) == 0);
  rdma_destroy_event_channel(client.channel);
  return 0;
}

void add_one_message(Programs& programs) {
  programs.client("server", serve_one_message);
  programs.client("client", send_one_message);
}

TEST(ConnectionTest, ConnectsExchangesMessagesAndDisconnects) {
  expect_success(add_one_message);
  expect_success(add_one_message, {.faults = check::delays()});
}

TEST(ConnectionTest, RepeatsRuns) { expect_same_run_twice(add_one_message); }

// -------------------------------------------------------------------------------------------------
// Connections

// Accepts a client with the parameters, after posting a receive request if there is a buffer.
int accept_client(const Server& server, rdma_cm_id*& id, std::uint64_t* buffer,
                  const rdma_conn_param& parameters) {
  id = take_event(server.channel).id;
  ibv_qp_init_attr init = usual_attributes();
  FALAFEL_REQUIRE(rdma_create_qp(id, nullptr, &init) == 0);
  if (buffer != nullptr) {
    ibv_mr* const region = rdma_reg_write(id, buffer, sizeof *buffer);
    FALAFEL_REQUIRE(rdma_post_recv(id, nullptr, buffer, sizeof *buffer, region) == 0);
  }
  rdma_conn_param accepted = parameters;
  FALAFEL_REQUIRE(rdma_accept(id, &accepted) == 0);
  return 0;
}

int connect_client(Client& client, const rdma_conn_param& parameters) {
  if (const int line = client.resolve(); line != 0) return line;
  ibv_qp_init_attr init = usual_attributes();
  FALAFEL_REQUIRE(rdma_create_qp(client.id, nullptr, &init) == 0);
  rdma_conn_param connected = parameters;
  FALAFEL_REQUIRE(rdma_connect(client.id, &connected) == 0);
  FALAFEL_REQUIRE(take_event(client.channel).type == RDMA_CM_EVENT_ESTABLISHED);
  return 0;
}

int send_word(rdma_cm_id* id, std::uint64_t& word, ibv_wc& completion) {
  ibv_mr* const region = rdma_reg_msgs(id, &word, sizeof word);
  FALAFEL_REQUIRE(rdma_post_send(id, nullptr, &word, sizeof word, region, IBV_SEND_SIGNALED) == 0);
  FALAFEL_REQUIRE(rdma_get_send_comp(id, &completion) == 1);
  return 0;
}

// `expects_event_first`: fails if a message arrives before the event that says that the connection
// is established.
AddPrograms message_at_once(bool expects_event_first) {
  return [expects_event_first](Programs& programs) {
    programs.client("server", [expects_event_first] {
      const Server server;
      rdma_cm_id* id = nullptr;
      std::uint64_t word = 0;
      if (const int line = accept_client(server, id, &word, parameters_with("")); line != 0) {
        return line;
      }
      ibv_wc completion{};
      FALAFEL_REQUIRE(rdma_get_recv_comp(id, &completion) == 1 && word == 7);
      pollfd polled{.fd = server.channel->fd, .events = POLLIN, .revents = 0};
      const bool has_event = poll(&polled, 1, 0) == 1;
      FALAFEL_REQUIRE(has_event || !expects_event_first);
      FALAFEL_REQUIRE(take_event(server.channel).type == RDMA_CM_EVENT_ESTABLISHED);
      FALAFEL_REQUIRE(take_event(server.channel).type == RDMA_CM_EVENT_DISCONNECTED);
      return 0;
    });
    programs.client("client", [] {
      Client client;
      if (const int line = connect_client(client, parameters_with("")); line != 0) return line;
      std::uint64_t word = 7;
      ibv_wc completion{};
      return send_word(client.id, word, completion);
    });
  };
}

// The end of the client's program disconnects.
TEST(ConnectionTest, MessagesMayOvertakeTheEstablishedEvent) {
  expect_success(message_at_once(false));
  expect_failure(message_at_once(true), "verbs.exit-status");
}

// The peer of a side says how often that side tries again when it finds no receive request.
TEST(ConnectionTest, TheReceiverLimitsRetriesOfItsPeer) {
  const AddPrograms add = [](Programs& programs) {
    programs.client("server", [] {
      const Server server;
      rdma_cm_id* id = nullptr;
      rdma_conn_param parameters = parameters_with("");
      parameters.rnr_retry_count = 0;
      if (const int line = accept_client(server, id, nullptr, parameters); line != 0) return line;
      take_event(server.channel);
      FALAFEL_REQUIRE(take_event(server.channel).type == RDMA_CM_EVENT_DISCONNECTED);
      return 0;
    });
    programs.client("client", [] {
      Client client;
      if (const int line = connect_client(client, parameters_with("")); line != 0) return line;
      std::uint64_t word = 7;
      ibv_wc completion{};
      if (const int line = send_word(client.id, word, completion); line != 0) return line;
      FALAFEL_REQUIRE(completion.status == IBV_WC_RNR_RETRY_EXC_ERR);
      return 0;
    });
  };
  expect_success(add);
}

TEST(ConnectionTest, BothSidesMayDisconnectAtOnce) {
  const auto disconnect = [](rdma_event_channel* channel, rdma_cm_id* id) {
    FALAFEL_REQUIRE(rdma_disconnect(id) == 0);
    FALAFEL_REQUIRE(take_event(channel).type == RDMA_CM_EVENT_DISCONNECTED);
    FALAFEL_REQUIRE(take_event(channel).type == RDMA_CM_EVENT_TIMEWAIT_EXIT);
    rdma_destroy_qp(id);
    return rdma_destroy_id(id);
  };
  expect_success(
      [disconnect](Programs& programs) {
        programs.client("server", [disconnect] {
          const Server server;
          rdma_cm_id* id = nullptr;
          if (const int line = accept_client(server, id, nullptr, parameters_with("")); line != 0) {
            return line;
          }
          FALAFEL_REQUIRE(take_event(server.channel).type == RDMA_CM_EVENT_ESTABLISHED);
          return disconnect(server.channel, id);
        });
        programs.client("client", [disconnect] {
          Client client;
          if (const int line = connect_client(client, parameters_with("")); line != 0) return line;
          return disconnect(client.channel, client.id);
        });
      },
      {.faults = check::delays()});
}

// A program that creates its queue pairs itself.
TEST(ConnectionTest, ProgramsMayOwnTheQueuePair) {
  expect_success([](Programs& programs) {
    programs.client("server", [] {
      const Server server;
      rdma_cm_id* id = nullptr;
      if (const int line = accept_client(server, id, nullptr, parameters_with("")); line != 0) {
        return line;
      }
      FALAFEL_REQUIRE(take_event(server.channel).type == RDMA_CM_EVENT_ESTABLISHED);
      return 0;
    });
    programs.client("client", [] {
      Client client;
      if (const int line = client.resolve(); line != 0) return line;
      ibv_qp_init_attr init = usual_attributes();
      init.send_cq = init.recv_cq = ibv_create_cq(client.id->verbs, 8, nullptr, nullptr, 0);
      ibv_qp* const qp = ibv_create_qp(client.id->pd, &init);
      rdma_conn_param parameters = parameters_with("");
      parameters.qp_num = qp->qp_num;
      FALAFEL_REQUIRE(rdma_connect(client.id, &parameters) == 0);
      FALAFEL_REQUIRE(take_event(client.channel).type == RDMA_CM_EVENT_CONNECT_RESPONSE);
      for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
        ibv_qp_attr attributes{};
        attributes.qp_state = state;
        int mask = 0;
        FALAFEL_REQUIRE(rdma_init_qp_attr(client.id, &attributes, &mask) == 0);
        FALAFEL_REQUIRE(ibv_modify_qp(qp, &attributes, mask) == 0);
      }
      FALAFEL_REQUIRE(rdma_establish(client.id) == 0);
      return 0;
    });
  });
}

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

TEST(ConnectionTest, EndpointsWaitForTheirEvents) {
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

TEST(ConnectionTest, SynchronousCallsReportErrors) {
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

TEST(ConnectionTest, FindsDatagramServices) {
  expect_success(one_datagram(false));
  expect_failure(one_datagram(true), "verbs.exit-status");
}

TEST(ConnectionTest, DatagramServicesMayBeAbsentOrReject) {
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
