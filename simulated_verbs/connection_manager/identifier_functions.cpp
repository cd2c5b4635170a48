// Identifiers: addresses, connections, options.
#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "simulated_verbs/connection_manager/library.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/object_of_program.h"

namespace falafel::simulated_verbs {

namespace {

constexpr std::uint8_t usual_retries = 7;

// The result of rdma_get_devices: an array that ends with null.
struct ContextList : ObjectOfProgram {
  explicit ContextList(ibv_context* only) : contexts{only, nullptr} {}
  std::array<ibv_context*, 2> contexts;
};

std::uint8_t most_outstanding(const rdma_cm_id& id) {
  ibv_device_attr attributes{};
  ibv_query_device(id.verbs, &attributes);
  return static_cast<std::uint8_t>(std::min(attributes.max_qp_rd_atom, 0xff));
}

// The program's parameters, checked and completed. Nothing, and errno, if they are wrong.
std::optional<rdma_conn_param> complete(const rdma_cm_id& id, const rdma_conn_param* wanted) {
  rdma_conn_param completed{};
  completed.retry_count = completed.rnr_retry_count = usual_retries;
  completed.responder_resources = RDMA_MAX_RESP_RES;
  completed.initiator_depth = RDMA_MAX_INIT_DEPTH;
  if (wanted != nullptr) completed = *wanted;
  const bool has_datagrams = static_cast<const Identifier&>(id).has_datagrams();
  const std::uint8_t most = id.verbs == nullptr ? 0 : most_outstanding(id);
  const bool is_wrong =
      (completed.responder_resources != RDMA_MAX_RESP_RES &&
       completed.responder_resources > most) ||
      (completed.initiator_depth != RDMA_MAX_INIT_DEPTH && completed.initiator_depth > most);
  if (id.verbs == nullptr || (!has_datagrams && id.qp == nullptr && wanted == nullptr) ||
      (!has_datagrams && is_wrong)) {
    errno = EINVAL;
    return std::nullopt;
  }
  if (id.qp != nullptr) {
    completed.qp_num = id.qp->qp_num;
    completed.srq = id.qp->srq == nullptr ? 0 : 1;
  }
  return completed;
}

std::uint8_t limit(std::uint8_t wanted, std::uint8_t everything, std::uint8_t most) {
  return wanted == everything ? most : wanted;
}

// `most` of each.
void set_depths(Identifier& id, const rdma_conn_param& parameters, std::uint8_t most_responder,
                std::uint8_t most_initiator) {
  id.responder_resources = limit(parameters.responder_resources, RDMA_MAX_RESP_RES, most_responder);
  id.initiator_depth = limit(parameters.initiator_depth, RDMA_MAX_INIT_DEPTH, most_initiator);
}

int refuse_identifier_call(const char* what) {
  report_not_simulated(what);
  return fail_with_errno(EOPNOTSUPP);
}

int create_identifier(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                      rdma_port_space space) {
  if (space != RDMA_PS_TCP && space != RDMA_PS_UDP) {
    return refuse_identifier_call(
        "rdma_create_id: a port space beyond RDMA_PS_TCP and "
        "RDMA_PS_UDP");
  }
  const LibraryCall call("rdma_create_id");
  ConnectionManager& manager = call.process().connection_manager();
  EventChannel& opened =
      channel == nullptr ? manager.add_channel() : *static_cast<EventChannel*>(channel);
  Identifier& created = manager.add_identifier(opened, space);
  created.context = context;
  created.is_synchronous = channel == nullptr;
  *id = &created;
  return 0;
}

}  // namespace
}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                   rdma_port_space ps) {
  return create_identifier(channel, id, context, ps);
}

int rdma_destroy_id(rdma_cm_id* id) {
  Identifier& removed = wrapper_of(id);
  if (!removed.is_released && id->event != nullptr) {
    rdma_ack_cm_event(id->event);
    id->event = nullptr;
  }
  rdma_event_channel* const own_channel =
      removed.is_synchronous && !removed.is_released ? id->channel : nullptr;
  if (call_manager("rdma_destroy_id", [&](auto& manager) { return manager.remove(id); }) != 0) {
    return -1;
  }
  if (own_channel != nullptr) rdma_destroy_event_channel(own_channel);
  return 0;
}

int rdma_bind_addr(rdma_cm_id* id, sockaddr* addr) {
  return call_manager("rdma_bind_addr", [&](auto& manager) { return manager.bind(id, addr); });
}

int rdma_listen(rdma_cm_id* id, int backlog) {
  return call_manager("rdma_listen", [&](auto& manager) { return manager.listen(id, backlog); });
}

int rdma_resolve_addr(rdma_cm_id* id, sockaddr* src_addr, sockaddr* dst_addr, int timeout_ms) {
  const int result = call_manager("rdma_resolve_addr", [&](auto& manager) {
    return manager.resolve_address(id, src_addr, dst_addr, timeout_ms);
  });
  return result == 0 ? complete_call(id) : result;
}

int rdma_resolve_route(rdma_cm_id* id, int /*timeout_ms*/) {
  const int result =
      call_manager("rdma_resolve_route", [&](auto& manager) { return manager.resolve_route(id); });
  return result == 0 ? complete_call(id) : result;
}

int rdma_connect(rdma_cm_id* id, rdma_conn_param* conn_param) {
  const std::optional<rdma_conn_param> parameters = complete(*id, conn_param);
  if (!parameters) return -1;
  const std::uint8_t most = most_outstanding(*id);
  set_depths(wrapper_of(id), *parameters, most, most);
  const int result =
      call_manager("rdma_connect", [&](auto& manager) { return manager.connect(id, *parameters); });
  return result == 0 ? complete_call(id) : result;
}

int rdma_accept(rdma_cm_id* id, rdma_conn_param* conn_param) {
  const std::optional<rdma_conn_param> parameters = complete(*id, conn_param);
  if (!parameters) return -1;
  Identifier& accepted = wrapper_of(id);
  const std::uint8_t most = most_outstanding(*id);
  set_depths(accepted, *parameters, std::min(accepted.responder_resources, most),
             std::min(accepted.initiator_depth, most));
  if (!accepted.has_datagrams() && id->qp != nullptr && move_to_ready(id) != 0) return -1;
  const int result =
      call_manager("rdma_accept", [&](auto& manager) { return manager.accept(id, *parameters); });
  if (result != 0) {
    const int error = errno;
    move_to_error(id);
    return fail_with_errno(error);
  }
  return accepted.has_datagrams() ? 0 : complete_call(id);
}

int rdma_reject(rdma_cm_id* id, const void* private_data, std::uint8_t private_data_len) {
  return call_manager("rdma_reject", [&](auto& manager) {
    return manager.reject(id, private_data, private_data_len);
  });
}

int rdma_establish(rdma_cm_id* id) {
  if (id->qp != nullptr) return fail_with_errno(EINVAL);
  return call_manager("rdma_establish", [&](auto& manager) { return manager.confirm(id); });
}

int rdma_notify(rdma_cm_id* id, ibv_event_type event) {
  if (event != IBV_EVENT_COMM_EST) return fail_with_errno(EINVAL);
  return call_manager("rdma_notify", [&](auto& manager) { return manager.note_message(id); });
}

int rdma_disconnect(rdma_cm_id* id) {
  if (!wrapper_of(id).is_released && id->qp != nullptr) move_to_error(id);
  const int result =
      call_manager("rdma_disconnect", [&](auto& manager) { return manager.disconnect(id); });
  return result == 0 ? complete_call(id) : result;
}

// A null channel: calls on the identifier wait for their events from now on.
int rdma_migrate_id(rdma_cm_id* id, rdma_event_channel* channel) {
  Identifier& moved = wrapper_of(id);
  rdma_event_channel* const own_channel =
      moved.is_synchronous && !moved.is_released ? id->channel : nullptr;
  if (own_channel != nullptr && id->event != nullptr) {
    rdma_ack_cm_event(id->event);
    id->event = nullptr;
  }
  const int result = call_manager("rdma_migrate_id", [&](ConnectionManager& manager) {
    return manager.migrate(
        id, channel == nullptr ? manager.add_channel() : *static_cast<EventChannel*>(channel));
  });
  if (result != 0) return result;
  moved.is_synchronous = channel == nullptr;
  if (own_channel != nullptr) rdma_destroy_event_channel(own_channel);
  return 0;
}

int rdma_set_option(rdma_cm_id* id, int level, int optname, void* optval, std::size_t optlen) {
  return call_manager("rdma_set_option", [&](auto& manager) {
    return manager.set_option(id, level, optname, optval, optlen);
  });
}

__be16 rdma_get_src_port(rdma_cm_id* id) { return id->route.addr.src_sin.sin_port; }

__be16 rdma_get_dst_port(rdma_cm_id* id) { return id->route.addr.dst_sin.sin_port; }

ibv_context** rdma_get_devices(int* num_devices) {
  const LibraryCall call("rdma_get_devices");
  if (num_devices != nullptr) *num_devices = 1;
  return (new ContextList(call.process().connection_manager().device()))->contexts.data();
}

void rdma_free_devices(ibv_context** list) { delete reinterpret_cast<ContextList*>(list); }

int rdma_reject_ece(rdma_cm_id* /*id*/, const void* /*private_data*/,
                    std::uint8_t /*private_data_len*/) {
  return refuse_identifier_call("rdma_reject_ece");
}

int rdma_set_local_ece(rdma_cm_id* /*id*/, ibv_ece* /*ece*/) {
  return refuse_identifier_call("rdma_set_local_ece");
}

int rdma_get_remote_ece(rdma_cm_id* /*id*/, ibv_ece* /*ece*/) {
  return refuse_identifier_call("rdma_get_remote_ece");
}

int rdma_join_multicast(rdma_cm_id* /*id*/, sockaddr* /*addr*/, void* /*context*/) {
  return refuse_identifier_call("rdma_join_multicast");
}

int rdma_join_multicast_ex(rdma_cm_id* /*id*/, rdma_cm_join_mc_attr_ex* /*attributes*/,
                           void* /*context*/) {
  return refuse_identifier_call("rdma_join_multicast_ex");
}

int rdma_leave_multicast(rdma_cm_id* /*id*/, sockaddr* /*addr*/) {
  return refuse_identifier_call("rdma_leave_multicast");
}
}
