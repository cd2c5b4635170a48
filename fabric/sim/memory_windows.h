// Memory windows for existing programs: a window is a remote key with its own range and rights over
// a region. A request in the send queue binds it when its turn comes. It is valid until another
// request invalidates it, the peer does so by a SEND, or end_window() is called.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"

namespace falafel::sim {

struct WindowOptions {
  const fabric::MemoryRegion* region = nullptr;
  std::uint64_t offset = 0;  // from the start of the region's block
  std::uint64_t length_bytes = 0;
  fabric::Access access;
  // Only the peer of the queue pair that binds it may use it and invalidate it. Otherwise, all
  // peers of the protection domain may use it, and nobody can invalidate it by its key.
  bool is_of_queue_pair = false;
};

// Returns the remote key of a window that is not bound yet.
std::uint32_t add_window(fabric::QueuePair& queue_pair, const WindowOptions& options);

// Binds the window of `key`, and ends that of `replaced`, when the turn of the request comes. 0:
// none. Of `work`, the number, the signal and the fence count. It fails with window_error if the
// region has been revoked, or if the replaced window is of a queue pair and still bound. Errors:
// queue_pair_closed, queue_full.
fabric::Result<void> post_bind(fabric::QueuePair& queue_pair, const fabric::WorkRequest& work,
                               std::uint32_t key, std::uint32_t replaced);
// Invalidates the window when the turn of the request comes. It fails with window_error if the
// queue pair has no such window.
fabric::Result<void> post_invalidation(fabric::QueuePair& queue_pair,
                                       const fabric::WorkRequest& work, std::uint32_t key);
// The SEND that was posted last invalidates a window of the receiver. It fails with
// remote_access_error if the receiver has no such window.
void mark_invalidating(fabric::QueuePair& queue_pair, std::uint32_t key);

bool is_bound(const fabric::Host& host, std::uint32_t key);
// No peer is admitted to it any more.
void end_window(fabric::Host& host, std::uint32_t key);

}  // namespace falafel::sim
