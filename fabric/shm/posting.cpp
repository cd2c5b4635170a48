// Posting to a queue pair. The rules are those of fabric/posting_rules.h.
#include "fabric/posting_rules.h"
#include "fabric/shm/host.h"
#include "fabric/shm/key_table.h"
#include "fabric/shm/queue_pair.h"

namespace falafel::shm {

using fabric::Result;

fabric::LocalBuffer QueuePair::examine_local(const fabric::MemoryAddress& local,
                                             std::uint64_t length_bytes, bool is_written,
                                             std::byte*& address) {
  const Lookup found =
      local_keys_.look_up(host_.arena(), local.key, domain_, local.offset, length_bytes,
                          is_written ? rights::local_write : rights::none);
  address = found.address;
  switch (found.result) {
    case Lookup::Result::found: return fabric::LocalBuffer::usable;
    case Lookup::Result::unknown_key: return fabric::LocalBuffer::unknown_key;
    case Lookup::Result::out_of_bounds: return fabric::LocalBuffer::out_of_bounds;
    case Lookup::Result::no_right: break;
  }
  return fabric::LocalBuffer::not_writable;
}

Result<void> QueuePair::post_send(std::span<const fabric::WorkRequest> chain) {
  locals_.assign(chain.size(), nullptr);
  const auto examine = [this](std::size_t index, const fabric::MemoryAddress& local,
                              std::uint64_t length_bytes, bool is_written) {
    return examine_local(local, length_bytes, is_written, locals_[index]);
  };
  const fabric::QueueOccupancy queue{
      .queue_pair_number = number_, .is_closed = closed_, .places_taken = places_taken_};
  auto checked = fabric::check_send_chain(chain, queue, options_, host_.attributes(), examine);
  if (!checked) return checked;
  places_taken_ += static_cast<std::uint32_t>(chain.size());
  const std::size_t completed = waiting_.empty() ? carry_out_at_once(chain) : 0;
  for (std::size_t index = completed; index < chain.size(); ++index) {
    enqueue(chain[index], locals_[index]);
  }
  if (completed < chain.size()) progress();
  return {};
}

void QueuePair::enqueue(const fabric::WorkRequest& request, std::byte* local) {
  Waiting waiting{.request = request, .local = local, .inlined = {}, .since_ns = 0};
  if (request.inlined && request.length_bytes > 0) {
    waiting.inlined.assign(local, local + request.length_bytes);
    waiting.local = waiting.inlined.data();
  }
  waiting_.push_back(std::move(waiting));
}

Result<void> QueuePair::post_receive(std::span<const fabric::ReceiveRequest> chain) {
  locals_.assign(chain.size(), nullptr);
  const auto examine = [this](std::size_t index, const fabric::MemoryAddress& local,
                              std::uint64_t length_bytes, bool is_written) {
    return examine_local(local, length_bytes, is_written, locals_[index]);
  };
  const fabric::QueueOccupancy queue{
      .queue_pair_number = number_, .is_closed = closed_, .places_taken = receive_places_taken_};
  auto checked = fabric::check_receive_chain(chain, queue, options_, examine);
  if (!checked) return checked;
  Endpoint& own = link_->own();
  for (std::size_t index = 0; index < chain.size(); ++index) {
    const std::byte* const buffer = locals_[index];
    own.slot(posted_receives_) = {
        .buffer = buffer == nullptr ? 0 : static_cast<std::uint64_t>(buffer - host_.arena().at(0)),
        .capacity_bytes = chain[index].length_bytes,
        .length_bytes = 0,
        .status = ReceiveStatus::received,
        .arrival = Arrival::message,
        .immediate = 0};
    receive_ids_[posted_receives_ & (receive_ids_.size() - 1)] = chain[index].id;
    ++posted_receives_;
  }
  own.posted.store(posted_receives_);
  receive_places_taken_ += static_cast<std::uint32_t>(chain.size());
  FALAFEL_ASSERT(posted_receives_ - collected_receives_ <= options_.max_receive_requests,
                 "queue pair {}: {} receive requests are posted, {} collected", number_,
                 posted_receives_, collected_receives_);
  ring(link_->peer_wake_word());  // a SEND may wait for the requests
  if (is_in_error()) progress();
  return {};
}

}  // namespace falafel::shm
