// Posting to a queue pair. The rules are those of fabric/posting_rules.h.
#include "fabric/posting_rules.h"
#include "fabric/sim/host.h"
#include "fabric/sim/queue_pair.h"

namespace falafel::sim {

using fabric::CompletionStatus;
using fabric::Opcode;
using fabric::Result;

fabric::LocalBuffer QueuePairCore::examine_local(const fabric::MemoryAddress& local,
                                                 std::uint64_t length_bytes,
                                                 bool is_written) const {
  return fabric::examine_local_buffer(world_.regions.find(local.key, protection_domain_), local,
                                      length_bytes, is_written);
}

Result<void> QueuePairCore::post_send(std::span<const fabric::WorkRequest> chain) {
  const auto examine = [this](std::size_t /*index*/, const fabric::MemoryAddress& local,
                              std::uint64_t length_bytes, bool is_written) {
    return examine_local(local, length_bytes, is_written);
  };
  const fabric::QueueOccupancy queue{.queue_pair_number = number_,
                                     .is_closed = state_ == State::closed,
                                     .places_taken = places_taken_};
  if (Result<void> checked =
          fabric::check_send_chain(chain, queue, options_, device_.attributes(), examine);
      !checked) {
    return checked;
  }
  ring_.make_room(released_, posted_, chain.size());
  for (const fabric::WorkRequest& request : chain) enqueue(request);
  places_taken_ += static_cast<std::uint32_t>(chain.size());
  send_completions_.expect(*this);
  if (starts_alone()) {
    movable_ = 1;
    can_complete_ = false;
    world_.ready.set_work(*this, true);
  } else {
    refresh();
  }
  return {};
}

inline void QueuePairCore::enqueue(const fabric::WorkRequest& request) {
  SendEntry& slot = entry(posted_++);
  slot.request = request;
  slot.place = posted_ - 1;
  slot.phase = Phase::posted;
  slot.placed = false;
  slot.completed = false;
  slot.overtaken = false;
  slot.counted_wait = false;
  slot.waits_for_earlier = false;
  slot.refused = false;
  slot.owns_payload = false;
  slot.status = CompletionStatus::success;
  slot.tries = 0;
  slot.surviving_bytes = ~std::uint64_t{0};
  world_.trace.record({.kind = EventKind::request_posted,
                       .detail = static_cast<std::uint8_t>(request.opcode),
                       .subject = number_,
                       .request = request.id,
                       .offset = request.remote.offset,
                       .posted = &request,
                       .place = slot.place});
  if (request.inlined) take_payload(slot);
  if (state_ == State::error) drop(slot);
}

Result<void> QueuePairCore::post_receive(std::span<const fabric::ReceiveRequest> chain) {
  const auto examine = [this](std::size_t /*index*/, const fabric::MemoryAddress& local,
                              std::uint64_t length_bytes, bool is_written) {
    return examine_local(local, length_bytes, is_written);
  };
  const fabric::QueueOccupancy queue{.queue_pair_number = number_,
                                     .is_closed = state_ == State::closed,
                                     .places_taken = receive_places_taken_};
  if (Result<void> checked = fabric::check_receive_chain(chain, queue, options_, examine);
      !checked) {
    return checked;
  }
  receives_.make_room(first_receive_, posted_receives_, chain.size());
  for (const fabric::ReceiveRequest& request : chain) {
    receives_[posted_receives_++] = request;
  }
  receive_places_taken_ += static_cast<std::uint32_t>(chain.size());
  // Only a flush takes receive requests from this side; at the other, only a request can wait for them.
  if (state_ == State::error) refresh();
  if (peer_ != nullptr && peer_->released_ != peer_->posted_) peer_->refresh();
  return {};
}

void QueuePairCore::retire(Opcode opcode, std::uint32_t requests) {
  (opcode == Opcode::receive ? receive_places_taken_ : places_taken_) -= requests;
}

// The data leaves the local buffer, which its owner may use again.
void QueuePairCore::take_payload(SendEntry& request) {
  if (request.owns_payload || request.request.length_bytes == 0) return;
  const std::byte* source = local_buffer(request);
  request.payload.assign(source, source + request.request.length_bytes);
  request.owns_payload = true;
}

}  // namespace falafel::sim
