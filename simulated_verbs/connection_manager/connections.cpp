// Connecting, accepting, rejecting and disconnecting: the states of an identifier.
#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "fabric/time_units.h"
#include "simulated_verbs/connection_manager/connection_manager.h"
#include "simulated_verbs/internet_address.h"
#include "simulated_verbs/process_site.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

using State = Identifier::State;

namespace {

constexpr std::uint32_t packet_numbers = 1U << 24U;
constexpr std::uint64_t disconnection_timeout_ns = 69 * fabric::second_ns;
constexpr int largest_backlog = 1024;  // net.rdma_ucm.max_backlog

}  // namespace

ConnectionEvent::ConnectionEvent(const Occurrence& occurrence)
    : rdma_cm_event{}, reported_for(occurrence.reported_for) {
  id = occurrence.subject;
  if (occurrence.subject != occurrence.reported_for) listen_id = occurrence.reported_for;
  event = occurrence.type;
  status = occurrence.status;
  if (!occurrence.message) return;
  const Message& message = *occurrence.message;
  private_data = message.private_data;
  const std::uint8_t length_bytes = private_data_bytes(message.kind);
  const void* const data = length_bytes == 0 ? nullptr : private_data.data();
  if (occurrence.subject->has_datagrams()) {
    param.ud.private_data = data;
    param.ud.private_data_len = length_bytes;
    if (message.kind != Message::datagram_reply || message.reason != 0) return;
    param.ud.ah_attr.dlid = occurrence.subject->peer_lid;
    param.ud.ah_attr.port_num = only_port;
    param.ud.qp_num = message.qp_num;
    param.ud.qkey = message.qkey;
    return;
  }
  param.conn = {.private_data = data,
                .private_data_len = length_bytes,
                .responder_resources = static_cast<std::uint8_t>(message.initiator_depth),
                .initiator_depth = static_cast<std::uint8_t>(message.responder_resources),
                .flow_control = 1,
                .retry_count = static_cast<std::uint8_t>(message.retry_count),
                .rnr_retry_count = static_cast<std::uint8_t>(message.rnr_retry_count),
                .srq = static_cast<std::uint8_t>(message.has_shared_receives),
                .qp_num = message.qp_num};
}

// -------------------------------------------------------------------------------------------------
// The program's calls

Message ConnectionManager::message_of(const Identifier& id, Message::Kind kind) const {
  return {.kind = kind,
          .port_space = static_cast<std::uint32_t>(id.ps),
          .port = ntohs(id.route.addr.dst_sin.sin_port),
          .source_port = ntohs(id.route.addr.src_sin.sin_port),
          .psn = static_cast<std::uint32_t>(stack_->host().random(packet_numbers)),
          .path_mtu = active_mtu(*process_),
          .responder_resources = id.responder_resources,
          .initiator_depth = id.initiator_depth};
}

int ConnectionManager::connect(rdma_cm_id* id, const rdma_conn_param& parameters) {
  if (is_released(id, "rdma_connect")) return EINVAL;
  Identifier& active = wrapper_of(id);
  if (active.state != State::route_resolved) return EINVAL;
  Message request =
      message_of(active, active.has_datagrams() ? Message::datagram_request : Message::request);
  request.qp_num = parameters.qp_num;
  request.has_shared_receives = parameters.srq;
  request.retry_count = parameters.retry_count;
  request.rnr_retry_count = parameters.rnr_retry_count;
  if (!set_private_data(request, parameters.private_data, parameters.private_data_len)) {
    return EINVAL;
  }
  const sockaddr_in& remote = active.route.addr.dst_sin;
  active.own = request;
  active.peer_lid = stack_->lid_of(from_sockaddr(remote).address);
  active.state = State::requesting;
  active.conversation =
      Conversation::request(weak_from_this(), stack_, from_sockaddr(active.route.addr.src_sin),
                            from_sockaddr(remote), request);
  active.conversation->identifier = &active;
  return 0;
}

int ConnectionManager::accept(rdma_cm_id* id, const rdma_conn_param& parameters) {
  if (is_released(id, "rdma_accept")) return EINVAL;
  Identifier& passive = wrapper_of(id);
  if (passive.state != State::requested) return EINVAL;
  Message reply =
      message_of(passive, passive.has_datagrams() ? Message::datagram_reply : Message::reply);
  reply.psn = passive.own.psn;
  reply.qp_num = parameters.qp_num;
  reply.qkey = RDMA_UDP_QKEY;
  reply.has_shared_receives = parameters.srq;
  reply.rnr_retry_count = parameters.rnr_retry_count;
  if (!set_private_data(reply, parameters.private_data, parameters.private_data_len)) {
    return EINVAL;
  }
  passive.own = reply;
  passive.state = passive.has_datagrams() ? State::established : State::accepted;
  passive.conversation->send(reply);
  return 0;
}

int ConnectionManager::reject(rdma_cm_id* id, const void* data, std::uint8_t length_bytes) {
  if (is_released(id, "rdma_reject")) return EINVAL;
  Identifier& passive = wrapper_of(id);
  if (passive.state != State::requested && passive.state != State::answered) return EINVAL;
  Message message{
      .kind = passive.has_datagrams() ? Message::datagram_reply : Message::reject,
      .reason = passive.has_datagrams() ? rejection::of_datagrams : rejection::by_consumer};
  if (!set_private_data(message, data, length_bytes)) return EINVAL;
  passive.state = State::failed;
  passive.conversation->send(message);
  return 0;
}

int ConnectionManager::confirm(rdma_cm_id* id) {
  if (is_released(id, "rdma_establish")) return EINVAL;
  Identifier& active = wrapper_of(id);
  if (active.state != State::answered) return EINVAL;
  active.state = State::established;
  active.conversation->send({.kind = Message::ready_to_use});
  return 0;
}

int ConnectionManager::disconnect(rdma_cm_id* id) {
  if (is_released(id, "rdma_disconnect")) return EINVAL;
  Identifier& connected = wrapper_of(id);
  if (connected.conversation == nullptr || connected.has_datagrams()) return EINVAL;
  // Otherwise, there is nothing to tell, which Linux does not regard as an error.
  if (connected.state != State::established) return 0;
  connected.state = State::disconnecting;
  if (!connected.conversation->send({.kind = Message::disconnect_request})) {
    start_disconnection_timeout(connected);
  }
  return 0;
}

void ConnectionManager::start_disconnection_timeout(Identifier& id) {
  start("disconnection timeout", [this, &id] {
    stack_->host().sleep_until(stack_->host().now_ns() + disconnection_timeout_ns);
    if (id.is_released || id.state != State::disconnecting) return;
    id.state = State::disconnected;
    raise(id, RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);
  });
}

int ConnectionManager::note_message(rdma_cm_id* id) {
  if (is_released(id, "rdma_notify")) return EINVAL;
  Identifier& passive = wrapper_of(id);
  if (passive.state == State::established) return EISCONN;
  if (passive.state != State::accepted) return EINVAL;
  passive.state = State::established;
  raise(passive, RDMA_CM_EVENT_ESTABLISHED);
  return 0;
}

// Tells the peer that the identifier is gone.
void ConnectionManager::finish_conversation(Identifier& id) {
  if (id.conversation == nullptr) return;
  const std::shared_ptr<Conversation> conversation = std::exchange(id.conversation, nullptr);
  switch (id.state) {
    case State::requesting:
      conversation->send({.kind = Message::reject, .reason = rejection::timeout});
      break;
    case State::requested:
    case State::answered:
    case State::accepted:
      conversation->send(
          {.kind = id.has_datagrams() ? Message::datagram_reply : Message::reject,
           .reason = id.has_datagrams() ? rejection::of_datagrams : rejection::by_consumer});
      break;
    case State::established:
      if (!id.has_datagrams()) conversation->send({.kind = Message::disconnect_request});
      break;
    default: break;
  }
  conversation->close();
}

// -------------------------------------------------------------------------------------------------
// Listening

int ConnectionManager::start_listening() {
  if (listener_ != nullptr) return 0;
  listener_ = TcpListener::listen(stack_, {.address = any_address, .port = Conversation::service},
                                  std::numeric_limits<std::uint16_t>::max());
  if (listener_ == nullptr) return EADDRINUSE;
  listening_fiber_ =
      stack_->host().spawn({.name = "connection manager", .daemon = true},
                           [owner = weak_from_this(), stack = stack_, listener = listener_] {
                             for (;;) {
                               if (auto connection = listener->accept(fabric::never_ns)) {
                                 Conversation::answer(owner, stack, std::move(connection));
                               }
                             }
                           });
  return 0;
}

int ConnectionManager::listen(rdma_cm_id* id, int backlog) {
  if (is_released(id, "rdma_listen")) return EINVAL;
  Identifier& listener = wrapper_of(id);
  if (listener.state == State::idle) {
    if (const int error = bind_to(listener, {}); error != 0) return error;
  }
  if (listener.state != State::bound) return EINVAL;
  const auto [first, last] =
      ports_.equal_range({listener.ps, ntohs(listener.route.addr.src_sin.sin_port)});
  const bool is_taken = std::any_of(
      first, last, [](const auto& entry) { return entry.second->state == State::listening; });
  if (is_taken) return EADDRINUSE;
  if (const int error = start_listening(); error != 0) return error;
  const bool is_in_range = backlog > 0 && backlog <= largest_backlog;
  listener.backlog = static_cast<std::uint32_t>(is_in_range ? backlog : largest_backlog);
  listener.state = State::listening;
  return 0;
}

Identifier* ConnectionManager::listener_of(const Message& request, const Endpoint& local) const {
  const auto [first, last] =
      ports_.equal_range({request.port_space, static_cast<std::uint16_t>(request.port)});
  const auto found = std::find_if(first, last, [&](const auto& entry) {
    const std::uint32_t bound = from_sockaddr(entry.second->route.addr.src_sin).address;
    return entry.second->state == State::listening &&
           (bound == any_address || bound == local.address);
  });
  return found == last ? nullptr : found->second;
}

void ConnectionManager::refuse(Conversation& conversation, const Message& request,
                               std::uint32_t reason) {
  const bool has_datagrams = request.kind == Message::datagram_request;
  conversation.send(
      {.kind = has_datagrams ? Message::datagram_reply : Message::reject, .reason = reason});
  conversation.close();
}

void ConnectionManager::take_request(Conversation& conversation, const Message& request) {
  const bool has_datagrams = request.kind == Message::datagram_request;
  Identifier* const listener = listener_of(request, conversation.local());
  if (listener == nullptr) {
    refuse(conversation, request,
           has_datagrams ? rejection::datagrams_unsupported : rejection::invalid_service);
    return;
  }
  const auto waiting =
      std::ranges::count_if(listener->event_channel().occurrences,
                            [&](const Occurrence& each) { return each.reported_for == listener; });
  if (static_cast<std::uint32_t>(waiting) >= listener->backlog) {
    refuse(conversation, request, has_datagrams ? rejection::of_datagrams : rejection::by_consumer);
    return;
  }
  Identifier& id = add_identifier(listener->event_channel(), listener->ps);
  id.context = listener->context;
  id.state = State::requested;
  id.conversation = conversation.shared_from_this();
  id.conversation->identifier = &id;
  id.peer = request;
  id.peer_lid = stack_->lid_of(conversation.remote().address);
  id.responder_resources = static_cast<std::uint8_t>(request.initiator_depth);
  id.initiator_depth = static_cast<std::uint8_t>(request.responder_resources);
  id.route.addr.src_sin = to_sockaddr(
      {.address = conversation.local().address, .port = static_cast<std::uint16_t>(request.port)});
  id.route.addr.dst_sin = to_sockaddr({.address = conversation.remote().address,
                                       .port = static_cast<std::uint16_t>(request.source_port)});
  id.own = message_of(id, Message::reply);
  attach_device(id);
  raise({.reported_for = listener,
         .subject = &id,
         .type = RDMA_CM_EVENT_CONNECT_REQUEST,
         .message = request});
}

// -------------------------------------------------------------------------------------------------
// The other side

void ConnectionManager::hear(Conversation& conversation, const Message& message) {
  if (process_ == nullptr) return;
  if (message.kind == Message::request || message.kind == Message::datagram_request) {
    take_request(conversation, message);
    return;
  }
  if (conversation.identifier == nullptr) return;
  Identifier& id = *conversation.identifier;
  switch (message.kind) {
    case Message::reply:
    case Message::datagram_reply: hear_reply(id, message); break;
    case Message::ready_to_use:
      if (id.state != State::accepted) break;
      id.state = State::established;
      raise(id, RDMA_CM_EVENT_ESTABLISHED);
      break;
    case Message::reject: hear_rejection(id, message); break;
    default: hear_disconnection(id, message); break;
  }
}

void ConnectionManager::hear_reply(Identifier& id, const Message& message) {
  if (id.state != State::requesting) return;
  id.peer = message;
  id.responder_resources =
      std::min(id.responder_resources, static_cast<std::uint8_t>(message.initiator_depth));
  id.initiator_depth =
      std::min(id.initiator_depth, static_cast<std::uint8_t>(message.responder_resources));
  Occurrence occurrence{.reported_for = &id,
                        .subject = &id,
                        .type = RDMA_CM_EVENT_CONNECT_RESPONSE,
                        .status = static_cast<int>(message.reason),
                        .message = message};
  id.state = State::answered;
  if (id.has_datagrams()) {
    const bool is_accepted = message.reason == 0;
    id.state = is_accepted ? State::established : State::failed;
    occurrence.type = is_accepted ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_UNREACHABLE;
  }
  raise(occurrence);
}

void ConnectionManager::hear_rejection(Identifier& id, const Message& message) {
  const bool concerns = id.state == State::requesting || id.state == State::answered ||
                        id.state == State::requested || id.state == State::accepted;
  if (!concerns) return;
  id.state = State::failed;
  raise({.reported_for = &id,
         .subject = &id,
         .type = RDMA_CM_EVENT_REJECTED,
         .status = static_cast<int>(message.reason),
         .message = message});
}

void ConnectionManager::hear_disconnection(Identifier& id, const Message& message) {
  if (message.kind == Message::disconnect_request) {
    id.conversation->send({.kind = Message::disconnect_reply});
  }
  const bool was_connected = id.state == State::established || id.state == State::answered ||
                             id.state == State::accepted || id.state == State::disconnecting;
  if (!was_connected) return;
  id.state = State::disconnected;
  id.conversation->start_time_wait();
  raise(id, RDMA_CM_EVENT_DISCONNECTED);
}

void ConnectionManager::hear_silence(Conversation& conversation, bool peer_has_said_so) {
  if (process_ == nullptr || conversation.identifier == nullptr) return;
  Identifier& id = *conversation.identifier;
  switch (id.state) {
    case State::requesting:
    case State::accepted:
      id.state = State::failed;
      raise(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
      break;
    case State::requested:
      if (!peer_has_said_so) break;
      hear_rejection(id, {.kind = Message::reject, .reason = rejection::timeout});
      break;
    case State::answered:
    case State::established:
      if (id.has_datagrams() || !peer_has_said_so) break;
      [[fallthrough]];
    case State::disconnecting:
      id.state = State::disconnected;
      conversation.start_time_wait();
      raise(id, RDMA_CM_EVENT_DISCONNECTED, peer_has_said_so ? 0 : -ETIMEDOUT);
      break;
    default: break;
  }
}

void ConnectionManager::hear_end_of_time_wait(Conversation& conversation) {
  if (conversation.identifier == nullptr) return;
  raise(*conversation.identifier, RDMA_CM_EVENT_TIMEWAIT_EXIT);
}

}  // namespace falafel::simulated_verbs
