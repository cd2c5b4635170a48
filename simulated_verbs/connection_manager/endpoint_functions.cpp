// rdma_getaddrinfo, and identifiers that are made ready for use in one call (rdma_create_ep).
#include <netdb.h>
#include <rdma/rdma_verbs.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "simulated_verbs/connection_manager/library.h"

namespace falafel::simulated_verbs {

namespace {

constexpr int resolution_timeout_ms = 2000;

int port_space_of(const rdma_addrinfo& hints) {
  if (hints.ai_port_space != 0) return hints.ai_port_space;
  return hints.ai_qp_type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
}

int type_of(const rdma_addrinfo& hints) {
  if (hints.ai_qp_type != 0) return hints.ai_qp_type;
  return hints.ai_port_space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
}

// The program owns the memory.
sockaddr* copy_address(const sockaddr* address, socklen_t length) {
  void* const copy = std::malloc(length);
  if (copy != nullptr) std::memcpy(copy, address, length);
  return static_cast<sockaddr*>(copy);
}

// Returns 0, or a code of getaddrinfo.
int find_addresses(const char* node, const char* service, const rdma_addrinfo& hints,
                   rdma_addrinfo& found) {
  const bool is_passive = (hints.ai_flags & RAI_PASSIVE) != 0;
  addrinfo wanted{};
  wanted.ai_family = hints.ai_family;
  wanted.ai_socktype = port_space_of(hints) == RDMA_PS_UDP ? SOCK_DGRAM : SOCK_STREAM;
  if (is_passive) wanted.ai_flags |= AI_PASSIVE;
  if ((hints.ai_flags & RAI_NUMERICHOST) != 0) wanted.ai_flags |= AI_NUMERICHOST;
  addrinfo* addresses = nullptr;
  if (const int error = getaddrinfo(node, service, &wanted, &addresses); error != 0) return error;
  found.ai_flags = hints.ai_flags;
  found.ai_family = addresses->ai_family;
  found.ai_qp_type = type_of(hints);
  found.ai_port_space = port_space_of(hints);
  auto& address = is_passive ? found.ai_src_addr : found.ai_dst_addr;
  auto& length = is_passive ? found.ai_src_len : found.ai_dst_len;
  address = copy_address(addresses->ai_addr, addresses->ai_addrlen);
  length = addresses->ai_addrlen;
  freeaddrinfo(addresses);
  if (!is_passive && hints.ai_src_len > 0) {
    found.ai_src_addr = copy_address(hints.ai_src_addr, hints.ai_src_len);
    found.ai_src_len = hints.ai_src_len;
  }
  return 0;
}

int find_local_addresses(const rdma_addrinfo& hints, rdma_addrinfo& found) {
  if (hints.ai_src_len == 0 && hints.ai_dst_len == 0) return EAI_NONAME;
  found.ai_flags = hints.ai_flags;
  found.ai_family = hints.ai_family;
  found.ai_qp_type = type_of(hints);
  found.ai_port_space = port_space_of(hints);
  found.ai_src_len = hints.ai_src_len;
  found.ai_dst_len = hints.ai_dst_len;
  if (hints.ai_src_len > 0) found.ai_src_addr = copy_address(hints.ai_src_addr, hints.ai_src_len);
  if (hints.ai_dst_len > 0) found.ai_dst_addr = copy_address(hints.ai_dst_addr, hints.ai_dst_len);
  return 0;
}

int resolve_active(rdma_cm_id* id, const rdma_addrinfo& found, ibv_pd* pd, ibv_qp_init_attr* init) {
  if (rdma_resolve_addr(id, found.ai_src_addr, found.ai_dst_addr, resolution_timeout_ms) != 0 ||
      rdma_resolve_route(id, resolution_timeout_ms) != 0) {
    return -1;
  }
  if (init == nullptr) return 0;
  init->qp_type = static_cast<ibv_qp_type>(found.ai_qp_type);
  return rdma_create_qp(id, pd, init);
}

int prepare_passive(rdma_cm_id* id, const rdma_addrinfo& found, ibv_pd* pd,
                    const ibv_qp_init_attr* init) {
  if (rdma_bind_addr(id, found.ai_src_addr) != 0) return -1;
  if (init == nullptr) return 0;
  Identifier& listener = wrapper_of(id);
  listener.domain_of_requests = pd;
  listener.attributes_of_requests = *init;
  listener.attributes_of_requests->qp_type = static_cast<ibv_qp_type>(found.ai_qp_type);
  return 0;
}

}  // namespace
}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints,
                     rdma_addrinfo** res) {
  if (res == nullptr || (node == nullptr && service == nullptr && hints == nullptr)) {
    return fail_with_errno(EINVAL);
  }
  auto* const found = static_cast<rdma_addrinfo*>(std::calloc(1, sizeof(rdma_addrinfo)));
  if (found == nullptr) return fail_with_errno(ENOMEM);
  const rdma_addrinfo wanted = hints == nullptr ? rdma_addrinfo{} : *hints;
  const int error = node == nullptr && service == nullptr
                        ? find_local_addresses(wanted, *found)
                        : find_addresses(node, service, wanted, *found);
  if (error != 0) {
    std::free(found);
    return error;
  }
  *res = found;
  return 0;
}

void rdma_freeaddrinfo(rdma_addrinfo* res) {
  while (res != nullptr) {
    rdma_addrinfo* const freed = std::exchange(res, res->ai_next);
    std::free(freed->ai_src_addr);
    std::free(freed->ai_dst_addr);
    std::free(freed);
  }
}

int rdma_create_ep(rdma_cm_id** id, rdma_addrinfo* res, ibv_pd* pd,
                   ibv_qp_init_attr* qp_init_attr) {
  rdma_cm_id* created = nullptr;
  if (rdma_create_id(nullptr, &created, nullptr,
                     static_cast<rdma_port_space>(res->ai_port_space)) != 0) {
    return -1;
  }
  const bool is_passive = (res->ai_flags & RAI_PASSIVE) != 0;
  const int result = is_passive ? prepare_passive(created, *res, pd, qp_init_attr)
                                : resolve_active(created, *res, pd, qp_init_attr);
  if (result != 0) {
    const int error = errno;
    rdma_destroy_ep(created);
    return fail_with_errno(error);
  }
  *id = created;
  return 0;
}

void rdma_destroy_ep(rdma_cm_id* id) {
  if (!wrapper_of(id).is_released) {
    rdma_destroy_qp(id);
    rdma_destroy_srq(id);
  }
  rdma_destroy_id(id);
}

int rdma_get_request(rdma_cm_id* listen, rdma_cm_id** id) {
  Identifier& listener = wrapper_of(listen);
  if (!listener.is_synchronous) return fail_with_errno(EINVAL);
  if (listen->event != nullptr) {
    rdma_ack_cm_event(listen->event);
    listen->event = nullptr;
  }
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(listen->channel, &event) != 0) return -1;
  listen->event = event;  // unless the program gets it with its identifier
  if (event->status != 0)
    return fail_with_errno(event->status < 0 ? -event->status : event->status);
  if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) return fail_with_errno(EINVAL);
  if (listener.attributes_of_requests) {
    ibv_qp_init_attr init = *listener.attributes_of_requests;
    if (rdma_create_qp(event->id, listener.domain_of_requests, &init) != 0) return -1;
  }
  listen->event = nullptr;
  event->id->event = event;
  *id = event->id;
  return 0;
}
}
