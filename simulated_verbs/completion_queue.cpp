#include "simulated_verbs/completion_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "fabric/sim/existing_programs.h"
#include "simulated_verbs/completion_channel.h"
#include "simulated_verbs/errors.h"
#include "simulated_verbs/process_site.h"
#include "simulated_verbs/subnet.h"

namespace falafel::simulated_verbs {

namespace {

using fabric::Opcode;

constexpr std::size_t polled_at_once = 16;
constexpr int undefined_byte = 0xa5;

constexpr const char* overrun_property = "verbs.completion-queue-overrun";

ibv_wc_status status_of(fabric::CompletionStatus status) {
  switch (status) {
    case fabric::CompletionStatus::success: return IBV_WC_SUCCESS;
    case fabric::CompletionStatus::local_length_error: return IBV_WC_LOC_LEN_ERR;
    case fabric::CompletionStatus::remote_invalid_request_error: return IBV_WC_REM_INV_REQ_ERR;
    case fabric::CompletionStatus::remote_access_error: return IBV_WC_REM_ACCESS_ERR;
    case fabric::CompletionStatus::retry_exceeded: return IBV_WC_RETRY_EXC_ERR;
    case fabric::CompletionStatus::receiver_not_ready_exceeded: return IBV_WC_RNR_RETRY_EXC_ERR;
    case fabric::CompletionStatus::flushed: return IBV_WC_WR_FLUSH_ERR;
    case fabric::CompletionStatus::device_error: return IBV_WC_FATAL_ERR;
    case fabric::CompletionStatus::local_protection_error: return IBV_WC_LOC_PROT_ERR;
    case fabric::CompletionStatus::remote_operation_error: return IBV_WC_REM_OP_ERR;
    case fabric::CompletionStatus::window_error: return IBV_WC_MW_BIND_ERR;
  }
  return IBV_WC_GENERAL_ERR;
}

ibv_wc_opcode opcode_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::read: return IBV_WC_RDMA_READ;
    case Opcode::write:
    case Opcode::write_with_immediate: return IBV_WC_RDMA_WRITE;
    case Opcode::compare_and_swap:
    case Opcode::masked_compare_and_swap: return IBV_WC_COMP_SWAP;
    case Opcode::fetch_and_add:
    case Opcode::masked_fetch_and_add: return IBV_WC_FETCH_ADD;
    case Opcode::receive:
    case Opcode::receive_of_invalidation: return IBV_WC_RECV;
    case Opcode::bind_window: return IBV_WC_BIND_MW;
    case Opcode::invalidate_window: return IBV_WC_LOCAL_INV;
    case Opcode::receive_of_write: return IBV_WC_RECV_RDMA_WITH_IMM;
    case Opcode::send:
    case Opcode::send_with_immediate: break;
  }
  return IBV_WC_SEND;
}

ibv_wc translate(const Subnet& subnet, const fabric::WorkCompletion& completion) {
  ibv_wc translated{};
  if (completion.status != fabric::CompletionStatus::success) {
    // The other fields of a failed completion are undefined (ibv_poll_cq(3)).
    std::memset(&translated, undefined_byte, sizeof translated);
    translated.vendor_err = 0;
    translated.wr_id = completion.id;
    translated.status = status_of(completion.status);
    translated.qp_num = subnet.number_of_program(completion.queue_pair_number);
    return translated;
  }
  translated.wr_id = completion.id;
  translated.status = IBV_WC_SUCCESS;
  translated.opcode = opcode_of(completion.opcode);
  translated.byte_len = completion.length_bytes;
  translated.qp_num = subnet.number_of_program(completion.queue_pair_number);
  if (completion.opcode == Opcode::receive_of_invalidation) {
    translated.invalidated_rkey = subnet.number_of_window(*completion.immediate);
    translated.wc_flags |= IBV_WC_WITH_INV;
  } else if (completion.immediate) {
    translated.imm_data = *completion.immediate;
    translated.wc_flags |= IBV_WC_WITH_IMM;
  }
  // Only datagrams have a source. The host with index n has the LID n + 1.
  if (completion.source.queue_pair_number != 0) {
    translated.src_qp = subnet.number_of_program(completion.source.queue_pair_number);
    translated.slid = static_cast<std::uint16_t>(completion.source.host + 1);
  }
  return translated;
}

}  // namespace

CompletionQueue::CompletionQueue(Context& opened, std::unique_ptr<fabric::CompletionQueue> made,
                                 const CompletionQueueOptions& options)
    : ibv_cq_ex{}, owner(opened), queue(std::move(made)), unacknowledged(opened.process.host()) {
  context = &opened.context;
  channel = options.channel;
  cq_context = options.context_of_program;
  cqe = options.entries;
  sim::set_event(*queue, owner.process.activity().get());
  if (channel == nullptr) return;
  ++channel->refcnt;
  options.channel->queues.push_back(this);
}

std::unique_ptr<CompletionQueue> make_completion_queue(Context& context,
                                                       const CompletionQueueOptions& options) {
  fabric::Device& device = context.process.host().device(0);
  const std::uint32_t most = device.attributes().max_completions;
  const auto entries = static_cast<std::uint32_t>(options.entries);
  if (options.entries < 1 || entries > most || options.vector != 0) return fail_with(EINVAL);
  // The queue of the fabric cannot overrun, so it refuses queue pairs that do not fit. The limit of
  // the program is its own.
  auto queue = device.create_completion_queue(most);
  if (!queue) return fail_with(errno_of(queue.error()));
  return std::make_unique<CompletionQueue>(context, std::move(*queue), options);
}

CompletionQueue::~CompletionQueue() {
  sim::set_event(*queue, nullptr);
  if (channel == nullptr) return;
  --channel->refcnt;
  std::erase(static_cast<CompletionChannel*>(channel)->queues, this);
}

bool CompletionQueue::is_empty() const { return sim::size(*queue) == 0; }

bool CompletionQueue::has_overrun() const {
  return sim::size(*queue) > static_cast<std::uint64_t>(cqe);
}

int CompletionQueue::poll(int most, ibv_wc* completions) {
  if (has_overrun()) {
    owner.process.subnet().report(
        overrun_property, fmt::format("{}: a completion queue of {} entries has had {} completions "
                                      "that were not polled; make it larger, or poll earlier",
                                      owner.process.host().name(), cqe, sim::size(*queue)));
    return -1;
  }
  if (is_empty()) owner.process.wait_for_activity();
  std::array<fabric::WorkCompletion, polled_at_once> polled;
  int taken = 0;
  while (taken < most) {
    const std::size_t wanted =
        std::min<std::size_t>(polled.size(), static_cast<std::size_t>(most - taken));
    const std::size_t count = queue->poll(std::span(polled).first(wanted));
    for (std::size_t index = 0; index < count; ++index) {
      completions[taken++] = translate(owner.process.subnet(), polled[index]);
    }
    if (count < wanted) break;
  }
  return taken;
}

// Events are raised by what has arrived, whenever somebody asks.
void CompletionQueue::note_event() {
  if (armed_ == Armed::no || arrivals() == armed_at_) return;
  armed_ = Armed::no;
  ++events_;
}

std::uint64_t CompletionQueue::arrivals() const {
  return armed_ == Armed::for_urgent ? sim::urgent_arrivals(*queue) : sim::arrivals(*queue);
}

void CompletionQueue::arm(bool solicited_only) {
  note_event();
  if (armed_ != Armed::for_all) armed_ = solicited_only ? Armed::for_urgent : Armed::for_all;
  armed_at_ = arrivals();
}

bool CompletionQueue::has_event() {
  note_event();
  return events_ > 0;
}

void CompletionQueue::take_event() {
  --events_;
  unacknowledged.add();
}

}  // namespace falafel::simulated_verbs
