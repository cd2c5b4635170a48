#include "fabric/sim/network/responder.h"

#include <algorithm>
#include <array>
#include <span>

#include "fabric/sim/network/local_buffer.h"
#include "fabric/sim/network/window_requests.h"

namespace falafel::sim {

using fabric::CompletionStatus;
using fabric::Opcode;
using fabric::RegionOrdering;

namespace {

// The routing data in front of a datagram. The contract promises nothing about it.
constexpr auto routing_data = [] {
  std::array<std::byte, fabric::datagram_header_bytes> data{};
  for (std::byte& byte : data) byte = std::byte{0xa5};
  return data;
}();

fabric::WorkCompletion completion_of(std::uint64_t receive_id, CompletionStatus status) {
  fabric::WorkCompletion completion;
  completion.id = receive_id;
  completion.status = status;
  completion.opcode = Opcode::receive;
  return completion;
}

}  // namespace

RegionOrdering Responder::ordering_for(const fabric::WorkRequest& work) const {
  RegionTable& regions = connection_.world().regions;
  const std::uint32_t key = regions.key_of_remote(work.remote.key);
  const Region* const region = regions.find(key, connection_.protection_domain());
  return region == nullptr ? RegionOrdering::strong : region->ordering;
}

bool Responder::contains_next_packet(const Request& request) const {
  World& world = connection_.world();
  if (!world.options.bounds_per_packet) return false;
  const std::uint32_t key = world.regions.key_of_remote(request.work.remote.key);
  const Region& region = world.regions.at(key);
  const std::uint64_t arrived_bytes = request.has_started() ? request.placement.arrived_bytes() : 0;
  const std::uint64_t bytes_left = request.work.length_bytes - arrived_bytes;
  return region.contains(request.work.remote.offset + arrived_bytes,
                         std::min(world.options.mtu_bytes, bytes_left));
}

void Responder::deliver(const Connection& sender, const Request& request) {
  World& world = connection_.world();
  const std::uint32_t header_bytes = sender.is_datagram() ? fabric::datagram_header_bytes : 0;
  const std::uint32_t length_bytes = request.work.length_bytes;
  const bool has_immediate = request.work.opcode == Opcode::send_with_immediate;
  const std::uint32_t immediate = has_immediate ? request.work.immediate : 0;
  const fabric::ReceiveRequest receive = take();
  FALAFEL_ASSERT(length_bytes + header_bytes <= receive.length_bytes,
                 "a message of {} bytes is put into a buffer of {}", length_bytes + header_bytes,
                 receive.length_bytes);
  if (length_bytes > 0) {
    const LocalBufferView buffer{.local = receive.local, .segments = receive.segments};
    scatter(world, buffer, 0, std::span(routing_data).first(header_bytes));
    const std::byte* message = source_of(world, request, 0, length_bytes, scratch_);
    scatter(world, buffer, header_bytes, {message, length_bytes});
    const bool has_segments = !receive.segments.empty();
    const fabric::MemoryAddress& start =
        has_segments ? receive.segments.front().address : receive.local;
    sender.trace(EventKind::message_delivered, request, start.offset, immediate,
                 {message, length_bytes});
  } else {
    sender.trace(EventKind::message_delivered, request, 0, immediate, {});
  }
  fabric::WorkCompletion received = completion_of(receive.id, CompletionStatus::success);
  received.length_bytes = length_bytes + header_bytes;
  received.source = sender.address();
  if (has_immediate) received.immediate = immediate;
  if (request.invalidated_key != 0) {
    received.opcode = Opcode::receive_of_invalidation;
    received.immediate = request.invalidated_key;
  }
  complete_receive(received, request.place, request.is_solicited);
}

// A queue pair that entered the error state meanwhile flushes the receive request. The processor
// also sees the WRITE itself.
void Responder::complete_write(const Connection& sender, const Request& request) {
  touch_connection();
  if (connection_.state() == Connection::State::closed) {
    receives_.touch_back(connection_.world());
    receives_.give_back_places(1);
    return;
  }
  const std::uint64_t id = *request.consumed_receive_id;
  if (!is_ready()) {
    complete_failed(id, CompletionStatus::flushed);
    return;
  }
  sender.trace(EventKind::message_delivered, request, request.work.remote.offset,
               request.work.immediate, {});
  fabric::WorkCompletion received = completion_of(id, CompletionStatus::success);
  received.opcode = Opcode::receive_of_write;
  received.length_bytes = request.work.length_bytes;
  received.immediate = request.work.immediate;
  complete_receive(received, request.place + 1, request.is_solicited);
}

void Responder::fail_receive() { complete_failed(take().id, CompletionStatus::local_length_error); }

void Responder::fail_receive_of_faulty_buffer() {
  complete_failed(take().id, CompletionStatus::local_protection_error);
}

bool Responder::is_usable(const fabric::ReceiveRequest& receive) const {
  const RegionTable& regions = connection_.world().regions;
  if (receive.segments.empty()) return regions.is_usable(receive.local, receive.length_bytes);
  return std::ranges::all_of(receive.segments, [&](const fabric::LocalSegment& segment) {
    return regions.is_usable(segment.address, segment.length_bytes);
  });
}

bool Responder::invalidate(std::uint32_t remote_key) const {
  return invalidate_window(connection_, remote_key);
}

void Responder::flush_receive() { complete_failed(take().id, CompletionStatus::flushed); }

void Responder::complete_failed(std::uint64_t receive_id, CompletionStatus status) {
  fabric::WorkCompletion failed = completion_of(receive_id, status);
  failed.queue_pair_number = connection_.number();
  queue_pair_.fail_receive(failed);
}

void Responder::complete_receive(fabric::WorkCompletion completion, std::uint64_t shows_before,
                                 bool is_urgent) {
  completion.queue_pair_number = connection_.number();
  queue_pair_.complete_receive(completion, shows_before, is_urgent);
}

void Responder::fail_access(CompletionStatus status) {
  if (!is_ready()) return;
  has_refused_access_ = status == CompletionStatus::remote_access_error;
  queue_pair_.move_to_error();
}

}  // namespace falafel::sim
