#include "tests/simulated_verbs/endpoint.h"

#include <cstdlib>
#include <cstring>

#include "simulated_verbs/library_call.h"

namespace falafel::simulated_verbs {

Card Exchange::await(const std::string& name) const {
  const LibraryCall call("Exchange::await");
  for (std::uint64_t patience_ns = 1'000; !cards_.contains(name); patience_ns *= 2) {
    call.host().sleep_until(call.host().now_ns() + patience_ns);
  }
  return cards_.at(name);
}

Endpoint::Endpoint(const EndpointOptions& wanted) : options(wanted) {
  ibv_device** const list = ibv_get_device_list(nullptr);
  const Endpoint* const other = options.domain_of;
  context = other == nullptr ? ibv_open_device(list[0]) : other->context;
  ibv_free_device_list(list);
  pd = other == nullptr ? ibv_alloc_pd(context) : other->pd;
  if (options.with_channel) channel = ibv_create_comp_channel(context);
  if (options.wants_extended_queue) {
    ibv_cq_init_attr_ex queue{};
    queue.cqe = static_cast<std::uint32_t>(options.cqe);
    queue.channel = channel;
    queue.wc_flags =
        IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
    extended_cq = ibv_create_cq_ex(context, &queue);
    cq = ibv_cq_ex_to_cq(extended_cq);
  } else {
    cq = ibv_create_cq(context, options.cqe, nullptr, channel, 0);
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, buffer_bytes, buffer_bytes) != 0) std::abort();
  std::memset(memory, 0, buffer_bytes);
  buffer = static_cast<std::uint64_t*>(memory);
  mr = ibv_reg_mr(pd, buffer, buffer_bytes, static_cast<int>(options.region_rights));
  if (options.with_shared_receives) {
    ibv_srq_init_attr shared{};
    shared.attr.max_wr = options.max_recv_wr;
    shared.attr.max_sge = 1;
    srq = ibv_create_srq(pd, &shared);
  }
  ibv_qp_init_attr_ex init{};
  init.send_cq = init.recv_cq = cq;
  init.srq = srq;
  init.qp_type = options.type;
  init.cap = {.max_send_wr = options.max_send_wr,
              .max_recv_wr = options.max_recv_wr,
              .max_send_sge = 2,
              .max_recv_sge = 2,
              .max_inline_data = options.max_inline_data};
  init.pd = pd;
  init.send_ops_flags = options.operations;
  init.comp_mask = IBV_QP_INIT_ATTR_PD;
  if (options.operations != 0) init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  qp = ibv_create_qp_ex(context, &init);
  if (mr == nullptr || qp == nullptr) std::abort();
}

Card Endpoint::card() const {
  ibv_port_attr port;
  ibv_query_port(context, 1, &port);
  return {.lid = port.lid,
          .qp_num = qp->qp_num,
          .rkey = mr->rkey,
          .address = reinterpret_cast<std::uint64_t>(buffer)};
}

int Endpoint::to_init() {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = options.queue_pair_rights;
  attr.qkey = options.qkey;
  const int last = options.type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
  return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | last);
}

int Endpoint::to_rtr(const Card& peer) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_256;
  attr.dest_qp_num = peer.qp_num;
  attr.rq_psn = options.rq_psn;
  attr.max_dest_rd_atomic = 1;
  attr.min_rnr_timer = 12;
  attr.ah_attr.dlid = peer.lid;
  attr.ah_attr.port_num = 1;
  const int path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  const int responder = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  switch (options.type) {
    case IBV_QPT_UD: return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
    case IBV_QPT_UC: return ibv_modify_qp(qp, &attr, IBV_QP_STATE | path);
    default: return ibv_modify_qp(qp, &attr, IBV_QP_STATE | path | responder);
  }
}

int Endpoint::to_rts() {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.sq_psn = options.sq_psn;
  attr.timeout = 14;
  attr.retry_cnt = 7;
  attr.rnr_retry = options.rnr_retry;
  attr.max_rd_atomic = 1;
  const int requester =
      IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  const int more = options.type == IBV_QPT_RC ? requester : 0;
  return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | more);
}

int Endpoint::connect(const Card& peer) {
  if (const int error = to_init(); error != 0) return error;
  if (const int error = to_rtr(peer); error != 0) return error;
  return to_rts();
}

ibv_send_wr Endpoint::request(ibv_wr_opcode opcode, std::uint64_t offset, std::uint32_t length) {
  entry_ = {
      .addr = reinterpret_cast<std::uint64_t>(buffer) + offset, .length = length, .lkey = mr->lkey};
  ibv_send_wr work{};
  work.wr_id = 1;
  work.sg_list = &entry_;
  work.num_sge = length == 0 ? 0 : 1;
  work.opcode = opcode;
  work.send_flags = IBV_SEND_SIGNALED;
  return work;
}

ibv_send_wr Endpoint::to_peer(ibv_wr_opcode opcode, std::uint64_t offset, std::uint32_t length,
                              const Card& peer, std::uint64_t peer_offset) {
  ibv_send_wr work = request(opcode, offset, length);
  const bool is_atomic =
      opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  if (is_atomic) {
    work.wr.atomic.remote_addr = peer.address + peer_offset;
    work.wr.atomic.rkey = peer.rkey;
  } else {
    work.wr.rdma.remote_addr = peer.address + peer_offset;
    work.wr.rdma.rkey = peer.rkey;
  }
  return work;
}

int Endpoint::post(ibv_send_wr work) {
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(qp, &work, &bad);
}

int Endpoint::post_receive(std::uint64_t id, std::uint64_t offset, std::uint32_t length) {
  ibv_sge entry{
      .addr = reinterpret_cast<std::uint64_t>(buffer) + offset, .length = length, .lkey = mr->lkey};
  ibv_recv_wr work{};
  work.wr_id = id;
  work.sg_list = &entry;
  work.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  return srq == nullptr ? ibv_post_recv(qp, &work, &bad) : ibv_post_srq_recv(srq, &work, &bad);
}

ibv_wc Endpoint::complete() const {
  ibv_wc completion{};
  while (ibv_poll_cq(cq, 1, &completion) == 0) {
  }
  return completion;
}

ibv_wc_status Endpoint::run(const ibv_send_wr& work) {
  if (post(work) != 0) std::abort();
  return complete().status;
}

std::uint64_t word_at(const Card& card, std::uint64_t offset) {
  std::uint64_t word = 0;
  // Peers tell addresses as numbers.
  const auto* const address =
      reinterpret_cast<const void*>(card.address + offset);  // NOLINT(performance-no-int-to-ptr)
  std::memcpy(&word, address, sizeof word);
  return word;
}

}  // namespace falafel::simulated_verbs
