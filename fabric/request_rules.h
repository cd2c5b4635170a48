// What a request must be, whatever device carries it out: the part of posting that the contract settles.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "fabric/fabric.h"

namespace falafel::fabric {

// Errors: as QueuePair::post_send, but for those of the queue and of the local buffer.
inline Result<void> check_request(const WorkRequest& request, const QueuePairOptions& options,
                                  const DeviceAttributes& device) {
  const bool is_reliable = options.transport == Transport::reliable_connection;
  const bool moves_data = request.opcode == Opcode::read || request.opcode == Opcode::write;
  const bool is_word =
      request.length_bytes == word_bytes && request.remote.offset % word_bytes == 0;
  const bool swaps_word =
      is_atomic(request.opcode) && is_word && device.atomic_capability != AtomicCapability::none;
  const bool fits_message = request.length_bytes <= device.max_message_bytes;
  if (is_reliable && (moves_data || swaps_word) && fits_message && !request.inlined)
    return {};  // most are; nothing below is about them
  const auto refuse = [&](ErrorCode code, std::string_view why) {
    return make_error(code, fmt::format("{} on {}: {}", to_string(request.opcode),
                                        to_string(options.transport), why));
  };
  const bool moves_data_out = request.opcode == Opcode::write || request.opcode == Opcode::send;
  if (request.opcode == Opcode::receive) {
    return refuse(ErrorCode::invalid_argument, "post it to the receive queue");
  }
  if (!fits_message) {
    return refuse(ErrorCode::invalid_argument,
                  fmt::format("{} bytes are over the device's {} (max_message_bytes); split it",
                              request.length_bytes, device.max_message_bytes));
  }
  if (options.transport == Transport::unreliable_connection && !moves_data_out) {
    return refuse(ErrorCode::unsupported, "UC has WRITE and SEND only; use RC");
  }
  if (options.transport == Transport::unreliable_datagram) {
    if (request.opcode != Opcode::send) {
      return refuse(ErrorCode::unsupported, "UD has SEND only; use RC");
    }
    if (request.length_bytes > device.mtu_bytes) {
      return refuse(ErrorCode::unsupported,
                    fmt::format("a message of {} bytes is over the MTU of {}; split it",
                                request.length_bytes, device.mtu_bytes));
    }
  }
  if (request.fenced && !is_reliable) {
    return refuse(ErrorCode::invalid_argument, "nothing returns data here, so nothing to fence");
  }
  if (request.inlined && (!moves_data_out || request.length_bytes > options.max_inline_bytes)) {
    return refuse(
        ErrorCode::invalid_argument,
        fmt::format("inlined is for WRITE and SEND of at most {} bytes (max_inline_bytes)",
                    options.max_inline_bytes));
  }
  if (is_atomic(request.opcode)) {
    if (!is_word) {
      return refuse(
          ErrorCode::invalid_argument,
          fmt::format("atomics work on aligned words of 8 bytes, not {} bytes at offset {}",
                      request.length_bytes, request.remote.offset));
    }
    if (device.atomic_capability == AtomicCapability::none) {
      return refuse(ErrorCode::unsupported, "the device has no atomics");
    }
  }
  return {};
}

// Numbers of a queue pair that the device cannot have. Errors: invalid_argument.
inline Result<void> check_numbers(const QueuePairOptions& options, const DeviceAttributes& device) {
  const auto refuse = [](std::string why) {
    return make_error(ErrorCode::invalid_argument, std::move(why));
  };
  const std::uint32_t most = std::max(options.max_send_requests, options.max_receive_requests);
  const std::uint32_t least = std::min(options.max_send_requests, options.max_receive_requests);
  if (least == 0 || most > device.max_queue_requests) {
    return refuse(fmt::format(
        "max_send_requests {}, max_receive_requests {}: not between 1 and {} "
        "(max_queue_requests)",
        options.max_send_requests, options.max_receive_requests, device.max_queue_requests));
  }
  if (options.max_inline_bytes > device.max_inline_bytes) {
    return refuse(fmt::format("max_inline_bytes: {} is over the device's {}",
                              options.max_inline_bytes, device.max_inline_bytes));
  }
  if (options.transport == Transport::reliable_connection &&
      options.max_outstanding_reads_and_atomics == 0) {
    return refuse("max_outstanding_reads_and_atomics: 0 would hold every READ back for ever");
  }
  if (options.receiver_not_ready_retry_count > 7) {
    return refuse("receiver_not_ready_retry_count: at most 7, which is without end");
  }
  return {};
}

inline Result<void> check_private_data(const PrivateData& private_data) {
  if (private_data.size() <= max_private_data_bytes) return {};
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("private_data: {} bytes are over the limit of {}",
                                private_data.size(), max_private_data_bytes));
}

// Rights that libibverbs refuses. Errors: invalid_argument.
inline Result<void> check_access(Access access) {
  if (!(access.remote_write || access.remote_atomic) || access.local_write) return {};
  return make_error(ErrorCode::invalid_argument,
                    "access: remote write and remote atomic need local write too");
}

}  // namespace falafel::fabric
