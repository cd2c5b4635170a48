// Posting to a queue pair, and carrying requests out in the peer's memory.
#include <array>

#include "fabric/posting_rules.h"
#include "fabric/realtime/clock.h"
#include "fabric/shm/copy.h"
#include "fabric/shm/host.h"
#include "fabric/shm/key_table.h"
#include "fabric/shm/queue_pair.h"

namespace falafel::shm {

using fabric::CompletionStatus;
using fabric::Opcode;
using fabric::Result;

namespace {

constexpr std::uint64_t max_prefetch_bytes = 256;

// Tells the peer that requests are being carried out in its memory.
class Busy {
 public:
  explicit Busy(Endpoint& peer) : peer_(peer) { peer_.peer_is_busy.store(1); }
  ~Busy() { peer_.peer_is_busy.store(0, std::memory_order_release); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  Endpoint& peer_;
};

}  // namespace

// ---------------------------------------------------------------------------------------------------
// Posting

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
  const std::size_t completed = waiting_.empty() ? execute_at_once(chain) : 0;
  for (std::size_t index = completed; index < chain.size(); ++index) {
    enqueue(chain[index], locals_[index]);
  }
  if (completed < chain.size()) progress();
  return {};
}

std::size_t QueuePair::execute_at_once(std::span<const fabric::WorkRequest> chain) {
  const Busy busy(link_->peer());
  for (const fabric::WorkRequest& request : chain) prefetch(request);
  for (std::size_t index = 0; index < chain.size(); ++index) {
    if (is_in_error()) return index;
    const Outcome outcome = execute(chain[index], locals_[index]);
    if (outcome == Outcome::done) {
      complete(chain[index], CompletionStatus::success);
    } else if (outcome == Outcome::no_answer || outcome == Outcome::no_receive_request) {
      return index;
    } else {
      fail_for(chain[index], outcome);
    }
  }
  return chain.size();
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
        .status = ReceiveStatus::received};
    receive_ids_[posted_receives_ & (receive_ids_.size() - 1)] = chain[index].id;
    ++posted_receives_;
  }
  own.posted.store(posted_receives_);
  receive_places_taken_ += static_cast<std::uint32_t>(chain.size());
  ring(link_->peer_wake_word());  // a SEND may be waiting
  if (is_in_error()) progress();
  return {};
}

// ---------------------------------------------------------------------------------------------------
// Carrying out

// The memory that a chain is about is fetched at the same time; one request after the other would wait for
// each.
void QueuePair::prefetch(const fabric::WorkRequest& request) {
  if (request.opcode != Opcode::read) return;
  const std::byte* const remote =
      find_remote(request.remote, request.length_bytes, rights::remote_read);
  if (remote == nullptr) return;
  const std::uint64_t length = std::min<std::uint64_t>(request.length_bytes, max_prefetch_bytes);
  for (std::uint64_t line = 0; line < length; line += cache_line_bytes) {
    __builtin_prefetch(remote + line);
  }
}

bool QueuePair::may_go_on() const {
  return link_->peer().state.load(std::memory_order_acquire) == EndpointState::ready &&
         !is_in_error();
}

std::byte* QueuePair::find_remote(const fabric::MemoryAddress& remote, std::uint64_t length_bytes,
                                  std::uint64_t right) {
  return remote_keys_
      .look_up(link_->peer_arena(), remote.key, link_->peer().domain, remote.offset, length_bytes,
               right)
      .address;
}

QueuePair::Outcome QueuePair::retry(const Waiting& waiting) {
  const Busy busy(link_->peer());
  return execute(waiting.request, waiting.local);
}

// Within a section of Busy.
QueuePair::Outcome QueuePair::execute(const fabric::WorkRequest& request, std::byte* local) {
  if (link_->peer().state.load() != EndpointState::ready || link_->is_lost()) {
    return Outcome::no_answer;
  }
  if (request.opcode == Opcode::send) return deliver_message(request, local);
  return is_atomic(request.opcode) ? change_word(request, local) : move_data(request, local);
}

// Packet by packet: rights may be revoked, and queue pairs fenced, in between. Of a READ, the last packet may
// have met what the responder wrote behind its fence, so it has to look once more.
QueuePair::Outcome QueuePair::move_data(const fabric::WorkRequest& request, std::byte* local) {
  if (request.length_bytes == 0) return Outcome::done;
  const bool is_read = request.opcode == Opcode::read;
  const std::uint64_t right = is_read ? rights::remote_read : rights::remote_write;
  std::byte* remote = find_remote(request.remote, request.length_bytes, right);
  if (remote == nullptr) return Outcome::access_error;
  const std::uint64_t packet_bytes = host_.attributes().mtu_bytes;
  for (std::uint64_t done = 0;;) {
    const std::uint64_t length = std::min(packet_bytes, request.length_bytes - done);
    if (is_read) {
      copy_shared(local + done, remote, length, WholeWords::of_source);
    } else {
      copy_shared(remote, local + done, length, WholeWords::of_destination);
    }
    done += length;
    const bool is_over = done == request.length_bytes;
    if ((is_read || !is_over) && !may_go_on()) return Outcome::no_answer;
    if (is_over) return Outcome::done;
    remote = find_remote({request.remote.key, request.remote.offset + done},
                         request.length_bytes - done, right);
    if (remote == nullptr) return Outcome::access_error;
  }
}

QueuePair::Outcome QueuePair::change_word(const fabric::WorkRequest& request, std::byte* local) {
  std::byte* const remote = find_remote(request.remote, word_bytes, rights::remote_atomic);
  if (remote == nullptr || beyond_word(remote) != 0) return Outcome::access_error;
  std::uint64_t found = request.compare;
  if (request.opcode == Opcode::compare_and_swap) {
    word_at(remote).compare_exchange_strong(found, request.swap_or_add);
  } else {
    found = word_at(remote).fetch_add(request.swap_or_add);
  }
  std::array<std::byte, word_bytes> bytes{};
  std::memcpy(bytes.data(), &found, word_bytes);
  copy_bytes(local, bytes.data(), word_bytes);
  return Outcome::done;
}

QueuePair::Outcome QueuePair::deliver_message(const fabric::WorkRequest& request,
                                              std::byte* local) {
  Endpoint& peer = link_->peer();
  const std::uint32_t filled = peer.filled.load(std::memory_order_relaxed);
  if (peer.posted.load(std::memory_order_acquire) == filled) return Outcome::no_receive_request;
  ReceiveSlot& slot = peer.slot(filled);
  const bool fits = request.length_bytes <= slot.capacity_bytes &&
                    link_->peer_arena().contains(slot.buffer, slot.capacity_bytes);
  if (fits && request.length_bytes > 0) {
    copy_shared(link_->peer_arena().at(slot.buffer), local, request.length_bytes,
                WholeWords::of_destination);
  }
  slot.length_bytes = request.length_bytes;
  slot.status = fits ? ReceiveStatus::received : ReceiveStatus::too_long;
  peer.filled.store(filled + 1);
  ring(link_->peer_wake_word());
  return fits ? Outcome::done : Outcome::message_too_long;
}

}  // namespace falafel::shm
