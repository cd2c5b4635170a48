// The part of rdma_cm that the kernel of a host does for one process: identifiers, ports, events,
// and the messages that connect, accept, reject and disconnect. The functions of <rdma/rdma_cma.h>
// add what librdmacm does in the process, such as the states of queue pairs.
//
// All messages of a host arrive at one service, so ports of rdma_cm are not those of sockets.
// Functions return 0 or an errno, unless they say something else. An identifier that the program
// has released is reported (released_object_property), and refused.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/fabric.h"
#include "simulated_verbs/connection_manager/conversation.h"
#include "simulated_verbs/connection_manager/identifier.h"
#include "simulated_verbs/tcp_listener.h"
#include "simulated_verbs/tcp_stack.h"

namespace falafel::simulated_verbs {

class ProcessSite;
class Sockets;
class VerbsObjects;

inline constexpr const char* released_object_property = "verbs.released-object";

class ConnectionManager final : public ConversationOwner,
                                public std::enable_shared_from_this<ConnectionManager> {
 public:
  ConnectionManager(ProcessSite& process, VerbsObjects& objects, Sockets& sockets);
  // The process ends: tells all peers, unless the host has crashed.
  void end();

  EventChannel& add_channel();
  int remove_channel(rdma_event_channel* channel);
  Identifier& add_identifier(EventChannel& channel, rdma_port_space space);
  // Waits until all its events that the program has taken are acknowledged.
  int remove(rdma_cm_id* id);
  // Waits as well. The events that the program has not taken move.
  int migrate(rdma_cm_id* id, EventChannel& channel);
  // Null if there is none, and the channel does not block.
  ConnectionEvent* take_event(rdma_event_channel* channel);
  int acknowledge(rdma_cm_event* event);

  // The device that all identifiers of the process share.
  ibv_context* device();

  int bind(rdma_cm_id* id, const sockaddr* address);
  int listen(rdma_cm_id* id, int backlog);
  int resolve_address(rdma_cm_id* id, const sockaddr* source, const sockaddr* destination,
                      int timeout_ms);
  int resolve_route(rdma_cm_id* id);
  int connect(rdma_cm_id* id, const rdma_conn_param& parameters);
  int accept(rdma_cm_id* id, const rdma_conn_param& parameters);
  int reject(rdma_cm_id* id, const void* data, std::uint8_t length_bytes);
  // The active side is ready to receive.
  int confirm(rdma_cm_id* id);
  int disconnect(rdma_cm_id* id);
  // A message has arrived before the confirmation.
  int note_message(rdma_cm_id* id);
  int set_option(rdma_cm_id* id, int level, int name, const void* value, std::size_t length_bytes);
  int initial_attributes(rdma_cm_id* id, ibv_qp_attr& attributes, int& mask);

  void hear(Conversation& conversation, const Message& message) override;
  void hear_silence(Conversation& conversation, bool peer_has_said_so) override;
  void hear_end_of_time_wait(Conversation& conversation) override;

 private:
  using Port = std::pair<std::uint32_t, std::uint16_t>;  // of a port space

  bool is_released(const rdma_cm_id* id, std::string_view what);
  void report_released(std::string_view what);
  void raise(const Occurrence& occurrence);
  void raise(Identifier& id, rdma_cm_event_type type, int status = 0);
  void notify();
  void wait_for_acknowledgements(const Identifier& id);
  void start(const char* name, std::function<void()> body);
  void attach_device(Identifier& id);

  int take_port(Identifier& id, std::uint16_t port);
  int bind_to(Identifier& id, const Endpoint& endpoint);
  int start_listening();
  Identifier* listener_of(const Message& request, const Endpoint& local) const;
  void take_request(Conversation& conversation, const Message& request);
  void refuse(Conversation& conversation, const Message& request, std::uint32_t reason);
  void hear_reply(Identifier& id, const Message& message);
  void hear_rejection(Identifier& id, const Message& message);
  void hear_disconnection(Identifier& id, const Message& message);
  void finish_conversation(Identifier& id);
  void start_disconnection_timeout(Identifier& id);
  void release(Identifier& id);
  Message message_of(const Identifier& id, Message::Kind kind) const;

  ProcessSite* process_;  // null when it has ended, and the next two are gone
  VerbsObjects& objects_;
  Sockets& sockets_;
  std::shared_ptr<fabric::Event> activity_of_process_;
  std::shared_ptr<TcpStack> stack_;
  std::shared_ptr<TcpListener> listener_;
  fabric::FiberId listening_fiber_ = 0;
  ibv_context* device_ = nullptr;
  ibv_pd* domain_ = nullptr;
  std::uint16_t next_port_;
  std::multimap<Port, Identifier*> ports_;
  std::vector<std::unique_ptr<EventChannel>> channels_;
  std::vector<std::unique_ptr<Identifier>> identifiers_;
  std::vector<std::unique_ptr<ConnectionEvent>> events_;
};

}  // namespace falafel::simulated_verbs
