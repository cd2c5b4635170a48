// Completion queues that a program reads field by field: ibv_start_poll and ibv_next_poll take a
// completion, and the functions after them read the fields that the program named at creation.
#include <cerrno>

#include "simulated_verbs/completion_channel.h"
#include "simulated_verbs/completion_queue.h"
#include "simulated_verbs/errors.h"
#include "simulated_verbs/extended_functions.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

// Returns 0, ENOENT if the queue is empty, or another errno.
int take_next(ibv_cq_ex* cq, int polled) {
  if (polled < 0) return EIO;  // it has overrun
  if (polled == 0) return ENOENT;
  CompletionQueue& queue = wrapper_of(cq);
  queue.current_ns = queue.owner.process.host().now_ns();
  const ibv_wc& completion = queue.current;
  cq->wr_id = completion.wr_id;
  cq->status = completion.status;
  return 0;
}

int start_poll(ibv_cq_ex* cq, ibv_poll_cq_attr* attributes) {
  const LibraryCall call("ibv_start_poll");
  call.let_others_go_on();
  if (attributes->comp_mask != 0) return EINVAL;
  return take_next(cq, wrapper_of(cq).poll(1, &wrapper_of(cq).current));
}

// A program goes on with its work when it has read the last completion, and does not wait here.
int next_poll(ibv_cq_ex* cq) {
  const LibraryCall call("ibv_next_poll");
  CompletionQueue& queue = wrapper_of(cq);
  return take_next(cq, queue.is_empty() ? 0 : queue.poll(1, &queue.current));
}

void end_poll(ibv_cq_ex* /*cq*/) {}

ibv_wc_opcode read_opcode(ibv_cq_ex* cq) { return wrapper_of(cq).current.opcode; }
std::uint32_t read_vendor_err(ibv_cq_ex* cq) { return wrapper_of(cq).current.vendor_err; }
std::uint32_t read_byte_len(ibv_cq_ex* cq) { return wrapper_of(cq).current.byte_len; }
__be32 read_imm_data(ibv_cq_ex* cq) { return wrapper_of(cq).current.imm_data; }
std::uint32_t read_qp_num(ibv_cq_ex* cq) { return wrapper_of(cq).current.qp_num; }
std::uint32_t read_src_qp(ibv_cq_ex* cq) { return wrapper_of(cq).current.src_qp; }
unsigned read_wc_flags(ibv_cq_ex* cq) { return wrapper_of(cq).current.wc_flags; }
std::uint32_t read_slid(ibv_cq_ex* cq) { return wrapper_of(cq).current.slid; }
std::uint8_t read_sl(ibv_cq_ex* cq) { return wrapper_of(cq).current.sl; }
std::uint8_t read_dlid_path_bits(ibv_cq_ex* cq) { return wrapper_of(cq).current.dlid_path_bits; }

// A device stamps a completion when it writes it, which is earlier.
std::uint64_t read_completion_ts(ibv_cq_ex* cq) { return wrapper_of(cq).current_ns; }

}  // namespace

void set_functions(ibv_cq_ex& queue, std::uint64_t fields) {
  const auto set = [&](std::uint64_t field, auto& function, auto implementation) {
    if ((fields & field) != 0) function = implementation;
  };
  queue.start_poll = start_poll;
  queue.next_poll = next_poll;
  queue.end_poll = end_poll;
  queue.read_opcode = read_opcode;
  queue.read_vendor_err = read_vendor_err;
  queue.read_wc_flags = read_wc_flags;
  set(IBV_WC_EX_WITH_BYTE_LEN, queue.read_byte_len, read_byte_len);
  set(IBV_WC_EX_WITH_IMM, queue.read_imm_data, read_imm_data);
  set(IBV_WC_EX_WITH_QP_NUM, queue.read_qp_num, read_qp_num);
  set(IBV_WC_EX_WITH_SRC_QP, queue.read_src_qp, read_src_qp);
  set(IBV_WC_EX_WITH_SLID, queue.read_slid, read_slid);
  set(IBV_WC_EX_WITH_SL, queue.read_sl, read_sl);
  set(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, queue.read_completion_ts, read_completion_ts);
  set(IBV_WC_EX_WITH_DLID_PATH_BITS, queue.read_dlid_path_bits, read_dlid_path_bits);
}

ibv_cq_ex* create_extended_completion_queue(ibv_context* context, ibv_cq_init_attr_ex* wanted) {
  const LibraryCall call("ibv_create_cq_ex");
  constexpr std::uint64_t known_fields =
      std::uint64_t{IBV_WC_STANDARD_FLAGS} | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
  constexpr std::uint32_t flags_without_effect =
      IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
  const bool has_flags = (wanted->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0;
  const std::uint32_t flags = has_flags ? wanted->flags : 0;
  if ((wanted->wc_flags & ~known_fields) != 0 ||
      (wanted->comp_mask & ~std::uint32_t{IBV_CQ_INIT_ATTR_MASK_FLAGS}) != 0 ||
      (flags & ~flags_without_effect) != 0) {
    report_not_simulated("ibv_create_cq_ex: the wall clock, parent domains, or fields of Ethernet");
    return fail_with(EOPNOTSUPP);
  }
  auto made = make_completion_queue(wrapper_of(context),
                                    {.entries = static_cast<int>(wanted->cqe),
                                     .context_of_program = wanted->cq_context,
                                     .channel = static_cast<CompletionChannel*>(wanted->channel),
                                     .vector = static_cast<int>(wanted->comp_vector)});
  if (made == nullptr) return nullptr;
  set_functions(*made, wanted->wc_flags);
  return call.process().verbs().completion_queues.add(std::move(made));
}

}  // namespace falafel::simulated_verbs
