#include "fabric/sim/network/failure.h"

#include "fabric/sim/network/local_buffer.h"
#include "fabric/sim/network/responder.h"

namespace falafel::sim {

using fabric::CompletionStatus;

// All other steps of this side depend on a step in which a request fails.
void Failure::touch_connection() const {
  if (!connection_.is_reliable()) return;
  connection_.world().touch_part(Touchable::connection, connection_.number(), Access::writes, 0, 1);
}

void Failure::drop(Request& request) {
  touch_connection();
  connection_.trace(EventKind::request_lost, request, 0, 0, {});
  cut_short(request);
}

// No further packet of the request arrives. Packets that have arrived still land. A responder that
// has ended may have waited until everything was in place, but not for a unit whose second part was
// still missing: that is lost.
void Failure::cut_short(Request& request) const {
  const bool has_arrived = request.is_write() && request.state == RequestState::moving;
  if (has_arrived) {
    Placement& placement = request.placement;
    placement.truncate(placement.shares_unit() && connection_.responder_admits());
  }
  const bool lands = has_arrived && !request.placement.finished();
  request.state = lands ? RequestState::landing : RequestState::done;
}

void Failure::refuse(Request& request, CompletionStatus status) {
  touch_connection();
  if (!connection_.reports_failures()) {
    drop(request);
    return;
  }
  if (connection_.is_reliable() && defer_refusal(request)) return;
  connection_.trace(EventKind::access_refused, request, request.work.remote.offset,
                    static_cast<std::uint64_t>(status), {});
  if (connection_.is_stream()) {
    cut_short(request);
    connection_.responder().fail_access(status);
    return;
  }
  request.status = status;
  queue_.mark_refused(request);
  cut_short(request);
  if (status != CompletionStatus::receiver_not_ready_exceeded) {
    connection_.responder().fail_access(status);
  }
}

void Failure::find_no_receive_request(Request& request) {
  touch_connection();
  if (!connection_.is_reliable()) {
    connection_.world().count(SimulatorProbe::datagram_dropped);
    drop(request);
  } else if (!connection_.retries_endlessly() &&
             ++request.tries > connection_.options().receiver_not_ready_retry_count) {
    refuse(request, CompletionStatus::receiver_not_ready_exceeded);
  }
}

bool Failure::defer_refusal(Request& request) const {
  touch_connection();
  if (!queue_.has_unanswered_before(request)) return false;
  if (!request.has_started()) request.state = RequestState::refusal_deferred;
  return true;
}

// Tells if the request left this side and may still take effect. The data of a READ has no use, and
// those of windows do not leave.
bool Failure::is_in_doubt(const Request& request, std::uint64_t end_of_issued) const {
  return request.place < end_of_issued && !request.is_read() &&
         !fabric::is_of_window(request.work.opcode) &&
         (!request.has_started() || request.state == RequestState::moving);
}

void Failure::leave_orphans(std::uint64_t certain_end) {
  const std::uint64_t end_of_issued = ordering_.end_of_issued();
  std::uint64_t certain = 0;
  std::uint64_t in_doubt = 0;
  for (std::uint64_t place = queue_.released(); place < queue_.posted(); ++place) {
    if (!is_in_doubt(queue_.at(place), end_of_issued)) continue;
    ++(place < certain_end ? certain : in_doubt);
  }
  World& world = connection_.world();
  std::uint64_t surviving = certain + world.choose(ChoiceKind::survivors, in_doubt + 1);
  bool cut_next = true;
  for (std::uint64_t place = queue_.released(); place < queue_.posted(); ++place) {
    Request& request = queue_.at(place);
    if (request.state == RequestState::in_gap || request.is_done()) continue;
    if (request.is_write() || request.is_send()) take_payload(world, request);
    if (request.is_answered()) continue;
    const bool may_survive = is_in_doubt(request, end_of_issued);
    if (may_survive && surviving > 0) {
      --surviving;
    } else if (may_survive && cut_next) {
      cut_next = false;
      deliver_part(request);
    } else {
      drop_orphan(request);
    }
  }
}

void Failure::drop_orphan(Request& request) {
  connection_.world().count(SimulatorProbe::orphan_dropped);
  drop(request);
}

// Some packets of a WRITE still arrive, and the others are lost.
void Failure::deliver_part(Request& request) {
  World& world = connection_.world();
  const std::uint64_t mtu_bytes = world.options.mtu_bytes;
  const std::uint64_t arrived_bytes = request.has_started() ? request.placement.arrived_bytes() : 0;
  const std::uint64_t bytes_left = request.work.length_bytes - arrived_bytes;
  const std::uint64_t packets_left = (bytes_left + mtu_bytes - 1) / mtu_bytes;
  std::uint64_t packets = request.is_write() && packets_left > 0
                              ? world.choose(ChoiceKind::survivors, packets_left)
                              : 0;
  if (arrived_bytes + packets > 0) world.count(SimulatorProbe::write_torn_by_failure);
  if (!request.has_started() && packets > 0) {
    request.surviving_bytes = packets * mtu_bytes;
    return;
  }
  while (packets-- > 0 && admits_next_packet(request)) request.placement.next_packet_arrives();
  drop_orphan(request);
}

// Packets that arrive now might as well have arrived before a right ended, but never beyond the
// region.
bool Failure::admits_next_packet(const Request& request) const {
  if (!connection_.responder_admits()) return false;
  const bool may_leave_region = connection_.world().options.bounds_per_packet;
  return !may_leave_region || connection_.responder().contains_next_packet(request);
}

}  // namespace falafel::sim
