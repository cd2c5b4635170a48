// Names of the vocabulary for messages and traces.
#include "fabric/error.h"
#include "fabric/work_request.h"

namespace falafel::fabric {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid argument";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::out_of_bounds: return "out of bounds";
    case ErrorCode::access_denied: return "access denied";
    case ErrorCode::queue_full: return "queue full";
    case ErrorCode::queue_pair_closed: return "queue pair closed";
    case ErrorCode::address_in_use: return "address in use";
    case ErrorCode::connection_refused: return "connection refused";
    case ErrorCode::unreachable: return "unreachable";
    case ErrorCode::out_of_memory: return "out of memory";
  }
  return "unknown error";
}

std::string_view to_string(Transport transport) {
  switch (transport) {
    case Transport::reliable_connection: return "RC";
    case Transport::unreliable_connection: return "UC";
    case Transport::unreliable_datagram: return "UD";
    case Transport::message_stream: return "message stream";
  }
  return "unknown transport";
}

std::string_view to_string(Opcode opcode) {
  switch (opcode) {
    case Opcode::read: return "READ";
    case Opcode::write: return "WRITE";
    case Opcode::compare_and_swap: return "CAS";
    case Opcode::fetch_and_add: return "FETCH_ADD";
    case Opcode::send: return "SEND";
    case Opcode::receive: return "RECV";
    case Opcode::send_with_immediate: return "SEND with immediate";
    case Opcode::write_with_immediate: return "WRITE with immediate";
    case Opcode::receive_of_write: return "RECV of a WRITE";
    case Opcode::masked_compare_and_swap: return "masked CAS";
    case Opcode::masked_fetch_and_add: return "masked FETCH_ADD";
    case Opcode::bind_window: return "bind of a window";
    case Opcode::invalidate_window: return "invalidation of a window";
    case Opcode::receive_of_invalidation: return "RECV of a SEND with invalidation";
  }
  return "unknown opcode";
}

std::string_view to_string(CompletionStatus status) {
  switch (status) {
    case CompletionStatus::success: return "success";
    case CompletionStatus::local_length_error: return "local length error";
    case CompletionStatus::remote_invalid_request_error: return "remote invalid request";
    case CompletionStatus::remote_access_error: return "remote access error";
    case CompletionStatus::retry_exceeded: return "retry exceeded";
    case CompletionStatus::receiver_not_ready_exceeded: return "receiver not ready";
    case CompletionStatus::flushed: return "flushed";
    case CompletionStatus::device_error: return "device error";
    case CompletionStatus::local_protection_error: return "local protection error";
    case CompletionStatus::remote_operation_error: return "remote operation error";
    case CompletionStatus::window_error: return "memory window error";
  }
  return "unknown status";
}

}  // namespace falafel::fabric
