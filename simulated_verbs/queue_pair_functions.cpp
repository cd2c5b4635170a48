// The functions of libibverbs that make, change and destroy queue pairs, shared receive queues and
// address handles.
#include <arpa/inet.h>

#include <algorithm>

#include "simulated_verbs/async_events.h"
#include "simulated_verbs/errors.h"
#include "simulated_verbs/extended_functions.h"
#include "simulated_verbs/invalid_calls.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/subnet.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

int check(const ibv_qp_init_attr& init, const fabric::DeviceAttributes& device) {
  if (init.send_cq == nullptr || init.recv_cq == nullptr) return EINVAL;
  if (init.qp_type != IBV_QPT_RC && init.qp_type != IBV_QPT_UC && init.qp_type != IBV_QPT_UD) {
    report_not_simulated("ibv_create_qp: a type beyond RC, UC and UD");
    return EOPNOTSUPP;
  }
  if (init.srq != nullptr && init.qp_type == IBV_QPT_UD) {
    report_not_simulated("ibv_create_qp: a shared receive queue on UD");
    return EOPNOTSUPP;
  }
  const ibv_qp_cap& cap = init.cap;
  const bool fits = cap.max_send_wr <= device.max_queue_requests &&
                    cap.max_recv_wr <= device.max_queue_requests &&
                    cap.max_send_sge <= device.max_scatter_gather_entries &&
                    cap.max_recv_sge <= device.max_scatter_gather_entries &&
                    cap.max_inline_data <= device.max_inline_bytes;
  return fits ? 0 : EINVAL;
}

QueuePair* create_queue_pair(const Process& process, ProtectionDomain& domain,
                             const ibv_qp_init_attr& init) {
  if (const int error = check(init, process.host().device(0).attributes()); error != 0) {
    return fail_with(error);
  }
  auto queue_pair = std::make_unique<QueuePair>(domain, init);
  if (const int error = queue_pair->make(); error != 0) return fail_with(error);
  return process.verbs().queue_pairs.add(std::move(queue_pair));
}

}  // namespace

ibv_qp* create_extended_queue_pair(ibv_context* /*context*/, ibv_qp_init_attr_ex* wanted) {
  const LibraryCall call("ibv_create_qp_ex");
  constexpr std::uint32_t known =
      IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_CREATE_FLAGS;
  if ((wanted->comp_mask & IBV_QP_INIT_ATTR_PD) == 0) return fail_with(EINVAL);
  const bool has_flags = (wanted->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0;
  if ((wanted->comp_mask & ~known) != 0 || (has_flags && wanted->create_flags != 0)) {
    report_not_simulated("ibv_create_qp_ex: more than a protection domain and send_ops_flags");
    return fail_with(EOPNOTSUPP);
  }
  const bool is_batched = (wanted->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
  if (is_batched && !supports_operations(wanted->qp_type, wanted->send_ops_flags)) {
    return fail_with(EOPNOTSUPP);
  }
  ibv_qp_init_attr init{};
  init.qp_context = wanted->qp_context;
  init.send_cq = wanted->send_cq;
  init.recv_cq = wanted->recv_cq;
  init.srq = wanted->srq;
  init.cap = wanted->cap;
  init.qp_type = wanted->qp_type;
  init.sq_sig_all = wanted->sq_sig_all;
  QueuePair* const created = create_queue_pair(call.process(), wrapper_of(wanted->pd), init);
  if (created == nullptr) return nullptr;
  if (is_batched) set_operations(*created, wanted->send_ops_flags);
  return &created->qp_base;
}

AddressHandle::AddressHandle(ProtectionDomain& owner, std::uint16_t destination)
    : ibv_ah{}, domain(owner), lid(destination) {
  context = owner.context;
  pd = &owner;
  ++domain.users;
}

}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* init) {
  const LibraryCall call("ibv_create_qp");
  QueuePair* const created = create_queue_pair(call.process(), wrapper_of(pd), *init);
  return created == nullptr ? nullptr : &created->qp_base;
}

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  const LibraryCall call("ibv_modify_qp");
  call.let_others_go_on();
  return wrapper_of(qp).modify(*attr, mask);
}

int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int /*mask*/, ibv_qp_init_attr* init) {
  const LibraryCall call("ibv_query_qp");
  call.let_others_go_on();
  wrapper_of(qp).query(*attr, *init);
  return 0;
}

int ibv_query_qp_data_in_order(ibv_qp* qp, ibv_wr_opcode /*opcode*/, std::uint32_t /*flags*/) {
  const LibraryCall call("ibv_query_qp_data_in_order");
  const auto& device = wrapper_of(qp).process.host().device(0).attributes();
  return device.places_in_address_order ? 1 : 0;
}

ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  QueuePair& queue_pair = wrapper_of(qp);
  return queue_pair.wr_start == nullptr ? nullptr : &queue_pair;
}

int ibv_destroy_qp(ibv_qp* qp) {
  const LibraryCall call("ibv_destroy_qp");
  call.let_others_go_on();
  QueuePair& queue_pair = wrapper_of(qp);
  queue_pair.unacknowledged.wait_until_none();
  VerbsObjects& objects = call.process().verbs();
  AsyncEvents(queue_pair.domain.owner, objects).forget(qp);
  objects.queue_pairs.remove(&queue_pair);
  return 0;
}

ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* init) {
  const LibraryCall call("ibv_create_srq");
  auto queue = call.host().device(0).create_shared_receive_queue(
      {.protection_domain = wrapper_of(pd).domain.get(),
       .max_receive_requests = init->attr.max_wr,
       .max_receive_segments = std::max(init->attr.max_sge, 1U)});
  if (!queue) return fail_with(errno_of(queue.error()));
  return call.process().verbs().shared_receive_queues.add(
      std::make_unique<SharedReceiveQueue>(wrapper_of(pd), std::move(*queue), *init));
}

int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) {
  const LibraryCall call("ibv_modify_srq");
  call.let_others_go_on();
  if ((mask & ~int{IBV_SRQ_LIMIT}) != 0) {
    report_not_simulated("ibv_modify_srq: anything but IBV_SRQ_LIMIT");
    return EOPNOTSUPP;
  }
  ibv_srq_attr& limits = static_cast<SharedReceiveQueue*>(srq)->limits;
  if (attr->srq_limit > limits.max_wr) return EINVAL;
  if ((mask & IBV_SRQ_LIMIT) != 0) limits.srq_limit = attr->srq_limit;
  return 0;
}

int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* attr) {
  const LibraryCall call("ibv_query_srq");
  call.let_others_go_on();
  *attr = static_cast<SharedReceiveQueue*>(srq)->limits;
  return 0;
}

int ibv_destroy_srq(ibv_srq* srq) {
  const LibraryCall call("ibv_destroy_srq");
  auto* const queue = static_cast<SharedReceiveQueue*>(srq);
  if (queue->users > 0) {
    return refuse_call(call.process(), "ibv_destroy_srq: queue pairs use it", EBUSY);
  }
  queue->unacknowledged.wait_until_none();
  VerbsObjects& objects = call.process().verbs();
  AsyncEvents(queue->domain.owner, objects).forget(srq);
  objects.shared_receive_queues.remove(queue);
  return 0;
}

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  const LibraryCall call("ibv_create_ah");
  const std::uint16_t lid = destination_of(*attr);
  if (attr->port_num != only_port || call.process().subnet().host_of(lid) == nullptr) {
    return fail_with(EINVAL);
  }
  return call.process().verbs().address_handles.add(
      std::make_unique<AddressHandle>(wrapper_of(pd), lid));
}

// Datagrams of the subnet carry no global route, so the completion says where they come from.
int ibv_init_ah_from_wc(ibv_context* /*context*/, std::uint8_t port_num, ibv_wc* wc,
                        ibv_grh* /*grh*/, ibv_ah_attr* attr) {
  *attr = {};
  attr->dlid = wc->slid;
  attr->sl = wc->sl;
  attr->src_path_bits = wc->dlid_path_bits;
  attr->port_num = port_num;
  return 0;
}

ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port_num) {
  ibv_ah_attr attr{};
  if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr) != 0) return nullptr;
  return ibv_create_ah(pd, &attr);
}

int ibv_destroy_ah(ibv_ah* ah) {
  const LibraryCall call("ibv_destroy_ah");
  call.process().verbs().address_handles.remove(static_cast<AddressHandle*>(ah));
  return 0;
}
}
