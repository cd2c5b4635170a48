#include "fabric/shm/wake.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

#include "fabric/fabric.h"
#include "fabric/time_units.h"

namespace falafel::shm {

// FUTEX_WAIT_BITSET takes an absolute time of the monotonic clock.
void sleep(WakeWord& word, std::uint64_t deadline_ns) {
  using fabric::second_ns;
  timespec deadline{};
  deadline.tv_sec = static_cast<time_t>(deadline_ns / second_ns);
  deadline.tv_nsec = static_cast<decltype(deadline.tv_nsec)>(deadline_ns % second_ns);
  ::syscall(SYS_futex, &word.sleeping, FUTEX_WAIT_BITSET, 1U,
            deadline_ns == fabric::never_ns ? nullptr : &deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void wake_sleeper(WakeWord& word) {
  word.sleeping.store(0);
  ::syscall(SYS_futex, &word.sleeping, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace falafel::shm
