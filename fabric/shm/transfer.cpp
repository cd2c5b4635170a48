// Carrying out requests in the peer's memory.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "fabric/masked_atomics.h"
#include "fabric/shm/busy.h"
#include "fabric/shm/copy.h"
#include "fabric/shm/host.h"
#include "fabric/shm/key_table.h"
#include "fabric/shm/queue_pair.h"
#include "fabric/shm/receive_ring.h"

namespace falafel::shm {

using fabric::CompletionStatus;
using fabric::Opcode;

namespace {

constexpr std::uint64_t max_prefetch_bytes = 256;

// Returns the previous word.
std::uint64_t change_word_at(std::byte* remote, const fabric::WorkRequest& request) {
  const std::atomic_ref<std::uint64_t> word = word_at(remote);
  if (request.opcode == Opcode::fetch_and_add) return word.fetch_add(request.swap_or_add);
  std::uint64_t found = request.compare;
  if (request.opcode == Opcode::compare_and_swap) {
    word.compare_exchange_strong(found, request.swap_or_add);
    return found;
  }
  found = word.load();
  while (fabric::writes_word(request, found) &&
         !word.compare_exchange_weak(found, fabric::word_after(request, found))) {
  }
  return found;
}

Arrival arrival_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::send_with_immediate: return Arrival::message_with_immediate;
    case Opcode::write_with_immediate: return Arrival::write_with_immediate;
    default: return Arrival::message;
  }
}

}  // namespace

// The requests of a chain act in order. A processor stores in order and loads in order, but it may
// load while its earlier stores are still in its store buffer, so a READ behind a WRITE or SEND
// needs a fence. Busy begins with one, so the chain also follows the stores before it.
std::size_t QueuePair::carry_out_at_once(std::span<const fabric::WorkRequest> chain,
                                         LocalParts& locals) {
  const Busy busy(link_->peer_gate());
  if (chain.size() > 1) {
    for (const fabric::WorkRequest& request : chain) prefetch(request);
  }
  bool has_stored = false;
  for (std::size_t index = 0; index < chain.size(); ++index) {
    if (is_in_error()) return index;
    if (chain[index].opcode != Opcode::read) {
      has_stored = true;
    } else if (std::exchange(has_stored, false)) {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    LocalParts rest = locals;
    const Outcome outcome = carry_out(chain[index], take_parts(rest, part_count(chain[index])));
    if (outcome == Outcome::done) {
      complete(chain[index], CompletionStatus::success);
    } else if (outcome == Outcome::no_answer || outcome == Outcome::no_receive_request) {
      return index;
    } else {
      fail_for(chain[index], outcome);
    }
    locals = rest;
  }
  return chain.size();
}

// Fetches the memory of all READs of a longer chain at once. Otherwise each READ would wait for its
// memory alone.
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

QueuePair::Outcome QueuePair::retry(const Waiting& waiting) {
  const Busy busy(link_->peer_gate());
  return carry_out(waiting.request, waiting.local);
}

// Call it while a Busy lives.
QueuePair::Outcome QueuePair::carry_out(const fabric::WorkRequest& request, LocalParts local) {
  if (link_->peer_gate().state.load() != GateState::ready || link_->is_lost()) {
    return Outcome::no_answer;
  }
  if (fabric::is_send(request.opcode)) return deliver_message(request, local);
  if (request.opcode == Opcode::write_with_immediate) return write_and_notify(request, local);
  if (is_atomic(request.opcode)) return change_word(request, local.front().begin);
  return move_data(request, local);
}

// Copies packet by packet, because the peer may revoke rights or fence the queue pair in between.
// The last packet of a READ may contain words that the responder wrote behind its fence, so a READ
// checks once more.
QueuePair::Outcome QueuePair::move_data(const fabric::WorkRequest& request, LocalParts local) {
  if (request.length_bytes == 0) return Outcome::done;
  const bool is_read = request.opcode == Opcode::read;
  const std::uint64_t right = is_read ? rights::remote_read : rights::remote_write;
  std::byte* remote = find_remote(request.remote, request.length_bytes, right);
  if (remote == nullptr) return Outcome::access_error;
  const std::uint64_t packet_bytes = host_.attributes().mtu_bytes;
  for (std::uint64_t done = 0;;) {
    const std::uint64_t length = std::min(packet_bytes, request.length_bytes - done);
    if (is_read) {
      read_packet(local, done, remote, length);
    } else {
      copy_shared(remote, whole_source(local, done, length), length, WholeWords::of_destination);
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

// The words of the responder's memory are read whole, even one that goes to two parts.
void QueuePair::read_packet(LocalParts local, std::uint64_t offset, std::byte* remote,
                            std::uint64_t length_bytes) {
  if (std::byte* const whole = find_whole(local, offset, length_bytes)) {
    copy_shared(whole, remote, length_bytes, WholeWords::of_source);
    return;
  }
  gathered_.resize(length_bytes);
  copy_shared(gathered_.data(), remote, length_bytes, WholeWords::of_source);
  scatter(local, offset, gathered_);
}

// A range of the local buffer as one piece. The result is valid until the next call.
std::byte* QueuePair::whole_source(LocalParts local, std::uint64_t offset,
                                   std::uint64_t length_bytes) {
  if (std::byte* const whole = find_whole(local, offset, length_bytes)) return whole;
  gathered_.resize(length_bytes);
  gather(local, offset, gathered_);
  return gathered_.data();
}

QueuePair::Outcome QueuePair::change_word(const fabric::WorkRequest& request, std::byte* local) {
  std::byte* const remote = find_remote(request.remote, word_bytes, rights::remote_atomic);
  if (remote == nullptr || beyond_word(remote) != 0) return Outcome::access_error;
  const std::uint64_t found = change_word_at(remote, request);
  std::array<std::byte, word_bytes> bytes{};
  std::memcpy(bytes.data(), &found, word_bytes);
  copy_bytes(local, bytes.data(), word_bytes);
  return Outcome::done;
}

QueuePair::Outcome QueuePair::deliver_message(const fabric::WorkRequest& request,
                                              LocalParts local) {
  ReceiveSlot* const slot = oldest_posted(link_->peer());
  if (slot == nullptr) return Outcome::no_receive_request;
  const bool fits = request.length_bytes <= slot->capacity_bytes &&
                    fill_buffer(*slot, local, request.length_bytes);
  fill(*slot, request, fits ? ReceiveStatus::received : ReceiveStatus::too_long);
  return fits ? Outcome::done : Outcome::message_too_long;
}

// A segment of the peer's slot. One that is not within the peer's memory has no bytes there either.
ReceiveSegment QueuePair::further_segment(std::uint32_t index, std::uint32_t number) const {
  constexpr ReceiveSegment nowhere{.buffer = ~std::uint64_t{0}, .length_bytes = 1};
  const MappedArena& arena = link_->peer_arena();
  const Endpoint& peer = link_->peer();
  if (number > peer.further_segments || number >= most_segments) return nowhere;
  if (peer.further_segments >= most_segments) return nowhere;
  const auto endpoint =
      static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(&peer) - arena.at(0));
  const std::uint64_t place = endpoint + peer.place_of_segment(index, number);
  if (!arena.contains(place, sizeof(ReceiveSegment))) return nowhere;
  return arena.object_at<ReceiveSegment>(place);
}

// Copies the message into the segments of the peer's buffer, one after the other. Returns whether
// they are in its memory and hold the message.
bool QueuePair::fill_buffer(const ReceiveSlot& slot, LocalParts local, std::uint64_t length_bytes) {
  const MappedArena& arena = link_->peer_arena();
  const std::uint32_t index = link_->peer().filled.load(std::memory_order_relaxed);
  std::byte* message = length_bytes == 0 ? nullptr : whole_source(local, 0, length_bytes);
  for (std::uint32_t number = 0; length_bytes > 0; ++number) {
    if (number == slot.segment_count) return false;
    const ReceiveSegment segment = number == 0 ? slot.first : further_segment(index, number);
    if (!arena.reaches(segment.buffer, segment.length_bytes)) return false;
    const std::uint64_t piece_bytes = std::min(segment.length_bytes, length_bytes);
    copy_shared(arena.at(segment.buffer), message, piece_bytes, WholeWords::of_destination);
    message += piece_bytes;
    length_bytes -= piece_bytes;
  }
  return true;
}

// Moves no data before there is a receive request, so a retry moves it once.
QueuePair::Outcome QueuePair::write_and_notify(const fabric::WorkRequest& request,
                                               LocalParts local) {
  ReceiveSlot* const slot = oldest_posted(link_->peer());
  if (slot == nullptr) return Outcome::no_receive_request;
  if (const Outcome moved = move_data(request, local); moved != Outcome::done) return moved;
  fill(*slot, request, ReceiveStatus::received);
  return Outcome::done;
}

// Completes the receive request at the peer.
void QueuePair::fill(ReceiveSlot& slot, const fabric::WorkRequest& request, ReceiveStatus status) {
  slot.length_bytes = request.length_bytes;
  slot.status = status;
  slot.arrival = arrival_of(request.opcode);
  slot.immediate = request.immediate;
  count_as_filled(link_->peer());
  ring(link_->peer_wake_word());
}

}  // namespace falafel::shm
