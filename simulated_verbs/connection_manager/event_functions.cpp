// Event channels and their events.
#include <algorithm>
#include <array>
#include <cerrno>

#include "simulated_verbs/connection_manager/library.h"

namespace falafel::simulated_verbs {

namespace {

// librdmacm does the active side's part of connecting when the program takes the event.
void handle_response(rdma_cm_event& event) {
  if (event.id->qp == nullptr) return;
  const int moved = move_to_ready(event.id);
  const int confirmed = moved != 0 ? moved : call_manager("rdma_get_cm_event", [&](auto& manager) {
    return manager.confirm(event.id);
  });
  if (confirmed == 0) {
    event.event = RDMA_CM_EVENT_ESTABLISHED;
    return;
  }
  event.event = RDMA_CM_EVENT_CONNECT_ERROR;
  event.status = -errno;
  move_to_error(event.id);
  call_manager("rdma_get_cm_event",
               [&](auto& manager) { return manager.reject(event.id, nullptr, 0); });
}

ConnectionEvent* take_next_event(rdma_event_channel* channel) {
  const LibraryCall call("rdma_get_cm_event");
  call.let_others_go_on();
  return call.process().connection_manager().take_event(channel);
}

int error_of(const rdma_cm_event& event) {
  if (event.event == RDMA_CM_EVENT_REJECTED) return ECONNREFUSED;
  return event.status < 0 ? -event.status : event.status;
}

}  // namespace

int complete_call(rdma_cm_id* id) {
  if (!wrapper_of(id).is_synchronous) return 0;
  if (id->event != nullptr) {
    rdma_ack_cm_event(id->event);
    id->event = nullptr;
  }
  if (rdma_get_cm_event(id->channel, &id->event) != 0) return -1;
  const int error = error_of(*id->event);
  return error == 0 ? 0 : fail_with_errno(error);
}

}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

rdma_event_channel* rdma_create_event_channel() {
  const LibraryCall call("rdma_create_event_channel");
  return &call.process().connection_manager().add_channel();
}

void rdma_destroy_event_channel(rdma_event_channel* channel) {
  call_manager("rdma_destroy_event_channel",
               [&](auto& manager) { return manager.remove_channel(channel); });
}

int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  if (channel == nullptr || event == nullptr) return fail_with_errno(EINVAL);
  ConnectionEvent* const taken = take_next_event(channel);
  if (taken == nullptr) return fail_with_errno(EAGAIN);
  if (taken->event == RDMA_CM_EVENT_CONNECT_RESPONSE) handle_response(*taken);
  if (taken->event == RDMA_CM_EVENT_REJECTED) move_to_error(taken->id);
  if (taken->event == RDMA_CM_EVENT_CONNECT_REQUEST &&
      wrapper_of(taken->listen_id).is_synchronous) {
    rdma_migrate_id(taken->id, nullptr);
  }
  *event = taken;
  return 0;
}

int rdma_ack_cm_event(rdma_cm_event* event) {
  if (event == nullptr) return fail_with_errno(EINVAL);
  return call_manager("rdma_ack_cm_event",
                      [&](auto& manager) { return manager.acknowledge(event); });
}

const char* rdma_event_str(rdma_cm_event_type event) {
  constexpr std::array names{"RDMA_CM_EVENT_ADDR_RESOLVED",   "RDMA_CM_EVENT_ADDR_ERROR",
                             "RDMA_CM_EVENT_ROUTE_RESOLVED",  "RDMA_CM_EVENT_ROUTE_ERROR",
                             "RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
                             "RDMA_CM_EVENT_CONNECT_ERROR",   "RDMA_CM_EVENT_UNREACHABLE",
                             "RDMA_CM_EVENT_REJECTED",        "RDMA_CM_EVENT_ESTABLISHED",
                             "RDMA_CM_EVENT_DISCONNECTED",    "RDMA_CM_EVENT_DEVICE_REMOVAL",
                             "RDMA_CM_EVENT_MULTICAST_JOIN",  "RDMA_CM_EVENT_MULTICAST_ERROR",
                             "RDMA_CM_EVENT_ADDR_CHANGE",     "RDMA_CM_EVENT_TIMEWAIT_EXIT"};
  const auto index = static_cast<std::size_t>(event);
  return index < names.size() ? names[index] : "UNKNOWN EVENT";
}
}
