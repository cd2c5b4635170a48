// The functions of the batch that a queue pair has, by the names of ibv_qp_ex.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "simulated_verbs/extended_functions.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/queue_pair.h"

namespace falafel::simulated_verbs {

namespace {

ibv_send_wr& begin(ibv_qp_ex* qp, ibv_wr_opcode opcode) {
  return wrapper_of(qp).batch.begin(opcode, qp->wr_id, qp->wr_flags);
}

void wr_start(ibv_qp_ex* qp) { wrapper_of(qp).batch.clear(); }

void wr_abort(ibv_qp_ex* qp) { wrapper_of(qp).batch.clear(); }

int wr_complete(ibv_qp_ex* qp) {
  const LibraryCall call("ibv_wr_complete");
  call.let_others_go_on();
  QueuePair& queue_pair = wrapper_of(qp);
  return queue_pair.batch.is_malformed()
             ? EINVAL
             : queue_pair.post_sends_together(queue_pair.batch.requests());
}

void wr_send(ibv_qp_ex* qp) { begin(qp, IBV_WR_SEND); }

void wr_send_imm(ibv_qp_ex* qp, __be32 immediate) {
  begin(qp, IBV_WR_SEND_WITH_IMM).imm_data = immediate;
}

void wr_send_inv(ibv_qp_ex* qp, std::uint32_t key) {
  begin(qp, IBV_WR_SEND_WITH_INV).invalidate_rkey = key;
}

void wr_local_inv(ibv_qp_ex* qp, std::uint32_t key) {
  begin(qp, IBV_WR_LOCAL_INV).invalidate_rkey = key;
}

void wr_bind_mw(ibv_qp_ex* qp, ibv_mw* window, std::uint32_t key, const ibv_mw_bind_info* info) {
  begin(qp, IBV_WR_BIND_MW).bind_mw = {.mw = window, .rkey = key, .bind_info = *info};
}

ibv_send_wr& begin_remote(ibv_qp_ex* qp, ibv_wr_opcode opcode, std::uint32_t key,
                          std::uint64_t address) {
  ibv_send_wr& work = begin(qp, opcode);
  work.wr.rdma = {.remote_addr = address, .rkey = key};
  return work;
}

void wr_rdma_read(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address) {
  begin_remote(qp, IBV_WR_RDMA_READ, key, address);
}

void wr_rdma_write(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address) {
  begin_remote(qp, IBV_WR_RDMA_WRITE, key, address);
}

void wr_rdma_write_imm(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address, __be32 immediate) {
  begin_remote(qp, IBV_WR_RDMA_WRITE_WITH_IMM, key, address).imm_data = immediate;
}

void wr_atomic_cmp_swp(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address,
                       std::uint64_t compare, std::uint64_t swap) {
  begin(qp, IBV_WR_ATOMIC_CMP_AND_SWP).wr.atomic = {
      .remote_addr = address, .compare_add = compare, .swap = swap, .rkey = key};
}

void wr_atomic_fetch_add(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address,
                         std::uint64_t added) {
  begin(qp, IBV_WR_ATOMIC_FETCH_AND_ADD).wr.atomic = {
      .remote_addr = address, .compare_add = added, .swap = 0, .rkey = key};
}

void wr_set_ud_addr(ibv_qp_ex* qp, ibv_ah* address, std::uint32_t number, std::uint32_t key) {
  wrapper_of(qp).batch.set_destination(address, number, key);
}

void wr_set_sge_list(ibv_qp_ex* qp, std::size_t count, const ibv_sge* entries) {
  wrapper_of(qp).batch.set_entries({entries, count});
}

void wr_set_sge(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address, std::uint32_t length) {
  const ibv_sge entry{.addr = address, .length = length, .lkey = key};
  wr_set_sge_list(qp, 1, &entry);
}

void wr_set_inline_data_list(ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* parts) {
  wrapper_of(qp).batch.set_inline_data({parts, count});
}

void wr_set_inline_data(ibv_qp_ex* qp, void* data, std::size_t length) {
  const ibv_data_buf part{.addr = data, .length = length};
  wr_set_inline_data_list(qp, 1, &part);
}

constexpr std::uint64_t operations_of_datagrams =
    IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
constexpr std::uint64_t operations_of_unreliable_connections =
    operations_of_datagrams | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
    IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV;
constexpr std::uint64_t operations_of_reliable_connections =
    operations_of_unreliable_connections | IBV_QP_EX_WITH_RDMA_READ |
    IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
    IBV_QP_EX_WITH_SEND_WITH_INV;

}  // namespace

bool supports_operations(ibv_qp_type type, std::uint64_t operations) {
  std::uint64_t possible = operations_of_datagrams;
  if (type == IBV_QPT_UC) possible = operations_of_unreliable_connections;
  if (type == IBV_QPT_RC) possible = operations_of_reliable_connections;
  return (operations & ~possible) == 0;
}

void set_operations(ibv_qp_ex& queue_pair, std::uint64_t operations) {
  const auto set = [&](std::uint64_t operation, auto& function, auto implementation) {
    if ((operations & operation) != 0) function = implementation;
  };
  set(IBV_QP_EX_WITH_SEND, queue_pair.wr_send, wr_send);
  set(IBV_QP_EX_WITH_SEND_WITH_IMM, queue_pair.wr_send_imm, wr_send_imm);
  set(IBV_QP_EX_WITH_RDMA_READ, queue_pair.wr_rdma_read, wr_rdma_read);
  set(IBV_QP_EX_WITH_RDMA_WRITE, queue_pair.wr_rdma_write, wr_rdma_write);
  set(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, queue_pair.wr_rdma_write_imm, wr_rdma_write_imm);
  set(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, queue_pair.wr_atomic_cmp_swp, wr_atomic_cmp_swp);
  set(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, queue_pair.wr_atomic_fetch_add, wr_atomic_fetch_add);
  set(IBV_QP_EX_WITH_SEND_WITH_INV, queue_pair.wr_send_inv, wr_send_inv);
  set(IBV_QP_EX_WITH_LOCAL_INV, queue_pair.wr_local_inv, wr_local_inv);
  set(IBV_QP_EX_WITH_BIND_MW, queue_pair.wr_bind_mw, wr_bind_mw);
  queue_pair.wr_start = wr_start;
  queue_pair.wr_complete = wr_complete;
  queue_pair.wr_abort = wr_abort;
  queue_pair.wr_set_ud_addr = wr_set_ud_addr;
  queue_pair.wr_set_sge = wr_set_sge;
  queue_pair.wr_set_sge_list = wr_set_sge_list;
  queue_pair.wr_set_inline_data = wr_set_inline_data;
  queue_pair.wr_set_inline_data_list = wr_set_inline_data_list;
}

}  // namespace falafel::simulated_verbs
