#include "fabric/sim/network/messages.h"

#include "fabric/sim/network/responder.h"

namespace falafel::sim {

using fabric::CompletionStatus;

void Messages::progress(Request& request) {
  FALAFEL_ASSERT(request.is_send(), "{} {} is in the send queue", to_string(request.work.opcode),
                 request.work.id);
  if (lets_others_pass(request)) return;
  World& world = connection_.world();
  if (!connection_.reports_failures() &&
      world.strikes(FaultKind::unreliable_loss, ChoiceKind::loss)) {
    world.count(FaultKind::unreliable_loss);
    failure_.drop(request);
    return;
  }
  Responder* receiver = receiver_of(request);
  if (receiver != nullptr) receiver->touch_connection();
  if (receiver != nullptr && receiver->is_ready() && receiver->has_receive_request()) {
    arrive(request, *receiver);
  } else {
    failure_.find_no_receive_request(request);
  }
}

// Tells if a fault holds the datagram back, once, so that later ones may overtake it.
bool Messages::lets_others_pass(Request& request) {
  World& world = connection_.world();
  if (!connection_.is_datagram() || request.state == RequestState::overtakable) return false;
  if (!world.strikes(FaultKind::datagram_reordering, ChoiceKind::reordering)) return false;
  world.count(FaultKind::datagram_reordering);
  request.state = RequestState::overtakable;
  return true;
}

// Null if there is no such queue pair.
Responder* Messages::receiver_of(const Request& request) const {
  if (!connection_.is_datagram()) return connection_.responder_or_null();
  connection_.world().touch(Touchable::numbers, 0, Access::reads);
  const fabric::DatagramAddress& destination = request.work.destination;
  Responder* receiver = connection_.world().find_responder(destination.queue_pair_number);
  if (receiver == nullptr || !receiver->connection().is_datagram()) return nullptr;
  return receiver->connection().address().host == destination.host ? receiver : nullptr;
}

// The message needs memory that the receiver's device may not use, or ends a window that the sender
// may not end. On UC and UD, the sender hears nothing.
void Messages::be_refused(Request& request, Responder& receiver, CompletionStatus status) {
  if (connection_.reports_failures() && failure_.defer_refusal(request)) return;
  if (status == CompletionStatus::remote_operation_error) receiver.fail_receive_of_faulty_buffer();
  failure_.refuse(request, status);
  receiver.fail_access(status);
}

void Messages::arrive(Request& request, Responder& receiver) {
  const std::uint64_t header_bytes = connection_.is_datagram() ? fabric::datagram_header_bytes : 0;
  World& world = connection_.world();
  if (!receiver.has_usable_buffer(request.work.length_bytes + header_bytes)) {
    be_refused(request, receiver, CompletionStatus::remote_operation_error);
    return;
  }
  if (request.work.length_bytes + header_bytes <= receiver.next_buffer_bytes()) {
    if (request.invalidated_key != 0 && !receiver.invalidate(request.invalidated_key)) {
      be_refused(request, receiver, CompletionStatus::remote_access_error);
      return;
    }
    receiver.deliver(connection_, request);
    request.state = RequestState::done;
    if (connection_.is_dead()) world.count(SimulatorProbe::orphan_applied);
  } else if (!connection_.reports_failures()) {
    world.count(SimulatorProbe::datagram_dropped);
    failure_.drop(request);
  } else if (connection_.is_stream() || !failure_.defer_refusal(request)) {
    receiver.fail_receive();
    failure_.refuse(request, CompletionStatus::remote_invalid_request_error);
  }
}

}  // namespace falafel::sim
