// The attributes that bring the queue pair of an identifier to its next state, as Linux computes
// them (rdma_init_qp_attr).
#include <algorithm>
#include <cerrno>

#include "simulated_verbs/connection_manager/connection_manager.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

// About a second.
constexpr std::uint8_t usual_timeout = 18;
constexpr std::uint32_t most_retries = 7;

std::uint8_t retries(std::uint32_t wanted) {
  return static_cast<std::uint8_t>(std::min(wanted, most_retries));
}

void to_initialized(const Identifier& id, ibv_qp_attr& attributes, int& mask) {
  attributes.pkey_index = 0;
  attributes.port_num = only_port;
  mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  if (id.has_datagrams()) {
    attributes.qkey = RDMA_UDP_QKEY;
    mask |= IBV_QP_QKEY;
    return;
  }
  unsigned rights = 0;
  if (id.conversation != nullptr) {
    rights = IBV_ACCESS_REMOTE_WRITE;
    if (id.responder_resources > 0) rights |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  }
  attributes.qp_access_flags = rights;
  mask |= IBV_QP_ACCESS_FLAGS;
}

void to_ready_to_receive(const Identifier& id, ibv_qp_attr& attributes, int& mask) {
  attributes.ah_attr.dlid = id.peer_lid;
  attributes.ah_attr.port_num = only_port;
  attributes.path_mtu = static_cast<ibv_mtu>(std::min(id.own.path_mtu, id.peer.path_mtu));
  attributes.dest_qp_num = id.peer.qp_num;
  attributes.rq_psn = id.peer.psn;
  attributes.max_dest_rd_atomic = id.responder_resources;
  attributes.min_rnr_timer = 0;
  mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

// Each side says how often the other one may try again when it was not ready to receive. The
// active side says for both how often a packet is sent again.
void to_ready_to_send(const Identifier& id, ibv_qp_attr& attributes, int& mask) {
  const bool is_active = id.own.kind == Message::request;
  attributes.sq_psn = id.own.psn;
  attributes.timeout = id.acknowledge_timeout.value_or(usual_timeout);
  attributes.retry_cnt = retries(is_active ? id.own.retry_count : id.peer.retry_count);
  attributes.rnr_retry = retries(id.peer.rnr_retry_count);
  attributes.max_rd_atomic = id.initiator_depth;
  mask |= IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
          IBV_QP_MAX_QP_RD_ATOMIC;
}

}  // namespace

int ConnectionManager::initial_attributes(rdma_cm_id* id, ibv_qp_attr& attributes, int& mask) {
  if (is_released(id, "rdma_init_qp_attr")) return EINVAL;
  const Identifier& queried = wrapper_of(id);
  if (queried.verbs == nullptr) return EINVAL;
  const bool knows_peer = queried.state == Identifier::State::requested ||
                          queried.state == Identifier::State::answered ||
                          queried.state == Identifier::State::accepted ||
                          queried.state == Identifier::State::established;
  mask = IBV_QP_STATE;
  switch (attributes.qp_state) {
    case IBV_QPS_INIT: to_initialized(queried, attributes, mask); return 0;
    case IBV_QPS_RTR:
      if (queried.has_datagrams()) return 0;
      if (!knows_peer) return EINVAL;
      to_ready_to_receive(queried, attributes, mask);
      return 0;
    case IBV_QPS_RTS:
      if (queried.has_datagrams()) {
        attributes.sq_psn = 0;
        mask |= IBV_QP_SQ_PSN;
        return 0;
      }
      if (!knows_peer) return EINVAL;
      to_ready_to_send(queried, attributes, mask);
      return 0;
    default: return EINVAL;
  }
}

}  // namespace falafel::simulated_verbs
