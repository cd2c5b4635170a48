// Channels, events and addresses of rdma_cm, and requests that nobody accepts.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>

#include "simulated_verbs/programs.h"
#include "tests/simulated_verbs/connecting.h"
#include "tests/simulated_verbs/programs_of_test.h"

namespace falafel::simulated_verbs {
namespace {

// -------------------------------------------------------------------------------------------------
// Events

TEST(ConnectionManagerTest, PollsChannelsWithoutBlocking) {
  expect_success([](Programs& programs) {
    programs.client("only", [] {
      Client client;
      const int descriptor = client.channel->fd;
      const int flags = fcntl(descriptor, F_GETFL);
      FALAFEL_REQUIRE(fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0);
      rdma_cm_event* event = nullptr;
      FALAFEL_REQUIRE(rdma_get_cm_event(client.channel, &event) == -1 && errno == EAGAIN);
      sockaddr_in own = address_of(server_address);
      FALAFEL_REQUIRE(rdma_resolve_addr(client.id, nullptr, reinterpret_cast<sockaddr*>(&own),
                                        timeout_ms) == 0);
      pollfd polled{.fd = descriptor, .events = POLLIN, .revents = 0};
      FALAFEL_REQUIRE(poll(&polled, 1, -1) == 1 && polled.revents == POLLIN);
      FALAFEL_REQUIRE(rdma_get_cm_event(client.channel, &event) == 0);
      FALAFEL_REQUIRE(event->event == RDMA_CM_EVENT_ADDR_RESOLVED && event->id == client.id);
      FALAFEL_REQUIRE(rdma_ack_cm_event(event) == 0);
      FALAFEL_REQUIRE(poll(&polled, 1, 0) == 0);
      return 0;
    });
  });
}

// Begins to resolve, and takes the event.
rdma_cm_event* unacknowledged_event(const Client& client) {
  sockaddr_in own = address_of(server_address);
  rdma_resolve_addr(client.id, nullptr, reinterpret_cast<sockaddr*>(&own), timeout_ms);
  rdma_cm_event* event = nullptr;
  rdma_get_cm_event(client.channel, &event);
  return event;
}

TEST(ConnectionManagerTest, DestructionWaitsForAcknowledgement) {
  expect_success([](Programs& programs) {
    programs.client("only", [] {
      Client client;
      rdma_cm_event* event = unacknowledged_event(client);
      pthread_t thread{};
      const auto acknowledge = [](void* argument) -> void* {
        rdma_ack_cm_event(static_cast<rdma_cm_event*>(argument));
        return nullptr;
      };
      FALAFEL_REQUIRE(pthread_create(&thread, nullptr, acknowledge, event) == 0);
      FALAFEL_REQUIRE(rdma_destroy_id(client.id) == 0);
      FALAFEL_REQUIRE(pthread_join(thread, nullptr) == 0);
      return 0;
    });
  });
  const AddPrograms never_acknowledges = [](Programs& programs) {
    programs.client("only", [] {
      Client client;
      unacknowledged_event(client);
      return rdma_destroy_id(client.id);
    });
  };
  expect_failure(never_acknowledges, "progress.stuck");
}

TEST(ConnectionManagerTest, DestroyedIdentifiersHaveNoEvents) {
  expect_success([](Programs& programs) {
    programs.client("only", [] {
      Client client;
      sockaddr_in own = address_of(server_address);
      rdma_resolve_addr(client.id, nullptr, reinterpret_cast<sockaddr*>(&own), timeout_ms);
      FALAFEL_REQUIRE(rdma_destroy_id(client.id) == 0);
      pollfd polled{.fd = client.channel->fd, .events = POLLIN, .revents = 0};
      FALAFEL_REQUIRE(poll(&polled, 1, 10) == 0);
      return 0;
    });
  });
}

TEST(ConnectionManagerTest, ReportsUseAfterRelease) {
  const AddPrograms destroys_twice = [](Programs& programs) {
    programs.client("only", [] {
      Client client;
      FALAFEL_REQUIRE(rdma_destroy_id(client.id) == 0);
      FALAFEL_REQUIRE(rdma_destroy_id(client.id) == -1);
      return 0;
    });
  };
  expect_failure(destroys_twice, "verbs.released-object");
  const AddPrograms acknowledges_twice = [](Programs& programs) {
    programs.client("only", [] {
      Client client;
      rdma_cm_event* event = unacknowledged_event(client);
      FALAFEL_REQUIRE(rdma_ack_cm_event(event) == 0);
      FALAFEL_REQUIRE(rdma_ack_cm_event(event) == -1);
      return 0;
    });
  };
  expect_failure(acknowledges_twice, "verbs.released-object");
}

TEST(ConnectionManagerTest, NamesEvents) {
  EXPECT_STREQ(rdma_event_str(RDMA_CM_EVENT_ADDR_RESOLVED), "RDMA_CM_EVENT_ADDR_RESOLVED");
  EXPECT_STREQ(rdma_event_str(RDMA_CM_EVENT_TIMEWAIT_EXIT), "RDMA_CM_EVENT_TIMEWAIT_EXIT");
}

// -------------------------------------------------------------------------------------------------
// Addresses and states

TEST(ConnectionManagerTest, BindsPortsOfItsOwn) {
  expect_success([](Programs& programs) {
    programs.client("only", [] {
      rdma_event_channel* const channel = rdma_create_event_channel();
      std::array<rdma_cm_id*, 3> ids{};
      for (rdma_cm_id*& id : ids) rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP);
      sockaddr_in any = address_of(0);
      sockaddr_in own = address_of(server_address);
      sockaddr_in foreign = address_of(server_address + 9);
      auto* const address_of_any = reinterpret_cast<sockaddr*>(&any);
      FALAFEL_REQUIRE(rdma_bind_addr(ids[0], reinterpret_cast<sockaddr*>(&own)) == 0);
      FALAFEL_REQUIRE(ids[0]->verbs != nullptr && rdma_get_src_port(ids[0]) == htons(service_port));
      FALAFEL_REQUIRE(rdma_bind_addr(ids[0], address_of_any) == -1 && errno == EINVAL);
      FALAFEL_REQUIRE(rdma_bind_addr(ids[1], address_of_any) == -1 && errno == EADDRINUSE);
      FALAFEL_REQUIRE(rdma_bind_addr(ids[1], reinterpret_cast<sockaddr*>(&foreign)) == -1 &&
                      errno == ENODEV);
      FALAFEL_REQUIRE(rdma_listen(ids[1], 0) == 0 && rdma_get_src_port(ids[1]) != 0);
      FALAFEL_REQUIRE(rdma_listen(ids[1], 0) == -1 && errno == EINVAL);
      FALAFEL_REQUIRE(rdma_destroy_id(ids[0]) == 0);
      FALAFEL_REQUIRE(rdma_bind_addr(ids[2], address_of_any) == 0 && ids[2]->verbs == nullptr);
      any.sin_family = AF_INET6;
      FALAFEL_REQUIRE(rdma_bind_addr(ids[1], address_of_any) == -1 && errno == EAFNOSUPPORT);
      int count = 0;
      ibv_context** const devices = rdma_get_devices(&count);
      FALAFEL_REQUIRE(count == 1 && devices[0] != nullptr && devices[1] == nullptr);
      rdma_free_devices(devices);
      return 0;
    });
  });
}

TEST(ConnectionManagerTest, RefusesCallsInOtherStates) {
  expect_success([](Programs& programs) {
    programs.client("only", [] {
      Client client;
      rdma_conn_param parameters = parameters_with("");
      FALAFEL_REQUIRE(rdma_resolve_route(client.id, timeout_ms) == -1 && errno == EINVAL);
      FALAFEL_REQUIRE(rdma_connect(client.id, &parameters) == -1 && errno == EINVAL);
      FALAFEL_REQUIRE(rdma_accept(client.id, &parameters) == -1 && errno == EINVAL);
      FALAFEL_REQUIRE(rdma_reject(client.id, nullptr, 0) == -1 && errno == EINVAL);
      FALAFEL_REQUIRE(rdma_disconnect(client.id) == -1 && errno == EINVAL);
      if (const int line = client.resolve(); line != 0) return line;
      const std::string too_long(57, 'x');
      parameters = parameters_with(too_long);
      FALAFEL_REQUIRE(rdma_connect(client.id, &parameters) == -1 && errno == EINVAL);
      parameters = parameters_with("");
      parameters.initiator_depth = 200;
      FALAFEL_REQUIRE(rdma_connect(client.id, &parameters) == -1 && errno == EINVAL);
      std::uint8_t timeout = 14;
      FALAFEL_REQUIRE(rdma_set_option(client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
                                      &timeout, sizeof timeout) == 0);
      FALAFEL_REQUIRE(rdma_set_option(client.id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &timeout,
                                      sizeof timeout) == -1 &&
                      errno == ENOSYS);
      return 0;
    });
  });
}

TEST(ConnectionManagerTest, UnknownAddressesAreNotResolved) {
  expect_success([](Programs& programs) {
    programs.client("only", [] {
      Client client;
      sockaddr_in unknown = address_of(server_address + 9);
      rdma_resolve_addr(client.id, nullptr, reinterpret_cast<sockaddr*>(&unknown), timeout_ms);
      const Taken event = take_event(client.channel);
      FALAFEL_REQUIRE(event.type == RDMA_CM_EVENT_ADDR_ERROR && event.status == -ETIMEDOUT);
      return 0;
    });
  });
}

// -------------------------------------------------------------------------------------------------
// Failures to connect

int connect_in_vain(Client& client, Taken& event, std::uint16_t wanted_port = service_port) {
  if (const int line = client.resolve(server_address, wanted_port); line != 0) return line;
  ibv_qp_init_attr init = usual_attributes();
  FALAFEL_REQUIRE(rdma_create_qp(client.id, nullptr, &init) == 0);
  rdma_conn_param parameters = parameters_with("hello");
  FALAFEL_REQUIRE(rdma_connect(client.id, &parameters) == 0);
  event = take_event(client.channel);
  ibv_qp_attr attributes{};
  FALAFEL_REQUIRE(ibv_query_qp(client.id->qp, &attributes, IBV_QP_STATE, &init) == 0);
  FALAFEL_REQUIRE((attributes.qp_state == IBV_QPS_ERR) == (event.type == RDMA_CM_EVENT_REJECTED));
  rdma_destroy_qp(client.id);
  FALAFEL_REQUIRE(rdma_destroy_id(client.id) == 0);
  return 0;
}

TEST(ConnectionManagerTest, ServersReject) {
  expect_success([](Programs& programs) {
    programs.client("server", [] {
      Server server;
      const Taken request = take_event(server.channel);
      FALAFEL_REQUIRE(rdma_reject(request.id, "no", 2) == 0);
      FALAFEL_REQUIRE(rdma_destroy_id(request.id) == 0);
      // This one is rejected by its destruction.
      FALAFEL_REQUIRE(rdma_destroy_id(take_event(server.channel).id) == 0);
      return 0;
    });
    programs.client("client", [] {
      Client first;
      Taken event;
      if (const int line = connect_in_vain(first, event); line != 0) return line;
      FALAFEL_REQUIRE(event.type == RDMA_CM_EVENT_REJECTED && event.status == 28);
      FALAFEL_REQUIRE(event.private_data == padded("no", 148));
      Client second;
      if (const int line = connect_in_vain(second, event); line != 0) return line;
      FALAFEL_REQUIRE(event.type == RDMA_CM_EVENT_REJECTED && event.status == 28);
      return 0;
    });
  });
}

TEST(ConnectionManagerTest, NobodyListens) {
  expect_success([](Programs& programs) {
    programs.server("server", [] {
      const Server server;
      take_event(server.channel);  // never
      return 0;
    });
    programs.client("client", [] {
      Client at_wrong_port;
      Taken event;
      if (const int line = connect_in_vain(at_wrong_port, event, service_port + 1); line != 0)
        return line;
      FALAFEL_REQUIRE(event.type == RDMA_CM_EVENT_REJECTED && event.status == 8);
      return 0;
    });
  });
}

TEST(ConnectionManagerTest, SilentServersAreUnreachable) {
  const AddPrograms add = [](Programs& programs) {
    programs.server("server", [] {
      const Server server;
      take_event(server.channel);  // and never answers
      take_event(server.channel);
      return 0;
    });
    programs.client("client", [] {
      Client client;
      Taken event;
      if (const int line = connect_in_vain(client, event); line != 0) return line;
      FALAFEL_REQUIRE(event.type == RDMA_CM_EVENT_UNREACHABLE && event.status == -ETIMEDOUT);
      return 0;
    });
  };
  expect_success(add);
}

}  // namespace
}  // namespace falafel::simulated_verbs
