// Sleeping until somebody, in this process or another, has something for a host.
#pragma once

#include <cstdint>

#include "fabric/shm/layout.h"

namespace falafel::shm {

// The waker makes its news visible, then rings. The sleeper announces itself, looks for news, then sleeps.
// Both in one order that all agree on (seq_cst), so that one of them sees the other.
inline void announce_sleep(WakeWord& word) { word.sleeping.store(1); }
inline void end_sleep(WakeWord& word) { word.sleeping.store(0); }

// Sleeps while the word is announced; at most until the deadline.
void sleep(WakeWord& word, std::uint64_t deadline_ns);

void wake_sleeper(WakeWord& word);
inline void ring(WakeWord& word) {
  if (word.sleeping.load() != 0) wake_sleeper(word);
}

}  // namespace falafel::shm
