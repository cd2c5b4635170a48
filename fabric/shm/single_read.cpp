// The short way of a READ that fits one packet, as the READs of a GET do. It checks what the long
// way checks (posting.cpp, transfer.cpp), in the same order. Whenever a check fails, nothing has
// happened yet, and the long way judges the request anew.
#include "fabric/shm/busy.h"
#include "fabric/shm/copy.h"
#include "fabric/shm/host.h"
#include "fabric/shm/queue_pair.h"

namespace falafel::shm {

bool QueuePair::read_at_once(const fabric::WorkRequest& request) {
  host_.scheduler().waited_for_nothing();
  const std::uint32_t length = request.length_bytes;
  const bool is_short_read = request.opcode == fabric::Opcode::read && length > 0 &&
                             length <= host_.attributes().mtu_bytes;
  const bool is_plain = request.segments.empty() && !request.inlined && !request.fenced;
  const bool has_place = !closed_ && waiting_.empty() && places_taken_ < options_.max_send_requests;
  if (!is_short_read || !is_plain || !has_place) return false;
  const Lookup local =
      local_keys_.look_up(request.local.key, request.local.offset, length, rights::local_write);
  if (local.result != Lookup::Result::found) return false;

  const Link& link = *link_;
  Gate& peer_gate = link.peer_gate();
  const auto is_open = [&, &own_gate = link.own_gate()] {
    return peer_gate.state.load(std::memory_order_acquire) == GateState::ready &&
           own_gate.state.load(std::memory_order_acquire) == GateState::ready;
  };
  const Busy busy(peer_gate);
  if (!is_open() || link.is_lost()) return false;
  const Lookup remote =
      remote_keys_.look_up(request.remote.key, request.remote.offset, length, rights::remote_read);
  if (remote.result != Lookup::Result::found) return false;
  copy_shared(local.address, remote.address, length, WholeWords::of_source);
  return is_open();
}

}  // namespace falafel::shm
