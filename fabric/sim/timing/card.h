// The card of a machine: the resources that its requests and those of its peers compete for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/sim/timing/profile.h"
#include "fabric/sim/timing/resource.h"

namespace falafel::sim::timing {

// The state of a queue pair that a card caches.
struct QueuePairContext {
  QueuePairContext* newer = nullptr;
  QueuePairContext* older = nullptr;
  bool is_cached = false;
};

// The queue pairs that a card used last. A card has room for the state of some; it fetches others
// from memory.
class QueuePairCache {
 public:
  // Returns whether the card has to fetch the state.
  bool misses(QueuePairContext& context, std::uint64_t capacity);

 private:
  void take_out(QueuePairContext& context);
  void put_in(QueuePairContext& context);

  QueuePairContext* newest_ = nullptr;
  QueuePairContext* oldest_ = nullptr;
  std::uint64_t cached_ = 0;
};

struct Card {
  Resource requester;
  Resource responder;
  Resource messages_out;  // pipelines of cards that have them
  Resource messages_in;
  Resource outbound;       // the link
  Resource inbound;        // the link
  Resource memory_reads;   // the bus
  Resource memory_writes;  // the bus
  QueuePairCache queue_pairs;

  // Atomics on one word wait for each other. Words share slots, as the locks of cards do.
  static constexpr std::size_t word_slots = 4096;
  std::vector<std::uint64_t> word_free_at_ps;  // empty until the first atomic

  // Returns when the atomic on this word begins.
  std::uint64_t begin_atomic(std::uint64_t offset, std::uint64_t arrival_ps,
                             std::uint64_t interval_ps) {
    word_free_at_ps.resize(word_slots);
    std::uint64_t& free_at_ps = word_free_at_ps[offset / sizeof(std::uint64_t) % word_slots];
    const std::uint64_t begin_ps = std::max(arrival_ps, free_at_ps);
    free_at_ps = begin_ps + interval_ps;
    return begin_ps;
  }
};

inline bool QueuePairCache::misses(QueuePairContext& context, std::uint64_t capacity) {
  if (capacity == 0 || newest_ == &context) return false;
  const bool was_cached = context.is_cached;
  if (was_cached) {
    take_out(context);
  } else if (cached_ == capacity) {
    take_out(*oldest_);
  }
  put_in(context);
  return !was_cached;
}

inline void QueuePairCache::take_out(QueuePairContext& context) {
  (context.newer == nullptr ? newest_ : context.newer->older) = context.older;
  (context.older == nullptr ? oldest_ : context.older->newer) = context.newer;
  context = {};
  --cached_;
}

inline void QueuePairCache::put_in(QueuePairContext& context) {
  context = {.newer = nullptr, .older = newest_, .is_cached = true};
  (newest_ == nullptr ? oldest_ : newest_->newer) = &context;
  newest_ = &context;
  ++cached_;
}

}  // namespace falafel::sim::timing
