// Communication identifiers and their events. Memory of an object that the program has released
// stays until its process ends, filled with garbage, so that a use after the release does the same
// in each run and can be reported.
#pragma once

#include <rdma/rdma_cma.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "simulated_verbs/connection_manager/conversation.h"
#include "simulated_verbs/connection_manager/message.h"
#include "simulated_verbs/object_of_program.h"

namespace falafel::simulated_verbs {

class Process;

// Something that has happened to an identifier, and that the program has not taken yet.
struct Occurrence {
  Identifier* reported_for = nullptr;  // its destruction waits for the acknowledgement
  Identifier* subject = nullptr;       // a new one if it is a request for a connection
  rdma_cm_event_type type = RDMA_CM_EVENT_ADDR_RESOLVED;
  int status = 0;
  std::optional<Message> message{};
};

struct EventChannel : rdma_event_channel, ObjectOfProgram {
  std::deque<Occurrence> occurrences;
  bool is_released = false;
};

struct Identifier : rdma_cm_id, ObjectOfProgram {
  enum class State : std::uint8_t {
    idle,
    bound,
    resolving_address,
    address_resolved,
    resolving_route,
    route_resolved,
    listening,
    requesting,  // the active side has sent a request
    answered,    // it has received a reply
    requested,   // the passive side has received a request
    accepted,    // it has sent a reply
    established,
    disconnecting,
    disconnected,
    failed,
  };

  explicit Identifier(rdma_port_space space) : rdma_cm_id{} {
    ps = space;
    qp_type = space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
  }

  EventChannel& event_channel() const { return *static_cast<EventChannel*>(channel); }
  bool has_datagrams() const { return qp_type == IBV_QPT_UD; }

  State state = State::idle;
  bool is_released = false;
  bool is_synchronous = false;  // its functions wait for their events
  bool may_share_port = false;
  std::uint32_t reported_events = 0;
  std::uint32_t acknowledged_events = 0;
  std::uint32_t backlog = 0;
  std::shared_ptr<Conversation> conversation;
  std::uint16_t peer_lid = 0;
  Message own;   // what this side has told the other one
  Message peer;  // and the other way round
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::optional<std::uint8_t> acknowledge_timeout;
  // From rdma_create_ep, for each connection that rdma_get_request returns.
  std::optional<ibv_qp_init_attr> attributes_of_requests;
  ibv_pd* domain_of_requests = nullptr;
};

struct ConnectionEvent : rdma_cm_event, ObjectOfProgram {
  explicit ConnectionEvent(const Occurrence& occurrence);

  Identifier* reported_for;
  bool is_released = false;
  std::array<std::uint8_t, 224> private_data{};
};

inline Identifier& wrapper_of(rdma_cm_id* id) { return *static_cast<Identifier*>(id); }

// For functions that return a number.
inline int fail_with_errno(int error) {
  errno = error;
  return -1;
}

}  // namespace falafel::simulated_verbs
