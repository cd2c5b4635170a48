#include "fabric/verbs/completion_queue.h"

#include <arpa/inet.h>

#include <array>

#include "fabric/realtime/clock.h"
#include "fabric/verbs/network.h"
#include "fabric/verbs/queue_pair.h"

namespace falafel::verbs {
namespace {

// Statuses that the contract distinguishes. Everything else is a failure of the device or its
// driver, because posting finds the mistakes of programs.
fabric::CompletionStatus to_status(ibv_wc_status status, fabric::Opcode opcode) {
  switch (status) {
    case IBV_WC_SUCCESS: return fabric::CompletionStatus::success;
    case IBV_WC_LOC_LEN_ERR: return fabric::CompletionStatus::local_length_error;
    case IBV_WC_REM_INV_REQ_ERR: return fabric::CompletionStatus::remote_invalid_request_error;
    case IBV_WC_REM_ACCESS_ERR: return fabric::CompletionStatus::remote_access_error;
    case IBV_WC_RETRY_EXC_ERR: return fabric::CompletionStatus::retry_exceeded;
    case IBV_WC_RNR_RETRY_EXC_ERR: return fabric::CompletionStatus::receiver_not_ready_exceeded;
    case IBV_WC_WR_FLUSH_ERR: return fabric::CompletionStatus::flushed;
    // Soft-RoCE reports these for a message that is longer than its buffer.
    case IBV_WC_LOC_QP_OP_ERR:
      if (opcode == fabric::Opcode::receive) return fabric::CompletionStatus::local_length_error;
      break;
    case IBV_WC_REM_OP_ERR:
      if (fabric::is_send(opcode)) return fabric::CompletionStatus::remote_invalid_request_error;
      break;
    default: break;
  }
  return fabric::CompletionStatus::device_error;
}

// Describes the request that filled the receive request.
void describe_arrival(const ibv_wc& entry, fabric::WorkCompletion& completion) {
  if (entry.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
    completion.opcode = fabric::Opcode::receive_of_write;
  }
  if ((entry.wc_flags & IBV_WC_WITH_IMM) != 0) completion.immediate = ntohl(entry.imm_data);
}

}  // namespace

CompletionQueueState::CompletionQueueState(fabric::FiberScheduler& scheduler, Network& network,
                                           ChannelHandle channel, ibv_cq* queue,
                                           std::uint32_t capacity)
    : scheduler_(scheduler),
      network_(network),
      channel_(std::move(channel)),
      queue_(queue),
      capacity_(capacity) {
  network_.add(*this);
}

CompletionQueueState::~CompletionQueueState() {
  FALAFEL_ASSERT(queue_pairs_.empty() && reserved_ == 0,
                 "a completion queue is destroyed while {} queue pairs use it",
                 queue_pairs_.size());
  network_.remove(*this);
  ibv_destroy_cq(queue_);
}

void CompletionQueueState::attach(QueuePair& queue_pair, std::uint32_t entries) {
  FALAFEL_ASSERT(entries <= unreserved(), "{} entries are reserved of {} that are free", entries,
                 unreserved());
  reserved_ += entries;
  // A queue pair attaches twice if its sends and its receives complete here.
  const auto [attached, is_new] = queue_pairs_.emplace(queue_pair.number(), &queue_pair);
  FALAFEL_ASSERT(is_new || attached->second == &queue_pair, "two queue pairs have the number {}",
                 queue_pair.number());
}

void CompletionQueueState::detach(QueuePair& queue_pair, std::uint32_t entries) {
  collect();
  for (const Taken& taken : taken_) {
    if (taken.queue_pair == &queue_pair) {
      queue_pair.release(taken.completion.opcode, taken.sequence);
    }
  }
  FALAFEL_ASSERT(entries <= reserved_, "{} entries are released of {} that are reserved", entries,
                 reserved_);
  reserved_ -= entries;
  queue_pairs_.erase(queue_pair.number());
  std::erase_if(taken_, [&](const Taken& taken) { return taken.queue_pair == &queue_pair; });
}

std::size_t CompletionQueueState::poll(std::span<fabric::WorkCompletion> destination) {
  if (taken_.size() < destination.size()) collect();
  std::size_t count = 0;
  while (count < destination.size() && !taken_.empty()) {
    const Taken& taken = taken_.front();
    destination[count++] = taken.completion;
    taken.queue_pair->release(taken.completion.opcode, taken.sequence);
    taken_.pop_front();
  }
  return count;
}

bool CompletionQueueState::wait(std::uint64_t deadline_ns) {
  if (!taken_.empty() || collect()) {
    scheduler_.waited_for_nothing();
  }
  // Another fiber may have polled the completion that woke this one.
  while (taken_.empty()) {
    if (!scheduler_.wait(&waiters_, deadline_ns) && scheduler_.gives_up(deadline_ns)) break;
  }
  return !taken_.empty();
}

// Without memory, completions would be lost, and nobody could go on.
bool CompletionQueueState::collect() noexcept {
  std::array<ibv_wc, batch_size> batch{};
  int count = batch_size;
  while (count == batch_size) {
    count = ibv_poll_cq(queue_, batch_size, batch.data());
    FALAFEL_ASSERT(count >= 0, "ibv_poll_cq: {}", words_of(errno));
    for (int i = 0; i < count; ++i) take(batch[static_cast<std::size_t>(i)]);
  }
  if (taken_.empty()) return false;
  waiters_.wake_all();
  return true;
}

void CompletionQueueState::take(const ibv_wc& entry) {
  const auto found = queue_pairs_.find(entry.qp_num);
  if (found == queue_pairs_.end())
    return;  // closed; some devices keep completions of closed queue pairs
  QueuePair& queue_pair = *found->second;
  const RequestReference request = queue_pair.reference(entry.wr_id);
  const fabric::CompletionStatus status = to_status(entry.status, request.opcode);
  if (status != fabric::CompletionStatus::success) {
    if (queue_pair.note_failure(request.opcode) && status != fabric::CompletionStatus::flushed) {
      network_.report_failure(fmt::format("queue pair {}: {} failed: {} (vendor code {:#x})",
                                          entry.qp_num, to_string(request.opcode),
                                          ibv_wc_status_str(entry.status), entry.vendor_err));
    }
  }
  fabric::WorkCompletion completion{.id = request.id,
                                    .status = status,
                                    .opcode = request.opcode,
                                    .length_bytes = entry.byte_len,
                                    .queue_pair_number = entry.qp_num};
  const bool is_datagram = queue_pair.transport() == fabric::Transport::unreliable_datagram &&
                           request.opcode == fabric::Opcode::receive;
  if (is_datagram && status == fabric::CompletionStatus::success) {
    completion.source = queue_pair.source(entry, request);
  }
  if (request.opcode == fabric::Opcode::receive && status == fabric::CompletionStatus::success) {
    describe_arrival(entry, completion);
  }
  taken_.push_back(
      {.completion = completion, .queue_pair = &queue_pair, .sequence = request.sequence});
}

void CompletionQueueState::on_port_error(int port) const {
  for (const auto& [number, queue_pair] : queue_pairs_) queue_pair->on_port_error(port);
}

void CompletionQueueState::ask_for_interrupt() {
  const int failed = ibv_req_notify_cq(queue_, 0);
  FALAFEL_ASSERT(failed == 0, "ibv_req_notify_cq: {}", words_of(failed));
}

}  // namespace falafel::verbs
