// Posting to a queue pair. The rules are those of fabric/posting_rules.h.
//
// A post that throws std::bad_alloc has changed nothing.
#include <algorithm>
#include <new>

#include "fabric/posting_rules.h"
#include "fabric/shm/completion_queue.h"
#include "fabric/shm/host.h"
#include "fabric/shm/key_table.h"
#include "fabric/shm/queue_pair.h"
#include "fabric/shm/receive_ring.h"

namespace falafel::shm {

using fabric::Result;

fabric::LocalBuffer QueuePair::examine_local(const fabric::MemoryAddress& local,
                                             std::uint64_t length_bytes, bool is_written) {
  const Lookup found = local_keys_.look_up(local.key, local.offset, length_bytes,
                                           is_written ? rights::local_write : rights::none);
  locals_.push_back({.begin = found.address, .length_bytes = length_bytes});
  switch (found.result) {
    case Lookup::Result::found: return fabric::LocalBuffer::usable;
    case Lookup::Result::unknown_key: return fabric::LocalBuffer::unknown_key;
    case Lookup::Result::out_of_bounds: return fabric::LocalBuffer::out_of_bounds;
    case Lookup::Result::no_right: break;
  }
  return fabric::LocalBuffer::not_writable;
}

Result<void> QueuePair::post_send(std::span<const fabric::WorkRequest> chain) {
  locals_.clear();
  const auto examine = [this](std::size_t /*index*/, const fabric::MemoryAddress& local,
                              std::uint64_t length_bytes, bool is_written) {
    return examine_local(local, length_bytes, is_written);
  };
  const fabric::QueueOccupancy queue{
      .queue_pair_number = number_, .is_closed = closed_, .places_taken = places_taken_};
  auto checked = fabric::check_send_chain(chain, queue, options_, host_.attributes(), examine);
  if (!checked) return checked;
  make_room(chain);
  places_taken_ += static_cast<std::uint32_t>(chain.size());
  FALAFEL_ASSERT(waiting_.size() + chain.size() <= waiting_.capacity(),
                 "queue pair {}: {} requests cannot wait behind {}", number_, chain.size(),
                 waiting_.size());
  LocalParts locals = locals_;
  const bool is_tried = waiting_.empty();
  const std::size_t completed = is_tried ? carry_out_at_once(chain, locals) : 0;
  if (completed == chain.size()) return {};
  try {
    enqueue(chain.subspan(completed), locals);
  } catch (const std::bad_alloc&) {
    if (is_tried) {
      break_off(chain.subspan(completed));
      return {};
    }
    places_taken_ -= static_cast<std::uint32_t>(chain.size());
    send_completions_.expect_no_more(static_cast<std::uint32_t>(chain.size()));
    throw;
  }
  progress();
  return {};
}

// Carrying out requests and completing them needs no further memory.
void QueuePair::make_room(std::span<const fabric::WorkRequest> chain) {
  for (const fabric::WorkRequest& request : chain) {
    if (request.segments.empty()) continue;
    gathered_.reserve(fabric::is_send(request.opcode)
                          ? request.length_bytes
                          : std::min(request.length_bytes, host_.attributes().mtu_bytes));
  }
  send_completions_.expect(static_cast<std::uint32_t>(chain.size()));
}

// Enqueues all or, if there is no memory, nothing.
void QueuePair::enqueue(std::span<const fabric::WorkRequest> chain, LocalParts locals) {
  const std::size_t before = waiting_.size();
  try {
    for (const fabric::WorkRequest& request : chain) {
      enqueue(request, take_parts(locals, part_count(request)));
    }
  } catch (const std::bad_alloc&) {
    while (waiting_.size() > before) waiting_.pop_back();
    throw;
  }
}

// For the rest of a chain that may have been carried out in part, when there is no memory for what
// the rest refers to. It waits without that, and is only flushed. Completions tell the program how
// far the chain got.
void QueuePair::break_off(std::span<const fabric::WorkRequest> chain) {
  for (const fabric::WorkRequest& request : chain) {
    waiting_.push_back({.request = request, .local = {}, .inlined = {}, .since_ns = 0});
    waiting_.back().request.segments = {};
  }
  move_to_error();
}

void QueuePair::enqueue(const fabric::WorkRequest& request, LocalParts local) {
  Waiting waiting{
      .request = request, .local = {local.begin(), local.end()}, .inlined = {}, .since_ns = 0};
  waiting.request.segments = {};  // the program's list
  if (request.inlined && request.length_bytes > 0) {
    waiting.inlined.resize(request.length_bytes);
    gather(local, 0, waiting.inlined);
    waiting.local = {{.begin = waiting.inlined.data(), .length_bytes = request.length_bytes}};
  }
  waiting_.push_back(std::move(waiting));
}

// Describes a receive request to the peer.
void QueuePair::fill_slot(const fabric::ReceiveRequest& request, LocalParts local) {
  const auto describe = [this](const LocalPart& part) -> ReceiveSegment {
    return {.buffer = static_cast<std::uint64_t>(part.begin - host_.arena().at(0)),
            .length_bytes = part.length_bytes};
  };
  Endpoint& own = link_->own();
  const auto count = static_cast<std::uint32_t>(local.size());
  own.slot(posted_receives_) = {.first = local.empty() ? ReceiveSegment{} : describe(local[0]),
                                .segment_count = count,
                                .capacity_bytes = request.length_bytes,
                                .length_bytes = 0,
                                .status = ReceiveStatus::received,
                                .arrival = Arrival::message,
                                .immediate = 0};
  for (std::uint32_t number = 1; number < count; ++number) {
    const std::uint64_t place = own.place_of_segment(posted_receives_, number);
    *reinterpret_cast<ReceiveSegment*>(reinterpret_cast<std::byte*>(&own) + place) =
        describe(local[number]);
  }
}

Result<void> QueuePair::post_receive(std::span<const fabric::ReceiveRequest> chain) {
  locals_.clear();
  const auto examine = [this](std::size_t /*index*/, const fabric::MemoryAddress& local,
                              std::uint64_t length_bytes, bool is_written) {
    return examine_local(local, length_bytes, is_written);
  };
  const fabric::QueueOccupancy queue{
      .queue_pair_number = number_, .is_closed = closed_, .places_taken = receive_places_taken_};
  auto checked = fabric::check_receive_chain(chain, queue, options_, examine);
  if (!checked) return checked;
  receive_completions_.expect(static_cast<std::uint32_t>(chain.size()));
  LocalParts locals = locals_;
  for (const fabric::ReceiveRequest& request : chain) {
    fill_slot(request, take_parts(locals, part_count(request)));
    receive_ids_[posted_receives_ & (receive_ids_.size() - 1)] = request.id;
    ++posted_receives_;
  }
  publish_posted(link_->own(), posted_receives_);
  receive_places_taken_ += static_cast<std::uint32_t>(chain.size());
  FALAFEL_ASSERT(posted_receives_ - collected_receives_ <= options_.max_receive_requests,
                 "queue pair {}: {} receive requests are posted, {} collected", number_,
                 posted_receives_, collected_receives_);
  ring(link_->peer_wake_word());  // a SEND may wait for the requests
  if (is_in_error()) progress();
  return {};
}

}  // namespace falafel::shm
