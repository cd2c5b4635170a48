#include "fabric/sim/responder.h"

#include <cstring>

#include "fabric/sim/completion_queue.h"
#include "fabric/sim/host.h"
#include "fabric/sim/local_buffer.h"
#include "fabric/sim/memory.h"
#include "fabric/sim/queue_pair.h"

namespace falafel::sim {

using fabric::CompletionStatus;
using fabric::Opcode;

namespace {

// Fills the routing data in front of a datagram. The contract promises nothing about it.
constexpr int routing_byte = 0xa5;

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

Region* Responder::admitted_region(const fabric::WorkRequest& work) const {
  Region* region =
      connection_.world().regions.find(work.remote.key, connection_.protection_domain());
  if (region == nullptr || !permits(*region, work.opcode)) return nullptr;
  return region->contains(work.remote.offset, work.length_bytes) ? region : nullptr;
}

void Responder::deliver(const Connection& sender, const Request& request) {
  World& world = connection_.world();
  const std::uint32_t header_bytes = sender.is_datagram() ? fabric::datagram_header_bytes : 0;
  const std::uint32_t length_bytes = request.work.length_bytes;
  const fabric::ReceiveRequest receive = receives_.take();
  FALAFEL_ASSERT(length_bytes + header_bytes <= receive.length_bytes,
                 "a message of {} bytes is put into a buffer of {}", length_bytes + header_bytes,
                 receive.length_bytes);
  if (length_bytes > 0) {
    std::byte* header = world.regions.at(receive.local.key).base + receive.local.offset;
    std::byte* buffer = header + header_bytes;
    std::memset(header, routing_byte, header_bytes);
    put_bytes(world, buffer, source_of(world, request), length_bytes);
    sender.trace(EventKind::message_delivered, request, receive.local.offset, 0,
                 {buffer, length_bytes});
  } else {
    sender.trace(EventKind::message_delivered, request, 0, 0, {});
  }
  fabric::WorkCompletion received;
  received.id = receive.id;
  received.length_bytes = length_bytes + header_bytes;
  received.source = {sender.host().index(), sender.number()};
  complete_receive(received, request.place);
}

void Responder::fail_receive() {
  fabric::WorkCompletion failed;
  failed.id = receives_.take().id;
  failed.status = CompletionStatus::local_length_error;
  complete_receive(failed, 0);
}

void Responder::flush_receive() {
  fabric::WorkCompletion flushed;
  flushed.id = receives_.take().id;
  flushed.status = CompletionStatus::flushed;
  complete_receive(flushed, shown_by(flushed.status));
}

void Responder::complete_receive(fabric::WorkCompletion completion, std::uint64_t shows_before) {
  completion.opcode = Opcode::receive;
  completion.queue_pair_number = connection_.number();
  receive_completions_.push({.completion = completion,
                             .queue_pair = &queue_pair_,
                             .retires = 1,
                             .shows_before = shows_before});
}

void Responder::fail_access() {
  if (is_ready()) queue_pair_.move_to_error();
}

}  // namespace falafel::sim
