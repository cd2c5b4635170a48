// The beginning of programs that connect by rdma_cm, as their users write it.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "explorer/check.h"
#include "tests/simulated_verbs/programs_of_test.h"

namespace falafel::simulated_verbs {

inline constexpr std::uint16_t service_port = 7471;
inline constexpr int timeout_ms = 2000;
inline constexpr std::uint32_t server_address = 0x0a000001;

inline sockaddr_in address_of(std::uint32_t address, std::uint16_t wanted_port = service_port) {
  sockaddr_in internet{};
  internet.sin_family = AF_INET;
  internet.sin_addr.s_addr = htonl(address);
  internet.sin_port = htons(wanted_port);
  return internet;
}

// Takes and acknowledges the next event. Returns its type and copies what tests look at.
struct Taken {
  rdma_cm_event_type type = RDMA_CM_EVENT_ADDR_RESOLVED;
  int status = 0;
  rdma_cm_id* id = nullptr;
  rdma_cm_id* listen_id = nullptr;
  rdma_conn_param connection{};
  rdma_ud_param datagrams{};
  std::string private_data{};
};

inline Taken take_event(rdma_event_channel* channel, bool has_datagrams = false) {
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(channel, &event) != 0) std::abort();
  Taken taken{.type = event->event,
              .status = event->status,
              .id = event->id,
              .listen_id = event->listen_id};
  if (has_datagrams) {
    taken.datagrams = event->param.ud;
  } else {
    taken.connection = event->param.conn;
  }
  const void* const data =
      has_datagrams ? taken.datagrams.private_data : taken.connection.private_data;
  const std::size_t length =
      has_datagrams ? taken.datagrams.private_data_len : taken.connection.private_data_len;
  if (data != nullptr) taken.private_data.assign(static_cast<const char*>(data), length);
  rdma_ack_cm_event(event);
  return taken;
}

inline ibv_qp_init_attr usual_attributes(ibv_qp_type type = IBV_QPT_RC) {
  ibv_qp_init_attr init{};
  init.qp_type = type;
  init.cap = {.max_send_wr = 4,
              .max_recv_wr = 4,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  return init;
}

// The private data outlives the parameters.
inline rdma_conn_param parameters_with(std::string_view private_data) {
  rdma_conn_param parameters{};
  parameters.private_data = private_data.data();
  parameters.private_data_len = static_cast<std::uint8_t>(private_data.size());
  parameters.responder_resources = 1;
  parameters.initiator_depth = 1;
  parameters.retry_count = 7;
  parameters.rnr_retry_count = 7;
  return parameters;
}

// The first part of a server: up to the request of a client, which it returns.
struct Server {
  explicit Server(rdma_port_space space = RDMA_PS_TCP) {
    channel = rdma_create_event_channel();
    rdma_create_id(channel, &listener, this, space);
    sockaddr_in any = address_of(0);
    is_listening = rdma_bind_addr(listener, reinterpret_cast<sockaddr*>(&any)) == 0 &&
                   rdma_listen(listener, 8) == 0;
  }

  rdma_event_channel* channel = nullptr;
  rdma_cm_id* listener = nullptr;
  bool is_listening = false;
};

struct Client {
  explicit Client(rdma_port_space space = RDMA_PS_TCP) {
    channel = rdma_create_event_channel();
    rdma_create_id(channel, &id, nullptr, space);
  }

  // Up to the resolved route. 0, or the line that failed.
  int resolve(std::uint32_t address = server_address, std::uint16_t wanted_port = service_port) {
    sockaddr_in remote = address_of(address, wanted_port);
    FALAFEL_REQUIRE(
        rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&remote), timeout_ms) == 0);
    FALAFEL_REQUIRE(take_event(channel).type == RDMA_CM_EVENT_ADDR_RESOLVED);
    FALAFEL_REQUIRE(id->verbs != nullptr && id->pd != nullptr && id->port_num == 1);
    FALAFEL_REQUIRE(rdma_resolve_route(id, timeout_ms) == 0);
    FALAFEL_REQUIRE(take_event(channel).type == RDMA_CM_EVENT_ROUTE_RESOLVED);
    return 0;
  }

  rdma_event_channel* channel = nullptr;
  rdma_cm_id* id = nullptr;
};

inline std::string padded(const std::string& text, std::size_t length) {
  return text + std::string(length - text.size(), '\0');
}

// Accepts a client with the parameters, after posting a receive request if there is a buffer.
inline int accept_client(const Server& server, rdma_cm_id*& id, std::uint64_t* buffer,
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

inline int connect_client(Client& client, const rdma_conn_param& parameters) {
  if (const int line = client.resolve(); line != 0) return line;
  ibv_qp_init_attr init = usual_attributes();
  FALAFEL_REQUIRE(rdma_create_qp(client.id, nullptr, &init) == 0);
  rdma_conn_param connected = parameters;
  FALAFEL_REQUIRE(rdma_connect(client.id, &connected) == 0);
  FALAFEL_REQUIRE(take_event(client.channel).type == RDMA_CM_EVENT_ESTABLISHED);
  return 0;
}

inline int send_word(rdma_cm_id* id, std::uint64_t& word, ibv_wc& completion) {
  ibv_mr* const region = rdma_reg_msgs(id, &word, sizeof word);
  FALAFEL_REQUIRE(rdma_post_send(id, nullptr, &word, sizeof word, region, IBV_SEND_SIGNALED) == 0);
  FALAFEL_REQUIRE(rdma_get_send_comp(id, &completion) == 1);
  return 0;
}

inline void expect_failure(AddPrograms add, const std::string& property,
                           check::Network network = {}) {
  const check::Options options{.name = name_of_test(),
                               .schedules = 300,
                               .shrink_seconds = 0.1,
                               .critical_tries = 1,
                               .output = testing::TempDir() + "simulated_verbs_test",
                               .network = std::move(network)};
  const check::WorldProgram program(options.name, options.network, as_body(std::move(add)));
  const check::Result result = check::run_campaign(program, options, {});
  EXPECT_FALSE(result.holds());
  EXPECT_NE(result.story().find(property), std::string::npos) << result.story();
}

}  // namespace falafel::simulated_verbs
