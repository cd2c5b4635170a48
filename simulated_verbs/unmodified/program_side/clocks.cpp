// The clocks of the C library that programs read in loops: without a call, if the simulator has
// granted that.
#include <sys/select.h>

#include <ctime>

#include "simulated_verbs/unmodified/program_side/connection.h"

namespace falafel::simulated_verbs {

namespace {

constexpr Word second_ns = 1'000'000'000;
constexpr Word microsecond_ns = 1'000;

// Returns false for clocks that the simulator does not know.
bool is_known(clockid_t clock, bool& is_wall_clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI: is_wall_clock = true; return true;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_PROCESS_CPUTIME_ID:
    case CLOCK_THREAD_CPUTIME_ID: is_wall_clock = false; return true;
    default: return false;
  }
}

}  // namespace
}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

FALAFEL_EXPORTED int clock_gettime(clockid_t clock, timespec* time) noexcept {
  Word now_ns = 0;
  bool is_wall_clock = false;
  if (!is_known(clock, is_wall_clock) || !take_reading(is_wall_clock, now_ns)) {
    return static_cast<int>(call_simulator(CallNumber::of_clock_gettime, static_cast<Word>(clock),
                                           reinterpret_cast<Word>(time)));
  }
  time->tv_sec = static_cast<time_t>(now_ns / second_ns);
  time->tv_nsec = static_cast<long>(now_ns % second_ns);
  return 0;
}

// Its header says that there is always a place for the time, which not all programs know.
FALAFEL_EXPORTED int gettimeofday(timeval* time, void* zone) noexcept;
int gettimeofday(timeval* time, void* zone) noexcept {
  Word now_ns = 0;
  if (time == nullptr || !take_reading(true, now_ns)) {
    return static_cast<int>(call_simulator(
        CallNumber::of_gettimeofday, reinterpret_cast<Word>(time), reinterpret_cast<Word>(zone)));
  }
  time->tv_sec = static_cast<time_t>(now_ns / second_ns);
  time->tv_usec = static_cast<suseconds_t>(now_ns % second_ns / microsecond_ns);
  return 0;
}

FALAFEL_EXPORTED time_t time(time_t* result) noexcept {
  Word now_ns = 0;
  if (!take_reading(true, now_ns)) {
    return static_cast<time_t>(call_simulator(CallNumber::of_time, reinterpret_cast<Word>(result)));
  }
  const auto now = static_cast<time_t>(now_ns / second_ns);
  if (result != nullptr) *result = now;
  return now;
}

}  // extern "C"
