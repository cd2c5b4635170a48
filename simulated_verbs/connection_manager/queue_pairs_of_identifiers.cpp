// Queue pairs and shared receive queues of identifiers. librdmacm creates what they need and takes
// queue pairs through their states.
#include <rdma/rdma_verbs.h>

#include <algorithm>
#include <cerrno>

#include "simulated_verbs/connection_manager/library.h"
#include "simulated_verbs/not_simulated.h"

namespace falafel::simulated_verbs {

namespace {

int move_to_state(rdma_cm_id* id, ibv_qp_state state) {
  ibv_qp_attr attributes{};
  attributes.qp_state = state;
  int mask = 0;
  if (rdma_init_qp_attr(id, &attributes, &mask) != 0) return -1;
  return rdma_seterrno(ibv_modify_qp(id->qp, &attributes, mask));
}

void destroy_completion_queue(ibv_cq*& queue, ibv_comp_channel*& channel) {
  if (queue != nullptr) ibv_destroy_cq(queue);
  if (channel != nullptr) ibv_destroy_comp_channel(channel);
  queue = nullptr;
  channel = nullptr;
}

void destroy_completion_queues(rdma_cm_id* id) {
  if (id->send_cq == id->recv_cq) {
    id->send_cq = nullptr;
    id->send_cq_channel = nullptr;
  }
  destroy_completion_queue(id->recv_cq, id->recv_cq_channel);
  destroy_completion_queue(id->send_cq, id->send_cq_channel);
}

bool create_completion_queue(rdma_cm_id* id, std::uint32_t entries, ibv_cq*& queue,
                             ibv_comp_channel*& channel) {
  channel = ibv_create_comp_channel(id->verbs);
  if (channel == nullptr) return false;
  queue = ibv_create_cq(id->verbs, static_cast<int>(std::max(entries, 1U)), id, channel, 0);
  return queue != nullptr;
}

// Creates the completion queues that the program did not give.
bool create_completion_queues(rdma_cm_id* id, const ibv_qp_init_attr& init) {
  if (init.recv_cq == nullptr &&
      !create_completion_queue(id, init.cap.max_recv_wr, id->recv_cq, id->recv_cq_channel)) {
    return false;
  }
  return init.send_cq != nullptr ||
         create_completion_queue(id, init.cap.max_send_wr, id->send_cq, id->send_cq_channel);
}

// Returns 0 or an errno.
int create_queue_pair_of(rdma_cm_id* id, ibv_pd* domain, ibv_qp_init_attr& init) {
  if (id->qp != nullptr || id->verbs == nullptr || domain->context != id->verbs) return EINVAL;
  if (!create_completion_queues(id, init)) return errno;
  if (init.send_cq == nullptr) init.send_cq = id->send_cq;
  if (init.recv_cq == nullptr) init.recv_cq = id->recv_cq;
  if (init.srq == nullptr) init.srq = id->srq;
  id->qp = ibv_create_qp(domain, &init);
  if (id->qp == nullptr) return errno;
  if (move_to_init(id) != 0) return errno;
  id->pd = domain;
  return 0;
}

int refuse_extended(const char* what) {
  report_not_simulated(what);
  return fail_with_errno(EOPNOTSUPP);
}

}  // namespace

int move_to_init(rdma_cm_id* id) {
  if (move_to_state(id, IBV_QPS_INIT) != 0) return -1;
  return wrapper_of(id).has_datagrams() ? move_to_ready(id) : 0;
}

// The rights of the peer are known only now.
int move_to_ready(rdma_cm_id* id) {
  const bool has_datagrams = wrapper_of(id).has_datagrams();
  if (!has_datagrams && move_to_state(id, IBV_QPS_INIT) != 0) return -1;
  if (move_to_state(id, IBV_QPS_RTR) != 0) return -1;
  return move_to_state(id, IBV_QPS_RTS);
}

int move_to_error(rdma_cm_id* id) {
  if (id->qp == nullptr) return 0;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  return rdma_seterrno(ibv_modify_qp(id->qp, &attributes, IBV_QP_STATE));
}

}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* qp_attr, int* qp_attr_mask) {
  return call_manager("rdma_init_qp_attr", [&](auto& manager) {
    return manager.initial_attributes(id, *qp_attr, *qp_attr_mask);
  });
}

int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* qp_init_attr) {
  ibv_pd* const domain = pd == nullptr ? id->pd : pd;
  if (domain == nullptr) return fail_with_errno(EINVAL);
  const bool had_queue_pair = id->qp != nullptr;
  const int error = create_queue_pair_of(id, domain, *qp_init_attr);
  if (error != 0 && !had_queue_pair) rdma_destroy_qp(id);
  return error == 0 ? 0 : fail_with_errno(error);
}

int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* qp_init_attr) {
  if ((qp_init_attr->comp_mask & ~std::uint32_t{IBV_QP_INIT_ATTR_PD}) != 0) {
    return refuse_extended("rdma_create_qp_ex: attributes beyond those of rdma_create_qp");
  }
  const bool has_domain = (qp_init_attr->comp_mask & IBV_QP_INIT_ATTR_PD) != 0;
  // The struct begins with all that ibv_qp_init_attr has.
  return rdma_create_qp(id, has_domain ? qp_init_attr->pd : nullptr,
                        reinterpret_cast<ibv_qp_init_attr*>(qp_init_attr));
}

void rdma_destroy_qp(rdma_cm_id* id) {
  if (id->qp != nullptr) ibv_destroy_qp(id->qp);
  id->qp = nullptr;
  destroy_completion_queues(id);
}

int rdma_create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* attr) {
  ibv_pd* const domain = pd == nullptr ? id->pd : pd;
  if (domain == nullptr || id->srq != nullptr) return fail_with_errno(EINVAL);
  id->srq = ibv_create_srq(domain, attr);
  if (id->srq == nullptr) return -1;
  id->pd = domain;
  return 0;
}

int rdma_create_srq_ex(rdma_cm_id* /*id*/, ibv_srq_init_attr_ex* /*attr*/) {
  return refuse_extended("rdma_create_srq_ex");
}

void rdma_destroy_srq(rdma_cm_id* id) {
  if (id->srq != nullptr) ibv_destroy_srq(id->srq);
  id->srq = nullptr;
}
}
