// The rules of posting: what the contract (fabric/fabric.h) requires of a queue pair, of a request
// and of its place in the queue, regardless of the backend. All backends share these functions,
// including their messages, so they cannot differ. A backend contributes only what it alone knows:
// the number of places taken in a queue, and the memory that the key of a local buffer refers to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fabric/fabric.h"

namespace falafel::fabric {

// -------------------------------------------------------------------------------------------------
// Making a queue pair. Each returns invalid_argument for a value that breaks a rule, and
// unsupported for what the device lacks.

Result<void> check_completion_capacity(std::uint32_t capacity, const DeviceAttributes& device);
// Checks the numbers in the options against each other and against the device's limits.
Result<void> check_limits(const QueuePairOptions& options, const DeviceAttributes& device);
Result<void> check_shared_receive_queue(const SharedReceiveQueueOptions& options,
                                        const DeviceAttributes& device);
// Checks that the completion queues have enough unreserved entries for the options.
Result<void> check_free_entries(const QueuePairOptions& options, std::uint32_t free_for_sends,
                                std::uint32_t free_for_receives);
Result<void> check_private_data(const PrivateData& private_data);
// Refuses rights that libibverbs refuses.
Result<void> check_access(Access access);

// -------------------------------------------------------------------------------------------------
// Posting

// One queue of a queue pair before a chain is posted to it.
struct QueueOccupancy {
  std::uint32_t queue_pair_number = 0;
  bool is_closed = false;
  std::uint64_t places_taken = 0;
};

// A backend's findings about a local buffer.
enum class LocalBuffer : std::uint8_t { usable, unknown_key, out_of_bounds, not_writable };

// `region` is the region of the key in the queue pair's protection domain, or null.
template <typename Region>
LocalBuffer examine_local_buffer(const Region* region, const MemoryAddress& local,
                                 std::uint64_t length_bytes, bool is_written) {
  if (region == nullptr) return LocalBuffer::unknown_key;
  if (!region->contains(local.offset, length_bytes)) return LocalBuffer::out_of_bounds;
  if (is_written && !region->access.local_write) return LocalBuffer::not_writable;
  return LocalBuffer::usable;
}

// Errors: queue_pair_closed, queue_full.
Result<void> refuse_send_places(const QueueOccupancy& queue, std::size_t request_count,
                                const QueuePairOptions& options);
inline Result<void> check_send_places(const QueueOccupancy& queue, std::size_t request_count,
                                      const QueuePairOptions& options) {
  const bool fits = queue.places_taken + request_count <= options.max_send_requests;
  if (!queue.is_closed && fits) return {};
  return refuse_send_places(queue, request_count, options);
}
Result<void> check_receive_places(const QueueOccupancy& queue, std::size_t request_count,
                                  const QueuePairOptions& options);
// Checks everything except the queue and the local buffer. Errors: see QueuePair::post_send.
Result<void> check_any_request(const WorkRequest& request, const QueuePairOptions& options,
                               const DeviceAttributes& device);
// A request to connect is accepted with these. A queue pair with a shared receive queue has none.
Result<void> post_first_receives(QueuePair& queue_pair, std::span<const ReceiveRequest> receives);
// For a queue pair, not for a shared receive queue.
Result<void> check_own_receive_queue(const QueuePairOptions& options);
Result<void> check_receive_segments(const ReceiveRequest& request, const QueuePairOptions& options);
// Errors: out_of_bounds, access_denied, depending on the finding.
[[gnu::cold]] Result<void> refuse_local_buffer(LocalBuffer found, const MemoryAddress& local,
                                               std::uint64_t length_bytes);

// Most requests are READs, WRITEs and atomics on RC; a single comparison accepts them.
inline Result<void> check_request(const WorkRequest& request, const QueuePairOptions& options,
                                  const DeviceAttributes& device) {
  const bool is_reliable = options.transport == Transport::reliable_connection;
  const bool moves_data = request.opcode == Opcode::read || request.opcode == Opcode::write;
  const bool changes_word = is_atomic(request.opcode) && !is_masked(request.opcode) &&
                            request.length_bytes == word_bytes &&
                            request.remote.offset % word_bytes == 0 &&
                            device.atomic_capability != AtomicCapability::none;
  const bool fits_message = request.length_bytes <= device.max_message_bytes;
  const bool is_plain = !request.inlined && request.segments.empty();
  if (is_reliable && (moves_data || changes_word) && fits_message && is_plain) return {};
  return check_any_request(request, options, device);
}

// Examines the local buffer of a request, segment by segment.
template <typename Request, typename Examine>
Result<void> check_local_buffer(const Request& request, std::size_t index, bool is_written,
                                const Examine& examine) {
  const auto check = [&](const MemoryAddress& local, std::uint32_t length_bytes) -> Result<void> {
    const LocalBuffer found = examine(index, local, length_bytes, is_written);
    if (found == LocalBuffer::usable) return {};
    return refuse_local_buffer(found, local, length_bytes);
  };
  if (request.length_bytes == 0) return {};
  if (request.segments.empty()) return check(request.local, request.length_bytes);
  for (const LocalSegment& segment : request.segments) {
    if (Result<void> checked = check(segment.address, segment.length_bytes); !checked) {
      return checked;
    }
  }
  return {};
}

// Checks a chain for the send queue. `examine(index, local, length_bytes, is_written)` returns the
// backend's finding for the local buffer of the request with that index, or for its next segment; a
// request without data has no buffer to examine.
template <typename Examine>
Result<void> check_send_chain(std::span<const WorkRequest> chain, const QueueOccupancy& queue,
                              const QueuePairOptions& options, const DeviceAttributes& device,
                              const Examine& examine) {
  if (Result<void> fits = check_send_places(queue, chain.size(), options); !fits) return fits;
  for (std::size_t index = 0; index < chain.size(); ++index) {
    const WorkRequest& request = chain[index];
    if (Result<void> checked = check_request(request, options, device); !checked) return checked;
    if (Result<void> checked =
            check_local_buffer(request, index, returns_data(request.opcode), examine);
        !checked) {
      return checked;
    }
  }
  return {};
}

// The same for the receive queue, whose buffers are all written.
template <typename Examine>
Result<void> check_receive_chain(std::span<const ReceiveRequest> chain, const QueueOccupancy& queue,
                                 const QueuePairOptions& options, const Examine& examine) {
  if (Result<void> fits = check_receive_places(queue, chain.size(), options); !fits) return fits;
  for (std::size_t index = 0; index < chain.size(); ++index) {
    const ReceiveRequest& request = chain[index];
    if (Result<void> checked = check_receive_segments(request, options); !checked) return checked;
    if (Result<void> checked = check_local_buffer(request, index, true, examine); !checked) {
      return checked;
    }
  }
  return {};
}

}  // namespace falafel::fabric
