// Posting: a chain of the contract becomes a list of libibverbs. The rules are those of
// fabric/posting_rules.h.
#include <arpa/inet.h>

#include <algorithm>
#include <bit>

#include "fabric/verbs/queue_pair.h"
#include "fabric/verbs/segments.h"

namespace falafel::verbs {

using fabric::Result;

namespace {

std::uint64_t device_id(bool is_receive, std::uint64_t sequence) {
  return is_receive ? sequence | receive_mark : sequence;
}

ibv_wr_opcode to_code(fabric::Opcode opcode) {
  switch (opcode) {
    case fabric::Opcode::read: return IBV_WR_RDMA_READ;
    case fabric::Opcode::write: return IBV_WR_RDMA_WRITE;
    case fabric::Opcode::compare_and_swap: return IBV_WR_ATOMIC_CMP_AND_SWP;
    case fabric::Opcode::fetch_and_add: return IBV_WR_ATOMIC_FETCH_AND_ADD;
    case fabric::Opcode::send_with_immediate: return IBV_WR_SEND_WITH_IMM;
    case fabric::Opcode::write_with_immediate: return IBV_WR_RDMA_WRITE_WITH_IMM;
    case fabric::Opcode::masked_compare_and_swap:
    case fabric::Opcode::masked_fetch_and_add:
    case fabric::Opcode::bind_window:
    case fabric::Opcode::invalidate_window:
      FALAFEL_ASSERT(false, "{} was posted", to_string(opcode));
    case fabric::Opcode::send:
    case fabric::Opcode::receive:
    case fabric::Opcode::receive_of_invalidation:
    case fabric::Opcode::receive_of_write: break;
  }
  return IBV_WR_SEND;
}

// At least as many as there are in the chain.
template <typename Request>
std::size_t segment_count(std::span<const Request> chain) {
  std::size_t count = 0;
  for (const Request& request : chain) count += std::max<std::size_t>(request.segments.size(), 1);
  return count;
}

}  // namespace

RequestReference QueuePair::reference(std::uint64_t id) const {
  const std::uint64_t sequence = id & ~receive_mark;
  if (shared_receives_ != nullptr && (id & receive_mark) != 0) {
    return shared_receives_->reference(sequence);
  }
  const Queue& queue = (id & receive_mark) != 0 ? receives_ : sends_;
  FALAFEL_ASSERT(queue.contains(sequence),
                 "queue pair {}: the device completed request {} of those from {} to {}", number_,
                 sequence, queue.released, queue.posted);
  return queue.at(sequence);
}

// Requests complete in the order of posting, so all earlier requests are complete as well.
void QueuePair::release(fabric::Opcode opcode, std::uint64_t sequence) {
  if (shared_receives_ != nullptr && fabric::is_receive(opcode)) {
    return shared_receives_->release(sequence);
  }
  Queue& queue = fabric::is_receive(opcode) ? receives_ : sends_;
  FALAFEL_ASSERT(queue.contains(sequence),
                 "queue pair {}: request {} is released; {} to {} are posted", number_, sequence,
                 queue.released, queue.posted);
  queue.released = sequence + 1;
}

fabric::LocalBuffer QueuePair::examine_local(const fabric::MemoryAddress& local,
                                             std::uint64_t length_bytes, bool is_written) const {
  const auto found = domain_->regions.find(local.key);
  return fabric::examine_local_buffer(found == domain_->regions.end() ? nullptr : &found->second,
                                      local, length_bytes, is_written);
}

// For some broken rules, libibverbs would fail the queue pair later or post half of the chain.
Result<void> QueuePair::check_chain(std::span<const fabric::WorkRequest> chain) {
  const auto examine = [this](std::size_t /*index*/, const fabric::MemoryAddress& local,
                              std::uint64_t length_bytes, bool is_written) {
    return examine_local(local, length_bytes, is_written);
  };
  const fabric::QueueOccupancy queue{.queue_pair_number = number_,
                                     .is_closed = state_ == fabric::QueuePairState::closed,
                                     .places_taken = sends_.taken()};
  Result<void> checked = fabric::check_send_chain(chain, queue, options_, attributes_, examine);
  if (!checked || options_.transport != fabric::Transport::unreliable_datagram) return checked;
  for (const fabric::WorkRequest& request : chain) {
    if (Result<void> ready = prepare_destination(request.destination); !ready) return ready;
  }
  return {};
}

Result<void> QueuePair::post_send(std::span<const fabric::WorkRequest> chain) {
  if (Result<void> checked = check_chain(chain); !checked) return checked;
  if (chain.empty()) return {};
  send_list_.assign(chain.size(), ibv_send_wr{});
  buffers_.clear();
  buffers_.reserve(segment_count(chain));
  for (std::size_t i = 0; i < chain.size(); ++i) {
    translate(chain[i], send_list_[i]);
    if (i > 0) send_list_[i - 1].next = &send_list_[i];
  }
  ibv_send_wr* refused = nullptr;
  const int failed = ibv_post_send(raw_, send_list_.data(), &refused);
  FALAFEL_ASSERT(failed == 0, "ibv_post_send: {}", words_of(failed));
  return {};
}

Result<void> QueuePair::post_receive(std::span<const fabric::ReceiveRequest> chain) {
  const auto examine = [this](std::size_t /*index*/, const fabric::MemoryAddress& local,
                              std::uint64_t length_bytes, bool is_written) {
    return examine_local(local, length_bytes, is_written);
  };
  const fabric::QueueOccupancy queue{.queue_pair_number = number_,
                                     .is_closed = state_ == fabric::QueuePairState::closed,
                                     .places_taken = receives_.taken()};
  if (Result<void> checked = fabric::check_own_receive_queue(options_); !checked) return checked;
  if (Result<void> checked = fabric::check_receive_chain(chain, queue, options_, examine);
      !checked) {
    return checked;
  }
  if (chain.empty()) return {};
  receive_list_.assign(chain.size(), ibv_recv_wr{});
  buffers_.clear();
  buffers_.reserve(segment_count(chain));
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const fabric::ReceiveRequest& request = chain[i];
    const std::uint64_t sequence = receives_.posted++;
    receives_.at(sequence) = {.id = request.id,
                              .opcode = fabric::Opcode::receive,
                              .sequence = sequence,
                              .buffer = start_of(request)};
    const std::span<ibv_sge> buffer = describe_buffer(request);
    receive_list_[i].wr_id = device_id(true, sequence);
    receive_list_[i].sg_list = buffer.data();
    receive_list_[i].num_sge = static_cast<int>(buffer.size());
    if (i > 0) receive_list_[i - 1].next = &receive_list_[i];
  }
  ibv_recv_wr* refused = nullptr;
  const int failed = ibv_post_recv(raw_, receive_list_.data(), &refused);
  FALAFEL_ASSERT(failed == 0, "ibv_post_recv: {}", words_of(failed));
  if (state_ == fabric::QueuePairState::error) enter_error();  // see note_failure()
  return {};
}

// Appends the segments of the request to buffers_, which must have room for them.
template <typename Request>
std::span<ibv_sge> QueuePair::describe_buffer(const Request& request) {
  const std::size_t first = buffers_.size();
  append_segments(request, buffers_);
  return std::span(buffers_).subspan(first);
}

void QueuePair::translate(const fabric::WorkRequest& request, ibv_send_wr& out) {
  const std::uint64_t sequence = sends_.posted++;
  sends_.at(sequence) = {
      .id = request.id, .opcode = request.opcode, .sequence = sequence, .buffer = {}};
  const std::span<ibv_sge> buffer = describe_buffer(request);
  out.wr_id = device_id(false, sequence);
  out.sg_list = buffer.data();
  out.num_sge = static_cast<int>(buffer.size());
  out.opcode = to_code(request.opcode);
  out.imm_data = htonl(request.immediate);
  if (request.signalled) out.send_flags |= IBV_SEND_SIGNALED;
  if (request.fenced) out.send_flags |= IBV_SEND_FENCE;
  if (request.inlined && request.length_bytes > 0) {
    // The data is copied now, from its address in this process.
    for (ibv_sge& part : buffer) {
      const std::byte* const block = domain_->regions.at(part.lkey).block;
      part.addr = std::bit_cast<std::uint64_t>(block + part.addr);
    }
    out.send_flags |= IBV_SEND_INLINE;
  }
  if (options_.transport == fabric::Transport::unreliable_datagram) {
    address(request.destination, out);
  } else if (is_atomic(request.opcode)) {
    out.wr.atomic.remote_addr = request.remote.offset;
    out.wr.atomic.rkey = request.remote.key;
    const bool compares = request.opcode == fabric::Opcode::compare_and_swap;
    out.wr.atomic.compare_add = compares ? request.compare : request.swap_or_add;
    out.wr.atomic.swap = compares ? request.swap_or_add : 0;
  } else {
    out.wr.rdma.remote_addr = request.remote.offset;
    out.wr.rdma.rkey = request.remote.key;
  }
}

}  // namespace falafel::verbs
