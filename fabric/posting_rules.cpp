#include "fabric/posting_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace falafel::fabric {
namespace {

tl::unexpected<Error> refuse_argument(std::string why) {
  return make_error(ErrorCode::invalid_argument, std::move(why));
}

tl::unexpected<Error> refuse_request(ErrorCode code, const WorkRequest& request,
                                     const QueuePairOptions& options, std::string_view why) {
  return make_error(code, fmt::format("{} on {}: {}", to_string(request.opcode),
                                      to_string(options.transport), why));
}

Result<void> check_places(const QueueOccupancy& queue, std::size_t request_count,
                          std::uint32_t max_requests, std::string_view what) {
  if (queue.is_closed) {
    return make_error(
        ErrorCode::queue_pair_closed,
        fmt::format("queue pair {} was closed; connect again", queue.queue_pair_number));
  }
  FALAFEL_ASSERT(queue.places_taken <= max_requests, "queue pair {}: {} of {} places are taken",
                 queue.queue_pair_number, queue.places_taken, max_requests);
  if (request_count <= max_requests - queue.places_taken) return {};
  return make_error(ErrorCode::queue_full,
                    fmt::format("{} {} do not fit: {} of {} places are taken until their "
                                "completions are polled",
                                request_count, what, queue.places_taken, max_requests));
}

Result<void> check_transport(const WorkRequest& request, const QueuePairOptions& options,
                             const DeviceAttributes& device) {
  const auto refuse = [&](std::string_view why) {
    return refuse_request(ErrorCode::unsupported, request, options, why);
  };
  switch (options.transport) {
    case Transport::reliable_connection: return {};
    case Transport::unreliable_connection:
      if (returns_data(request.opcode)) return refuse("UC has WRITE and SEND only; use RC");
      return {};
    case Transport::message_stream:
      if (request.opcode == Opcode::send) return {};
      return refuse("a message stream has SEND without immediate only; use RC");
    case Transport::unreliable_datagram: break;
  }
  if (!is_send(request.opcode)) return refuse("UD has SEND only; use RC");
  if (request.length_bytes > device.mtu_bytes) {
    return refuse(fmt::format("a message of {} bytes is over the MTU of {}; split it",
                              request.length_bytes, device.mtu_bytes));
  }
  return {};
}

Result<void> check_flags(const WorkRequest& request, const QueuePairOptions& options) {
  const auto refuse = [&](std::string_view why) {
    return refuse_request(ErrorCode::invalid_argument, request, options, why);
  };
  if (request.fenced && options.transport != Transport::reliable_connection) {
    return refuse("nothing returns data on this transport, so there is nothing to fence");
  }
  if (request.inlined &&
      (returns_data(request.opcode) || request.length_bytes > options.max_inline_bytes)) {
    return refuse(
        fmt::format("inlined is for WRITE and SEND of at most {} bytes "
                    "(max_inline_bytes)",
                    options.max_inline_bytes));
  }
  return {};
}

// Why the list of segments breaks the rules; nothing if it does not. A device would take the length
// 0 for the longest.
std::optional<std::string> fault_of_segments(std::span<const LocalSegment> segments,
                                             std::uint32_t length_bytes, std::uint32_t max_segments,
                                             std::string_view name_of_limit) {
  if (segments.empty()) return std::nullopt;
  if (segments.size() > max_segments) {
    return fmt::format("{} segments are over the {} that the queue pair was created for ({})",
                       segments.size(), max_segments, name_of_limit);
  }
  std::uint64_t sum_bytes = 0;
  for (const LocalSegment& segment : segments) {
    if (segment.length_bytes == 0) return "a segment is empty; leave it out";
    sum_bytes += segment.length_bytes;
  }
  if (sum_bytes == length_bytes) return std::nullopt;
  return fmt::format("the segments have {} bytes together, and length_bytes is {}", sum_bytes,
                     length_bytes);
}

Result<void> check_send_segments(const WorkRequest& request, const QueuePairOptions& options) {
  if (!request.segments.empty() && is_atomic(request.opcode)) {
    return refuse_request(ErrorCode::invalid_argument, request, options,
                          "an atomic returns one word; use `local`");
  }
  if (auto fault = fault_of_segments(request.segments, request.length_bytes,
                                     options.max_send_segments, "max_send_segments")) {
    return refuse_request(ErrorCode::invalid_argument, request, options, *fault);
  }
  return {};
}

Result<void> check_atomic(const WorkRequest& request, const QueuePairOptions& options,
                          const DeviceAttributes& device) {
  if (request.length_bytes != word_bytes || request.remote.offset % word_bytes != 0) {
    return refuse_request(
        ErrorCode::invalid_argument, request, options,
        fmt::format("atomics work on aligned words of 8 bytes, not {} bytes at offset {}",
                    request.length_bytes, request.remote.offset));
  }
  if (device.atomic_capability == AtomicCapability::none) {
    return refuse_request(ErrorCode::unsupported, request, options, "the device has no atomics");
  }
  if (is_masked(request.opcode) && !device.has_masked_atomics) {
    return refuse_request(ErrorCode::unsupported, request, options,
                          "the device has no masked atomics (has_masked_atomics)");
  }
  return {};
}

// The transport, and what else of the options it permits.
Result<void> check_transport_of(const QueuePairOptions& options, const DeviceAttributes& device) {
  const bool is_stream = options.transport == Transport::message_stream;
  if (is_stream && !device.supports_message_stream) {
    return make_error(ErrorCode::unsupported,
                      "transport: the device carries no message streams "
                      "(supports_message_stream); use RC");
  }
  if (options.transport == Transport::reliable_connection && !device.supports_reliable_connection) {
    return make_error(ErrorCode::unsupported,
                      "transport: the device has no RC (supports_reliable_connection); use a "
                      "message stream");
  }
  if (options.shared_receive_queue != nullptr &&
      (is_stream || options.transport == Transport::unreliable_datagram)) {
    return refuse_argument("shared_receive_queue: for RC and UC only");
  }
  if (is_stream && options.hears_close) {
    return refuse_argument(
        "hears_close: for RC and UC only; the end of a message stream flushes its receive "
        "requests");
  }
  return {};
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Making a queue pair

Result<void> check_completion_capacity(std::uint32_t capacity, const DeviceAttributes& device) {
  if (capacity > 0 && capacity <= device.max_completions) return {};
  return refuse_argument(fmt::format("capacity: {} is not between 1 and {} (max_completions)",
                                     capacity, device.max_completions));
}

Result<void> check_shared_receive_queue(const SharedReceiveQueueOptions& options,
                                        const DeviceAttributes& device) {
  if (device.max_shared_receive_queues == 0) {
    return make_error(ErrorCode::unsupported,
                      "the device has no shared receive queues; give each queue pair its own");
  }
  if (options.max_receive_requests == 0 ||
      options.max_receive_requests > device.max_queue_requests) {
    return refuse_argument(
        fmt::format("max_receive_requests: {} is not between 1 and {} (max_queue_requests)",
                    options.max_receive_requests, device.max_queue_requests));
  }
  if (options.max_receive_segments == 0 ||
      options.max_receive_segments > device.max_scatter_gather_entries) {
    return refuse_argument(
        fmt::format("max_receive_segments: {} is not between 1 and {} "
                    "(max_scatter_gather_entries)",
                    options.max_receive_segments, device.max_scatter_gather_entries));
  }
  return {};
}

Result<void> check_limits(const QueuePairOptions& options, const DeviceAttributes& device) {
  if (Result<void> checked = check_transport_of(options, device); !checked) return checked;
  const std::uint32_t most = std::max(options.max_send_requests, options.max_receive_requests);
  const std::uint32_t least = std::min(options.max_send_requests, options.max_receive_requests);
  if (least == 0 || most > device.max_queue_requests) {
    return refuse_argument(fmt::format(
        "max_send_requests {}, max_receive_requests {}: not between 1 and {} "
        "(max_queue_requests)",
        options.max_send_requests, options.max_receive_requests, device.max_queue_requests));
  }
  const std::uint32_t most_segments =
      std::max(options.max_send_segments, options.max_receive_segments);
  const std::uint32_t least_segments =
      std::min(options.max_send_segments, options.max_receive_segments);
  if (least_segments == 0 || most_segments > device.max_scatter_gather_entries) {
    return refuse_argument(
        fmt::format("max_send_segments {}, max_receive_segments {}: not between 1 and {} "
                    "(max_scatter_gather_entries)",
                    options.max_send_segments, options.max_receive_segments,
                    device.max_scatter_gather_entries));
  }
  if (options.max_inline_bytes > device.max_inline_bytes) {
    return refuse_argument(fmt::format("max_inline_bytes: {} is over the device's {}",
                                       options.max_inline_bytes, device.max_inline_bytes));
  }
  if (options.transport == Transport::reliable_connection &&
      options.max_outstanding_reads_and_atomics == 0) {
    return refuse_argument(
        "max_outstanding_reads_and_atomics: with 0, a READ would wait forever; use at least 1");
  }
  if (options.receiver_not_ready_retry_count > 7) {
    return refuse_argument(
        fmt::format("receiver_not_ready_retry_count: {} is over 7, which means forever",
                    options.receiver_not_ready_retry_count));
  }
  return {};
}

Result<void> check_free_entries(const QueuePairOptions& options, std::uint32_t free_for_sends,
                                std::uint32_t free_for_receives) {
  const bool is_shared = options.send_completions == options.receive_completions;
  const std::uint64_t for_sends =
      std::uint64_t{options.max_send_requests} + (is_shared ? options.max_receive_requests : 0);
  if (for_sends <= free_for_sends && options.max_receive_requests <= free_for_receives) return {};
  return refuse_argument(fmt::format(
      "completion queues: {} and {} entries are free, this queue pair needs {} and {}; make the "
      "queues larger",
      free_for_sends, free_for_receives, for_sends, options.max_receive_requests));
}

Result<void> check_private_data(const PrivateData& private_data) {
  if (private_data.size() <= max_private_data_bytes) return {};
  return refuse_argument(fmt::format("private_data: {} bytes are over the limit of {}",
                                     private_data.size(), max_private_data_bytes));
}

Result<void> check_access(Access access) {
  if (!(access.remote_write || access.remote_atomic) || access.local_write) return {};
  return refuse_argument("access: remote write and remote atomic need local write too");
}

// -------------------------------------------------------------------------------------------------
// Posting

Result<void> refuse_send_places(const QueueOccupancy& queue, std::size_t request_count,
                                const QueuePairOptions& options) {
  return check_places(queue, request_count, options.max_send_requests, "requests");
}

Result<void> check_receive_places(const QueueOccupancy& queue, std::size_t request_count,
                                  const QueuePairOptions& options) {
  return check_places(queue, request_count, options.max_receive_requests, "receive requests");
}

Result<void> check_any_request(const WorkRequest& request, const QueuePairOptions& options,
                               const DeviceAttributes& device) {
  if (is_receive(request.opcode)) {
    return refuse_request(ErrorCode::invalid_argument, request, options,
                          "post it to the receive queue");
  }
  if (is_of_window(request.opcode)) {
    return refuse_request(ErrorCode::unsupported, request, options,
                          "the fabric has no memory windows; register a region");
  }
  if (request.length_bytes > device.max_message_bytes) {
    return refuse_request(ErrorCode::invalid_argument, request, options,
                          fmt::format("{} bytes are over the device's {} (max_message_bytes); "
                                      "split it",
                                      request.length_bytes, device.max_message_bytes));
  }
  if (Result<void> checked = check_transport(request, options, device); !checked) return checked;
  if (Result<void> checked = check_flags(request, options); !checked) return checked;
  if (Result<void> checked = check_send_segments(request, options); !checked) return checked;
  if (!is_atomic(request.opcode)) return {};
  return check_atomic(request, options, device);
}

Result<void> post_first_receives(QueuePair& queue_pair, std::span<const ReceiveRequest> receives) {
  return receives.empty() ? Result<void>{} : queue_pair.post_receive(receives);
}

Result<void> check_own_receive_queue(const QueuePairOptions& options) {
  if (options.shared_receive_queue == nullptr) return {};
  return refuse_argument(
      "the queue pair has a shared receive queue; post the receive requests there");
}

Result<void> check_receive_segments(const ReceiveRequest& request,
                                    const QueuePairOptions& options) {
  if (request.segments.empty()) return {};
  auto fault = fault_of_segments(request.segments, request.length_bytes,
                                 options.max_receive_segments, "max_receive_segments");
  if (!fault && options.transport == Transport::unreliable_datagram &&
      request.segments.front().length_bytes < datagram_header_bytes) {
    fault = fmt::format("the first segment of {} bytes does not hold the {} of the routing data",
                        request.segments.front().length_bytes, datagram_header_bytes);
  }
  if (!fault) return {};
  return refuse_argument(fmt::format("receive request: {}", *fault));
}

Result<void> refuse_local_buffer(LocalBuffer found, const MemoryAddress& local,
                                 std::uint64_t length_bytes) {
  switch (found) {
    case LocalBuffer::unknown_key:
      return make_error(
          ErrorCode::access_denied,
          fmt::format("local.key: {} is no region of the queue pair's protection domain",
                      local.key));
    case LocalBuffer::out_of_bounds:
      return make_error(ErrorCode::out_of_bounds,
                        fmt::format("local buffer: bytes {}..+{} are not within the region of "
                                    "key {}",
                                    local.offset, length_bytes, local.key));
    case LocalBuffer::not_writable:
      return make_error(ErrorCode::access_denied,
                        fmt::format("local buffer: the request writes to it, but the region of "
                                    "key {} lacks the right; register it with local_write",
                                    local.key));
    case LocalBuffer::usable: break;
  }
  FALAFEL_ASSERT(false, "a usable local buffer of key {} was refused", local.key);
}

}  // namespace falafel::fabric
