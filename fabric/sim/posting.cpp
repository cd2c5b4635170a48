// Posting to a queue pair: what a request must be on its transport, and its place in the queue.
#include "fabric/request_rules.h"
#include "fabric/sim/host.h"
#include "fabric/sim/queue_pair.h"

namespace falafel::sim {

using fabric::CompletionStatus;
using fabric::ErrorCode;
using fabric::make_error;
using fabric::Opcode;
using fabric::Result;

inline Result<void> QueuePairCore::check_local(const fabric::MemoryAddress& local,
                                               std::uint64_t length_bytes, bool is_written) const {
  if (length_bytes == 0) return {};
  const Region* region = world_.regions.find(local.key, protection_domain_);
  if (region == nullptr) {
    return make_error(
        ErrorCode::access_denied,
        fmt::format("local.key: {} is no region of the queue pair's protection domain", local.key));
  }
  if (!region->contains(local.offset, length_bytes)) {
    return make_error(
        ErrorCode::out_of_bounds,
        fmt::format("local buffer: bytes {}..+{} are not within the region at {}..+{}",
                    local.offset, length_bytes, region->offset, region->length_bytes));
  }
  if (is_written && !region->access.local_write) {
    return make_error(ErrorCode::access_denied,
                      "local buffer: it will be written; register it with local_write");
  }
  return {};
}

inline Result<void> QueuePairCore::check_request(const fabric::WorkRequest& request) const {
  if (Result<void> checked = fabric::check_request(request, options_, device_.attributes());
      !checked) {
    return checked;
  }
  const bool is_written = fabric::returns_data(request.opcode);
  return check_local(request.local, request.length_bytes, is_written);
}

inline Result<void> QueuePairCore::check_chain(std::span<const fabric::WorkRequest> chain) const {
  if (state_ == State::closed) {
    return make_error(ErrorCode::queue_pair_closed,
                      fmt::format("queue pair {} was closed; connect again", number_));
  }
  if (chain.size() > options_.max_send_requests - places_taken_) {
    return make_error(ErrorCode::queue_full,
                      fmt::format("{} requests do not fit: {} of {} places are taken until their "
                                  "completions are polled",
                                  chain.size(), places_taken_, options_.max_send_requests));
  }
  for (const fabric::WorkRequest& request : chain) {
    if (Result<void> checked = check_request(request); !checked) return checked;
  }
  return {};
}

Result<void> QueuePairCore::post_send(std::span<const fabric::WorkRequest> chain) {
  if (Result<void> checked = check_chain(chain); !checked) return checked;
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
  if (state_ == State::closed) {
    return make_error(ErrorCode::queue_pair_closed,
                      fmt::format("queue pair {} was closed; connect again", number_));
  }
  if (chain.size() > options_.max_receive_requests - receive_places_taken_) {
    return make_error(
        ErrorCode::queue_full,
        fmt::format("{} receive requests do not fit: {} of {} places are taken until "
                    "their completions are polled",
                    chain.size(), receive_places_taken_, options_.max_receive_requests));
  }
  for (const fabric::ReceiveRequest& request : chain) {
    if (Result<void> checked = check_local(request.local, request.length_bytes, true); !checked) {
      return checked;
    }
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
