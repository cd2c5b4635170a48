// The requests of queue pairs and shared receive queues: translated for the fabric, and posted.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

#include "fabric/assert.h"
#include "fabric/posting_rules.h"
#include "fabric/sim/existing_programs.h"
#include "fabric/sim/memory_windows.h"
#include "simulated_verbs/address_handle.h"
#include "simulated_verbs/errors.h"
#include "simulated_verbs/invalid_calls.h"
#include "simulated_verbs/memory_window.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/process_site.h"
#include "simulated_verbs/queue_pair.h"
#include "simulated_verbs/queue_pair_states.h"
#include "simulated_verbs/subnet.h"

namespace falafel::simulated_verbs {

namespace {

bool to_opcode(ibv_wr_opcode opcode, fabric::Opcode& translated) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE: translated = fabric::Opcode::write; return true;
    case IBV_WR_RDMA_WRITE_WITH_IMM: translated = fabric::Opcode::write_with_immediate; return true;
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_INV: translated = fabric::Opcode::send; return true;
    case IBV_WR_SEND_WITH_IMM: translated = fabric::Opcode::send_with_immediate; return true;
    case IBV_WR_RDMA_READ: translated = fabric::Opcode::read; return true;
    case IBV_WR_ATOMIC_CMP_AND_SWP: translated = fabric::Opcode::compare_and_swap; return true;
    case IBV_WR_ATOMIC_FETCH_AND_ADD: translated = fabric::Opcode::fetch_and_add; return true;
    default: return false;
  }
}

// Adds up the lengths. Returns false if the message would be longer than any.
bool add_lengths(const ibv_sge* list, int count, std::uint32_t& length_bytes) {
  std::uint64_t sum = 0;
  for (int index = 0; index < count; ++index) sum += list[index].length;
  length_bytes = static_cast<std::uint32_t>(sum);
  return sum <= std::numeric_limits<std::uint32_t>::max();
}

// A list of one entry becomes `single`, a longer one `segments`. Entries without bytes are left
// out.
void translate_list(const Subnet& subnet, const ibv_sge* list, int count,
                    fabric::MemoryAddress& single, std::vector<fabric::LocalSegment>& segments) {
  segments.clear();
  for (int index = 0; index < count; ++index) {
    const ibv_sge& entry = list[index];
    if (entry.length == 0) continue;
    segments.push_back(
        {.address = subnet.locate(entry.lkey, entry.addr), .length_bytes = entry.length});
  }
  if (segments.size() != 1) return;
  single = segments.front().address;
  segments.clear();
}

bool is_for_window(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_BIND_MW || opcode == IBV_WR_LOCAL_INV;
}

bool is_of_memory(const fabric::Error& error) {
  return error.code == fabric::ErrorCode::access_denied ||
         error.code == fabric::ErrorCode::out_of_bounds;
}

// The contract refuses at once what a device finds when the request's turn has come. Returns its
// status then; nothing if libibverbs refuses the request at once, too.
std::optional<fabric::CompletionStatus> fault_of(const fabric::WorkRequest& request,
                                                 const fabric::Error& error) {
  if (is_of_memory(error)) return fabric::CompletionStatus::local_protection_error;
  const bool is_misaligned =
      fabric::is_atomic(request.opcode) && request.remote.offset % fabric::word_bytes != 0;
  if (is_misaligned) return fabric::CompletionStatus::remote_invalid_request_error;
  return std::nullopt;
}

}  // namespace

bool QueuePair::may_post_sends() const {
  const ibv_qp_state now = current_state();
  return now == IBV_QPS_RTS || now == IBV_QPS_ERR;
}

int QueuePair::refuse_send_in_this_state() const {
  return refuse_call(process,
                     fmt::format("ibv_post_send: a queue pair in {} cannot send (10.3.1)",
                                 name_of(current_state())),
                     EINVAL);
}

// The contract refuses what libibverbs refuses, too. A full queue is no mistake.
int QueuePair::refuse_request(const char* call, const fabric::Error& error) const {
  const int code = errno_of(error);
  return code == ENOMEM ? code
                        : refuse_call(process, fmt::format("{}: {}", call, error.detail), code);
}

int QueuePair::post_send(const ibv_send_wr& work) {
  if (!may_post_sends()) return refuse_send_in_this_state();
  if (init.cap.max_send_wr == 0) return ENOMEM;
  if (is_for_window(work.opcode)) return post_for_window(work);
  fabric::WorkRequest request;
  if (const int error = translate(work, request); error != 0) return error;
  if (reaches_nobody_) {
    const auto posted = sim::post_faulty(*pair, request, fabric::CompletionStatus::retry_exceeded);
    return posted ? 0 : errno_of(posted.error());
  }
  fabric::Result<void> posted = pair->post_send({&request, 1});
  if (posted) {
    if ((work.send_flags & IBV_SEND_SOLICITED) != 0) sim::mark_solicited(*pair);
    if (work.opcode == IBV_WR_SEND_WITH_INV) {
      sim::mark_invalidating(*pair, process.subnet().locate(work.invalidate_rkey, 0).key);
    }
    return 0;
  }
  if (const auto fault = fault_of(request, posted.error())) {
    posted = sim::post_faulty(*pair, request, *fault);
  }
  return posted ? 0 : refuse_request("ibv_post_send", posted.error());
}

int QueuePair::post_for_window(const ibv_send_wr& work) {
  if (qp_base.qp_type == IBV_QPT_UD) {
    return refuse_call(process, "ibv_post_send: UD has no memory windows (10.6.7)", EINVAL);
  }
  const fabric::WorkRequest request{
      .id = work.wr_id,
      .opcode = fabric::Opcode::bind_window,
      .signalled = init.sq_sig_all != 0 || (work.send_flags & IBV_SEND_SIGNALED) != 0,
      .fenced = (work.send_flags & IBV_SEND_FENCE) != 0 && qp_base.qp_type == IBV_QPT_RC};
  if (work.opcode == IBV_WR_LOCAL_INV) {
    const std::uint32_t key = process.subnet().locate(work.invalidate_rkey, 0).key;
    const auto posted = sim::post_invalidation(*pair, request, key);
    return posted ? 0 : errno_of(posted.error());
  }
  auto& window = *static_cast<MemoryWindow*>(work.bind_mw.mw);
  if (window.type != IBV_MW_TYPE_2) {
    return refuse_call(process, "ibv_post_send: ibv_bind_mw binds windows of type 1", EINVAL);
  }
  return window.post_bind(*this, request, work.bind_mw.bind_info, work.bind_mw.rkey);
}

int QueuePair::post_bind(ibv_mw& window, const ibv_mw_bind& bind) {
  if (!may_post_sends()) return refuse_send_in_this_state();
  if (init.cap.max_send_wr == 0) return ENOMEM;
  if (qp_base.qp_type == IBV_QPT_UD) {
    return refuse_call(process, "ibv_bind_mw: UD has no memory windows (10.6.7)", EINVAL);
  }
  const fabric::WorkRequest request{
      .id = bind.wr_id,
      .opcode = fabric::Opcode::bind_window,
      .signalled = init.sq_sig_all != 0 || (bind.send_flags & IBV_SEND_SIGNALED) != 0,
      .fenced = (bind.send_flags & IBV_SEND_FENCE) != 0 && qp_base.qp_type == IBV_QPT_RC};
  return static_cast<MemoryWindow&>(window).post_bind(*this, request, bind.bind_info,
                                                      ibv_inc_rkey(window.rkey));
}

int QueuePair::post_sends_together(std::span<const ibv_send_wr> works) {
  if (!may_post_sends()) return refuse_send_in_this_state();
  if (works.size() > init.cap.max_send_wr) return ENOMEM;
  for (const ibv_send_wr& work : works) {
    if (is_for_window(work.opcode)) continue;
    fabric::WorkRequest request;
    if (const int error = translate(work, request); error != 0) return error;
    const fabric::Result<void> checked =
        fabric::check_request(request, options(), process.host().device(0).attributes());
    if (!checked && !fault_of(request, checked.error())) {
      return refuse_request("ibv_wr_complete", checked.error());
    }
  }
  if (works.size() > options().max_send_requests - sim::taken_places(*pair)) return ENOMEM;
  for (const ibv_send_wr& work : works) {
    const int error = post_send(work);
    FALAFEL_ASSERT(error == 0, "a request that was examined is refused: {}", error);
  }
  return 0;
}

int QueuePair::translate(const ibv_send_wr& work, fabric::WorkRequest& request) {
  if (!to_opcode(work.opcode, request.opcode)) {
    report_not_simulated(
        "ibv_post_send: an opcode beyond READ, WRITE, SEND, the two atomics and memory windows");
    return EOPNOTSUPP;
  }
  if (work.num_sge < 0 || static_cast<std::uint32_t>(work.num_sge) > init.cap.max_send_sge) {
    return refuse_call(process, "ibv_post_send: num_sge is more than max_send_sge (11.4.1.1)",
                       EINVAL);
  }
  request.id = work.wr_id;
  request.signalled = init.sq_sig_all != 0 || (work.send_flags & IBV_SEND_SIGNALED) != 0;
  request.fenced = (work.send_flags & IBV_SEND_FENCE) != 0 && qp_base.qp_type == IBV_QPT_RC;
  request.inlined = (work.send_flags & IBV_SEND_INLINE) != 0;
  request.immediate = work.imm_data;
  if (!add_lengths(work.sg_list, work.num_sge, request.length_bytes)) return EINVAL;
  if (request.inlined) {
    if (const int error = stage_inline_data(work, request); error != 0) return error;
  } else {
    translate_list(process.subnet(), work.sg_list, work.num_sge, request.local, segments_);
    request.segments = segments_;
  }
  if (qp_base.qp_type == IBV_QPT_UD) return translate_destination(work, request);
  translate_remote(work, request);
  return 0;
}

void QueuePair::translate_remote(const ibv_send_wr& work, fabric::WorkRequest& request) const {
  if (fabric::is_send(request.opcode)) return;
  if (!fabric::is_atomic(request.opcode)) {
    request.remote = process.subnet().locate(work.wr.rdma.rkey, work.wr.rdma.remote_addr);
    return;
  }
  request.remote = process.subnet().locate(work.wr.atomic.rkey, work.wr.atomic.remote_addr);
  const bool swaps = request.opcode == fabric::Opcode::compare_and_swap;
  request.compare = swaps ? work.wr.atomic.compare_add : 0;
  request.swap_or_add = swaps ? work.wr.atomic.swap : work.wr.atomic.compare_add;
}

// Datagrams to nobody are lost, and so are those with another key than the receiver's.
int QueuePair::translate_destination(const ibv_send_wr& work, fabric::WorkRequest& request) const {
  if (work.wr.ud.ah == nullptr) {
    return refuse_call(process, "ibv_post_send: UD needs an address handle (11.4.1.1)", EINVAL);
  }
  const std::uint16_t lid = static_cast<const AddressHandle*>(work.wr.ud.ah)->lid;
  const QueuePair* const receiver = process.subnet().find(lid, work.wr.ud.remote_qpn);
  const bool has_controlled_key = (work.wr.ud.remote_qkey & 0x8000'0000U) != 0;
  const std::uint32_t key = has_controlled_key ? attributes.qkey : work.wr.ud.remote_qkey;
  request.destination.host = lid - 1U;
  if (receiver != nullptr && receiver->may_receive() && receiver->attributes.qkey == key) {
    request.destination.queue_pair_number = receiver->pair->number();
  }
  return 0;
}

int QueuePair::stage_inline_data(const ibv_send_wr& work, fabric::WorkRequest& request) {
  if (request.length_bytes > init.cap.max_inline_data) {
    return refuse_call(process, "ibv_post_send: more inline data than max_inline_data", EINVAL);
  }
  if (request.length_bytes == 0) return 0;
  if (stage_ == nullptr) {
    auto block = process.host().allocate_memory(init.cap.max_inline_data);
    if (!block) return ENOMEM;
    auto region =
        domain.domain->register_memory(*block, 0, init.cap.max_inline_data, fabric::Access{});
    if (!region) return ENOMEM;
    stage_ = std::move(*block);
    stage_region_ = std::move(*region);
  }
  std::span<std::byte> free = stage_->bytes();
  for (int index = 0; index < work.num_sge; ++index) {
    const ibv_sge& entry = work.sg_list[index];
    // libibverbs gives addresses as numbers.
    const auto* const source =
        reinterpret_cast<const std::byte*>(entry.addr);  // NOLINT(performance-no-int-to-ptr)
    std::copy_n(source, entry.length, free.begin());
    free = free.subspan(entry.length);
  }
  request.local = {stage_region_->local_key(), 0};
  return 0;
}

int QueuePair::post_receive(const ibv_recv_wr& work) {
  if (current_state() == IBV_QPS_RESET) {
    return refuse_call(process, "ibv_post_recv: a queue pair in RESET cannot receive (10.3.1)",
                       EINVAL);
  }
  if (shared_receives != nullptr) {
    return refuse_call(
        process, "ibv_post_recv: the queue pair has a shared receive queue (11.4.1.2)", EINVAL);
  }
  if (init.cap.max_recv_wr == 0) return ENOMEM;
  fabric::ReceiveRequest request{.id = work.wr_id};
  if (work.num_sge < 0 || static_cast<std::uint32_t>(work.num_sge) > init.cap.max_recv_sge ||
      !add_lengths(work.sg_list, work.num_sge, request.length_bytes)) {
    return EINVAL;
  }
  translate_list(process.subnet(), work.sg_list, work.num_sge, request.local, segments_);
  request.segments = segments_;
  fabric::Result<void> posted = pair->post_receive({&request, 1});
  if (!posted && is_of_memory(posted.error())) posted = sim::post_faulty_receive(*pair, request);
  return posted ? 0 : refuse_request("ibv_post_recv", posted.error());
}

SharedReceiveQueue::SharedReceiveQueue(ProtectionDomain& owner,
                                       std::unique_ptr<fabric::SharedReceiveQueue> made,
                                       const ibv_srq_init_attr& wanted)
    : ibv_srq{},
      domain(owner),
      queue(std::move(made)),
      limits(wanted.attr),
      unacknowledged(owner.owner.process.host()) {
  limits.srq_limit = 0;  // only ibv_modify_srq arms it
  context = owner.context;
  srq_context = wanted.srq_context;
  pd = &owner;
  ++domain.users;
}

int SharedReceiveQueue::post_receive(const ibv_recv_wr& work) {
  fabric::ReceiveRequest request{.id = work.wr_id};
  if (work.num_sge < 0 || static_cast<std::uint32_t>(work.num_sge) > limits.max_sge ||
      !add_lengths(work.sg_list, work.num_sge, request.length_bytes)) {
    return EINVAL;
  }
  std::vector<fabric::LocalSegment> segments;
  translate_list(domain.owner.process.subnet(), work.sg_list, work.num_sge, request.local,
                 segments);
  request.segments = segments;
  fabric::Result<void> posted = queue->post_receive({&request, 1});
  if (!posted && is_of_memory(posted.error())) posted = sim::post_faulty_receive(*queue, request);
  return posted ? 0 : errno_of(posted.error());
}

}  // namespace falafel::simulated_verbs
