// What a request does at the other side: admission by key, protection domain, bounds and rights; the
// words of READ and WRITE; atomics as read, gap, write; messages into receive buffers.
#include <cstring>

#include "fabric/sim/host.h"
#include "fabric/sim/queue_pair.h"

namespace falafel::sim {

using fabric::CompletionStatus;
using fabric::Opcode;
using fabric::Transport;

namespace {

// Something may come between the read and the write of about one atomic in so many.
constexpr std::uint64_t gap_rate = 8;

// Stands for the routing data before a datagram, of which nothing is promised.
constexpr int routing_byte = 0xa5;

// Into memory, and seen by everybody.
void put(World& world, std::byte* to, const std::byte* from, std::uint64_t length_bytes) {
  if (!world.late_words.empty()) world.late_words.forget(to, length_bytes);
  std::memcpy(to, from, length_bytes);
}

void put_word(World& world, std::byte* to, std::uint64_t word) {
  put(world, to, reinterpret_cast<const std::byte*>(&word), fabric::word_bytes);
}

bool permits(const Region& region, Opcode opcode) {
  switch (opcode) {
    case Opcode::read: return region.access.remote_read;
    case Opcode::write: return region.access.remote_write;
    case Opcode::compare_and_swap:
    case Opcode::fetch_and_add: return region.access.remote_atomic;
    case Opcode::send:
    case Opcode::receive: break;
  }
  return false;
}

}  // namespace

void QueuePairCore::trace(EventKind kind, const SendEntry& request, std::uint64_t offset,
                          std::uint64_t word, std::span<const std::byte> data) const {
  world_.trace.record({.kind = kind,
                       .detail = static_cast<std::uint8_t>(request.request.opcode),
                       .subject = number_,
                       .request = request.request.id,
                       .offset = offset,
                       .word = word,
                       .data = data,
                       .posted = &request.request,
                       .place = request.place});
}

// The region that the request names, if the responder lets it in; or null.
Region* QueuePairCore::admitted_region(const SendEntry& request) const {
  const fabric::WorkRequest& wanted = request.request;
  Region* region = world_.regions.find(wanted.remote.key, peer_->protection_domain_);
  if (region == nullptr || !permits(*region, wanted.opcode)) return nullptr;
  return region->contains(wanted.remote.offset, wanted.length_bytes) ? region : nullptr;
}

std::byte* QueuePairCore::local_buffer(const SendEntry& request) const {
  const fabric::MemoryAddress& local = request.request.local;
  return world_.regions.at(local.key).base + local.offset;
}

const std::byte* QueuePairCore::source_of(const SendEntry& request) const {
  return request.owns_payload ? request.payload.data() : local_buffer(request);
}

void QueuePairCore::progress(SendEntry& request) {
  switch (request.request.opcode) {
    case Opcode::read:
    case Opcode::write: progress_transfer(request); break;
    case Opcode::compare_and_swap:
    case Opcode::fetch_and_add: progress_atomic(request); break;
    case Opcode::send: progress_message(request); break;
    case Opcode::receive: FALAFEL_ASSERT(false, "a receive in the send queue of {}", number_);
  }
}

void QueuePairCore::progress_transfer(SendEntry& request) {
  Placement& placement = request.placement;
  if (request.phase == Phase::posted) {
    if (request.request.length_bytes != 0 && responder_admits() &&
        admitted_region(request) == nullptr) {
      refuse(request, CompletionStatus::remote_access_error);
      return;
    }
    placement.begin(request.request.length_bytes, request.request.remote.offset, world_.options);
    request.phase = Phase::in_progress;
    if (request.request.opcode == Opcode::write && has_earlier_unanswered(request)) {
      world_.count(SimulatorProbe::read_overtaken_by_write);
    }
  }
  const bool is_write = request.request.opcode == Opcode::write;
  bool places = placement.has_unplaced();
  if (!placement.all_arrived() && (!places || world_.choose(ChoiceKind::packet, 2) == 0)) {
    next_packet(request);
    // A READ samples what it asks for; a WRITE may have arrived long before it is in memory.
    places = placement.has_unplaced() && (!is_write || world_.choose(ChoiceKind::packet, 2) == 0);
  }
  if (places) place_words(request);
  settle(request);
}

void QueuePairCore::next_packet(SendEntry& request) {
  Placement& placement = request.placement;
  if (!responder_admits()) {
    if (!is_reliable()) drop(request);
    return;
  }
  if (placement.arrived_bytes() >= request.surviving_bytes) {
    drop(request);
    return;
  }
  if (placement.arrived_bytes() > 0 && admitted_region(request) == nullptr) {
    world_.count(SimulatorProbe::access_revoked_midway);
    refuse(request, CompletionStatus::remote_access_error);
    return;
  }
  if (!is_reliable() && world_.strikes(FaultKind::unreliable_loss, ChoiceKind::loss)) {
    world_.count(FaultKind::unreliable_loss);
    drop(request);
    return;
  }
  placement.next_packet_arrives();
  if (request.request.length_bytes > world_.options.mtu_bytes) {
    trace(EventKind::packet_arrives, request, placement.arrived_bytes(), 0, {});
  }
}

void QueuePairCore::place_words(SendEntry& request) {
  const Placement::Range range = request.placement.take(world_);
  const std::uint64_t offset = request.request.remote.offset + range.offset;
  std::byte* remote = world_.regions.at(request.request.remote.key).base + offset;
  if (request.request.opcode == Opcode::read) {
    put(world_, local_buffer(request) + range.offset, remote, range.length_bytes);
    trace(EventKind::words_read, request, offset, 0, {remote, range.length_bytes});
  } else {
    const std::byte* source = source_of(request) + range.offset;
    trace(EventKind::words_written, request, offset, 0, {source, range.length_bytes});
    if (world_.options.late_visibility && world_.choose(ChoiceKind::visibility, 2) == 1) {
      world_.late_words.retain(remote, range.length_bytes, {number_, request.place});
      std::memcpy(remote, source, range.length_bytes);
    } else {
      put(world_, remote, source, range.length_bytes);
    }
    if (is_dead()) world_.count(SimulatorProbe::orphan_applied);
  }
}

// A WRITE is answered when it has arrived, a READ when it has brought everything.
void QueuePairCore::settle(SendEntry& request) {
  const bool is_write = request.request.opcode == Opcode::write;
  if (request.phase == Phase::posted || (request.phase == Phase::answered && !is_write)) return;
  request.placed = request.placement.finished();
  if (is_write ? request.placement.all_arrived() : request.placed) request.phase = Phase::answered;
  if (!is_write && request.placed) show_writes_before(request.place);
}

// The responder's processor sees what the WRITEs before that place have changed.
void QueuePairCore::show_writes_before(std::uint64_t place) {
  if (!world_.late_words.empty()) world_.late_words.reveal(number_, place);
}

void QueuePairCore::progress_atomic(SendEntry& request) {
  if (request.phase == Phase::in_gap) {
    finish_atomic(request);
    return;
  }
  const fabric::WorkRequest& wanted = request.request;
  Region* region = admitted_region(request);
  if (region == nullptr) {
    refuse(request, CompletionStatus::remote_access_error);
    return;
  }
  request.target = region->base + wanted.remote.offset;
  if (QueuePairCore* holder = peer_->device_.holder_of(request.target)) {
    world_.count(SimulatorProbe::atomic_met_held_word);
    holder->leave_gap(request.target);
  }
  request.old_word = load_word(request.target);
  const bool matches = wanted.opcode == Opcode::fetch_and_add || request.old_word == wanted.compare;
  if (!matches && !world_.options.failing_cas_writes_back) {
    trace(EventKind::atomic_read, request, wanted.remote.offset, request.old_word, {});
    if (!is_dead()) put_word(world_, local_buffer(request), request.old_word);
    request.phase = Phase::answered;
    request.placed = true;
    return;
  }
  const bool has_gap = world_.options.atomic_capability != fabric::AtomicCapability::global &&
                       world_.choose(ChoiceKind::atomic_gap, gap_rate) == 0;
  if (!has_gap) {
    finish_atomic(request);
    return;
  }
  trace(EventKind::atomic_read, request, wanted.remote.offset, request.old_word, {});
  request.phase = Phase::in_gap;
  peer_->device_.hold(request.target, *this);
}

// The write of the atomic that holds `word`.
void QueuePairCore::leave_gap(const std::byte* word) {
  for (std::uint64_t index = released_; index < posted_; ++index) {
    SendEntry& request = entry(index);
    if (request.phase == Phase::in_gap && request.target == word) finish_atomic(request);
  }
  release_finished();
  refresh();
  tell_fencing_peer();
}

void QueuePairCore::finish_atomic(SendEntry& request) {
  const fabric::WorkRequest& wanted = request.request;
  std::uint64_t word = request.old_word;
  if (wanted.opcode == Opcode::fetch_and_add) {
    word += wanted.swap_or_add;
  } else if (word == wanted.compare) {
    word = wanted.swap_or_add;
  }
  world_.trace.record({.kind = EventKind::atomic_written,
                       .detail = static_cast<std::uint8_t>(wanted.opcode),
                       .subject = number_,
                       .request = wanted.id,
                       .offset = wanted.remote.offset,
                       .word = word,
                       .previous_word = request.old_word,
                       .posted = &wanted,
                       .place = request.place});
  put_word(world_, request.target, word);
  if (request.phase == Phase::in_gap) peer_->device_.release(request.target);
  request.phase = Phase::answered;
  request.placed = true;
  if (is_dead()) {
    world_.count(SimulatorProbe::orphan_applied);
  } else {
    put_word(world_, local_buffer(request), request.old_word);
  }
}

QueuePairCore* QueuePairCore::receiver_of(const SendEntry& request) const {
  if (options_.transport != Transport::unreliable_datagram) return peer_;
  QueuePairCore* receiver = world_.find_queue_pair(request.request.destination.queue_pair_number);
  const bool fits = receiver != nullptr &&
                    receiver->host_.index() == request.request.destination.host &&
                    receiver->transport() == Transport::unreliable_datagram;
  return fits ? receiver : nullptr;
}

void QueuePairCore::progress_message(SendEntry& request) {
  const bool is_datagram = options_.transport == Transport::unreliable_datagram;
  if (is_datagram && !request.overtaken &&
      world_.strikes(FaultKind::datagram_reordering, ChoiceKind::reordering)) {
    world_.count(FaultKind::datagram_reordering);
    request.overtaken = true;
    return;
  }
  if (!is_reliable() && world_.strikes(FaultKind::unreliable_loss, ChoiceKind::loss)) {
    world_.count(FaultKind::unreliable_loss);
    drop(request);
    return;
  }
  QueuePairCore* receiver = receiver_of(request);
  const bool is_there = receiver != nullptr && receiver->state_ == State::ready &&
                        receiver->first_receive_ != receiver->posted_receives_;
  if (is_there) {
    deliver(request, *receiver);
  } else if (is_reliable()) {
    if (++request.tries > options_.receiver_not_ready_retry_count) {
      refuse(request, CompletionStatus::receiver_not_ready_exceeded);
    }
  } else {
    world_.count(SimulatorProbe::datagram_dropped);
    drop(request);
  }
}

void QueuePairCore::deliver(SendEntry& request, QueuePairCore& receiver) {
  const bool is_datagram = options_.transport == Transport::unreliable_datagram;
  const std::uint32_t header_bytes = is_datagram ? fabric::datagram_header_bytes : 0;
  const std::uint32_t length_bytes = request.request.length_bytes;
  const fabric::ReceiveRequest receive = receiver.receives_[receiver.first_receive_];
  if (receive.length_bytes < length_bytes + header_bytes) {
    if (!is_reliable()) {
      world_.count(SimulatorProbe::datagram_dropped);
      drop(request);
      return;
    }
    if (has_earlier_unanswered(request)) {
      request.waits_for_earlier = true;
      return;
    }
    ++receiver.first_receive_;
    fabric::WorkCompletion too_long;
    too_long.id = receive.id;
    too_long.status = CompletionStatus::local_length_error;
    receiver.push_receive_completion(too_long);
    refuse(request, CompletionStatus::remote_invalid_request_error);
    return;
  }
  ++receiver.first_receive_;
  if (length_bytes > 0) {
    std::byte* header = world_.regions.at(receive.local.key).base + receive.local.offset;
    std::byte* buffer = header + header_bytes;
    std::memset(header, routing_byte, header_bytes);
    put(world_, buffer, source_of(request), length_bytes);
    trace(EventKind::message_delivered, request, receive.local.offset, 0, {buffer, length_bytes});
  } else {
    trace(EventKind::message_delivered, request, 0, 0, {});
  }
  if (is_dead()) world_.count(SimulatorProbe::orphan_applied);
  request.phase = Phase::answered;
  request.placed = true;
  fabric::WorkCompletion received;
  received.id = receive.id;
  received.length_bytes = length_bytes + header_bytes;
  received.source = {host_.index(), number_};
  receiver.push_receive_completion(received, request.place);
}

bool QueuePairCore::has_earlier_unanswered(const SendEntry& request) const {
  for (std::uint64_t index = released_; &entry(index) != &request; ++index) {
    if (entry(index).phase != Phase::answered) return true;
  }
  return false;
}

// The responder says no: the request fails, and on RC both sides go to error. Earlier requests are
// answered first.
void QueuePairCore::refuse(SendEntry& request, CompletionStatus status) {
  if (!is_reliable()) {
    drop(request);
    return;
  }
  if (has_earlier_unanswered(request)) {
    request.waits_for_earlier = true;
    return;
  }
  trace(EventKind::access_refused, request, request.request.remote.offset,
        static_cast<std::uint64_t>(status), {});
  request.status = status;
  request.refused = true;
  cut_short(request);
  if (status != CompletionStatus::receiver_not_ready_exceeded && peer_->state_ == State::ready) {
    peer_->move_to_error();
  }
}

}  // namespace falafel::sim
