// Programs that connect by rdma_cm, exchange messages and disconnect.
#include <gtest/gtest.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include "explorer/check.h"
#include "simulated_verbs/library_call.h"
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

// Runs a server that accepts one client, and crashes when the client calls `crash`.
using ClientOfCrash = std::function<int(const std::function<void()>& crash)>;

check::Result run_with_crash(const ClientOfCrash& client) {
  return check::random({.name = name_of_test(), .schedules = 100, .output = testing::TempDir()},
                       [&client](check::World& world) {
                         Programs programs(world);
                         programs.server("server", [] {
                           const Server server;
                           rdma_cm_id* id = nullptr;
                           accept_client(server, id, nullptr, parameters_with(""));
                           take_event(server.channel);
                           take_event(server.channel);
                           return 0;
                         });
                         programs.client("client", [&] {
                           return client([&world] {
                             const LibraryCall call("crash");
                             world.simulation().crash("server");
                           });
                         });
                         world.run();
                       });
}

TEST(ConnectionTest, CrashedPeersAreSilent) {
  const check::Result result = run_with_crash([](const std::function<void()>& crash) {
    Client client;
    if (const int line = connect_client(client, parameters_with("")); line != 0) return line;
    crash();
    std::uint64_t word = 7;
    ibv_wc completion{};
    if (const int line = send_word(client.id, word, completion); line != 0) return line;
    FALAFEL_REQUIRE(completion.status == IBV_WC_RETRY_EXC_ERR);
    pollfd polled{.fd = client.channel->fd, .events = POLLIN, .revents = 0};
    FALAFEL_REQUIRE(poll(&polled, 1, 0) == 0);
    FALAFEL_REQUIRE(rdma_disconnect(client.id) == 0);
    FALAFEL_REQUIRE(take_event(client.channel).type == RDMA_CM_EVENT_DISCONNECTED);
    return 0;
  });
  EXPECT_TRUE(result.holds()) << result.story();
}

TEST(ConnectionTest, CrashedServersAreUnreachable) {
  const check::Result result = run_with_crash([](const std::function<void()>& crash) {
    Client client;
    if (const int line = client.resolve(); line != 0) return line;
    crash();
    ibv_qp_init_attr init = usual_attributes();
    FALAFEL_REQUIRE(rdma_create_qp(client.id, nullptr, &init) == 0);
    rdma_conn_param parameters = parameters_with("");
    FALAFEL_REQUIRE(rdma_connect(client.id, &parameters) == 0);
    const Taken event = take_event(client.channel);
    FALAFEL_REQUIRE(event.type == RDMA_CM_EVENT_UNREACHABLE && event.status == -ETIMEDOUT);
    return 0;
  });
  EXPECT_TRUE(result.holds()) << result.story();
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

}  // namespace
}  // namespace falafel::simulated_verbs
