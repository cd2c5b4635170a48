// Lets a host sleep until a thread of this process or of another has news for it.
#pragma once

#include <cstdint>

#include "fabric/shm/layout.h"

namespace falafel::shm {

// The waker publishes its news with a sequentially consistent store, then reads `sleeping`. The
// sleeper sets `sleeping`, then looks for news. The fence puts both into one order, so at least one
// of them sees the other, also on processors that let a load overtake an earlier store to another
// address.
inline void announce_sleep(WakeWord& word) {
  word.sleeping.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
inline void end_sleep(WakeWord& word) { word.sleeping.store(0); }

// Sleeps while the word announces it, at most until the deadline.
void sleep(WakeWord& word, std::uint64_t deadline_ns);

void wake_sleeper(WakeWord& word);
inline void ring(WakeWord& word) {
  if (word.sleeping.load() != 0) wake_sleeper(word);
}

}  // namespace falafel::shm
