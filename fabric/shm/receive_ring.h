// The words by which two processes hand each other the slots of a receive queue. The owner posts
// slots, and the peer fills them, both in order.
#pragma once

#include <atomic>
#include <cstdint>

#include "fabric/shm/layout.h"

namespace falafel::shm {

// The slots, and what the program stored in their buffers before, are visible to a peer that sees
// them posted. The order with `sleeping` is that of wake.h.
inline void publish_posted(Endpoint& own, std::uint32_t posted) { own.posted.store(posted); }

// For the peer: its oldest slot that is not filled, or null.
inline ReceiveSlot* oldest_posted(Endpoint& peer) {
  const std::uint32_t filled = peer.filled.load(std::memory_order_relaxed);
  if (peer.posted.load(std::memory_order_acquire) == filled) return nullptr;
  return &peer.slot(filled);
}

// For the peer: that slot is filled, and so is its buffer.
inline void count_as_filled(Endpoint& peer) {
  peer.filled.store(peer.filled.load(std::memory_order_relaxed) + 1);
}

// The number of slots that the peer has filled. The owner may read them and their buffers, and post
// them again.
inline std::uint32_t filled_by_peer(const Endpoint& own) {
  return own.filled.load(std::memory_order_acquire);
}

}  // namespace falafel::shm
