// The C library's clocks and sleeps, in the virtual time of the host.
#include <sched.h>
#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include "fabric/time_units.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/sockets.h"

namespace falafel::simulated_verbs {

namespace {

// In a second, of times(2): what sysconf(_SC_CLK_TCK) says on each Linux.
constexpr std::uint64_t ticks_per_second = 100;

timespec to_timespec(std::uint64_t time_ns) {
  return {.tv_sec = static_cast<time_t>(time_ns / fabric::second_ns),
          .tv_nsec = static_cast<long>(time_ns % fabric::second_ns)};
}

bool is_valid_time(const timespec& time) {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 &&
         static_cast<std::uint64_t>(time.tv_nsec) < fabric::second_ns;
}

std::uint64_t to_nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * fabric::second_ns +
         static_cast<std::uint64_t>(time.tv_nsec);
}

bool is_wall_clock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

// A simulated process computes all the time, so its processor time is that of the host.
bool is_known_clock(clockid_t clock) {
  switch (clock) {
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_PROCESS_CPUTIME_ID:
    case CLOCK_THREAD_CPUTIME_ID: return true;
    default: return is_wall_clock(clock);
  }
}

std::uint64_t read_clock(const LibraryCall& call, clockid_t clock) {
  call.process().sockets().clock_readings().count(call.host());
  return is_wall_clock(clock) ? call.host().wall_clock_ns() : call.host().now_ns();
}

void sleep_for(const LibraryCall& call, std::uint64_t duration_ns) {
  call.process().sockets().clock_readings().forget();
  const std::uint64_t now_ns = call.host().now_ns();
  call.host().sleep_until(std::min(duration_ns, fabric::never_ns - now_ns) + now_ns);
}

// Others may set the wall clock meanwhile.
void sleep_until(const LibraryCall& call, clockid_t clock, std::uint64_t time_ns) {
  fabric::Host& host = call.host();
  if (!is_wall_clock(clock)) return host.sleep_until(time_ns);
  for (std::uint64_t now_ns = host.wall_clock_ns(); now_ns < time_ns;
       now_ns = host.wall_clock_ns()) {
    sleep_for(call, time_ns - now_ns);
  }
}

}  // namespace
}  // namespace falafel::simulated_verbs

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.

namespace library = falafel::simulated_verbs;
using library::LibraryCall;
using library::running_process;

extern "C" {

unsigned __real_sleep(unsigned seconds);
int __real_usleep(useconds_t microseconds);
int __real_nanosleep(const timespec* duration, timespec* remaining);
int __real_clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* remaining);
int __real_clock_gettime(clockid_t clock, timespec* time);
int __real_clock_getres(clockid_t clock, timespec* resolution);
int __real_gettimeofday(timeval* time, void* zone);
clock_t __real_clock();
clock_t __real_times(tms* times);
int __real_timespec_get(timespec* time, int base);
time_t __real_time(time_t* time);
int __real_sched_yield();

unsigned __wrap_sleep(unsigned seconds) {
  if (running_process() == nullptr) return __real_sleep(seconds);
  const LibraryCall call("sleep");
  library::sleep_for(call, seconds * falafel::fabric::second_ns);
  return 0;
}

int __wrap_usleep(useconds_t microseconds) {
  if (running_process() == nullptr) return __real_usleep(microseconds);
  const LibraryCall call("usleep");
  library::sleep_for(call, microseconds * falafel::fabric::microsecond_ns);
  return 0;
}

int __wrap_nanosleep(const timespec* duration, timespec* remaining) {
  if (running_process() == nullptr) return __real_nanosleep(duration, remaining);
  const LibraryCall call("nanosleep");
  if (!library::is_valid_time(*duration)) {
    errno = EINVAL;
    return -1;
  }
  library::sleep_for(call, library::to_nanoseconds(*duration));
  return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* remaining) {
  if (running_process() == nullptr) return __real_clock_nanosleep(clock, flags, time, remaining);
  const LibraryCall call("clock_nanosleep");
  if (!library::is_valid_time(*time) || !library::is_known_clock(clock)) return EINVAL;
  if ((flags & TIMER_ABSTIME) != 0) {
    library::sleep_until(call, clock, library::to_nanoseconds(*time));
  } else {
    library::sleep_for(call, library::to_nanoseconds(*time));
  }
  return 0;
}

int __wrap_clock_gettime(clockid_t clock, timespec* time) {
  if (running_process() == nullptr) return __real_clock_gettime(clock, time);
  const LibraryCall call("clock_gettime");
  if (!library::is_known_clock(clock)) {
    errno = EINVAL;
    return -1;
  }
  *time = library::to_timespec(library::read_clock(call, clock));
  return 0;
}

int __wrap_clock_getres(clockid_t clock, timespec* resolution) {
  if (running_process() == nullptr) return __real_clock_getres(clock, resolution);
  const LibraryCall call("clock_getres");
  if (!library::is_known_clock(clock)) {
    errno = EINVAL;
    return -1;
  }
  if (resolution != nullptr) *resolution = library::to_timespec(1);
  return 0;
}

int __wrap_gettimeofday(timeval* time, void* zone) {
  if (running_process() == nullptr) return __real_gettimeofday(time, zone);
  const LibraryCall call("gettimeofday");
  const timespec now = library::to_timespec(library::read_clock(call, CLOCK_REALTIME));
  if (time != nullptr) {
    *time = {.tv_sec = now.tv_sec,
             .tv_usec = now.tv_nsec / static_cast<long>(falafel::fabric::microsecond_ns)};
  }
  return 0;
}

clock_t __wrap_clock() {
  if (running_process() == nullptr) return __real_clock();
  const LibraryCall call("clock");
  const std::uint64_t now_ns = library::read_clock(call, CLOCK_PROCESS_CPUTIME_ID);
  return static_cast<clock_t>(now_ns / (falafel::fabric::second_ns / CLOCKS_PER_SEC));
}

// The process does all its computing outside of the kernel, and has no children.
clock_t __wrap_times(tms* times) {
  if (running_process() == nullptr) return __real_times(times);
  const LibraryCall call("times");
  const std::uint64_t now_ns = library::read_clock(call, CLOCK_PROCESS_CPUTIME_ID);
  const auto ticks =
      static_cast<clock_t>(now_ns / (falafel::fabric::second_ns / library::ticks_per_second));
  if (times != nullptr) {
    *times = {.tms_utime = ticks, .tms_stime = 0, .tms_cutime = 0, .tms_cstime = 0};
  }
  return ticks;
}

int __wrap_timespec_get(timespec* time, int base) {
  if (running_process() == nullptr) return __real_timespec_get(time, base);
  const LibraryCall call("timespec_get");
  if (base != TIME_UTC) return 0;
  *time = library::to_timespec(library::read_clock(call, CLOCK_REALTIME));
  return base;
}

time_t __wrap_time(time_t* time) {
  if (running_process() == nullptr) return __real_time(time);
  const LibraryCall call("time");
  const time_t now = library::to_timespec(library::read_clock(call, CLOCK_REALTIME)).tv_sec;
  if (time != nullptr) *time = now;
  return now;
}

int __wrap_sched_yield() {
  if (running_process() == nullptr) return __real_sched_yield();
  const LibraryCall call("sched_yield");
  call.host().yield();
  return 0;
}

}  // extern "C"

// NOLINTEND(readability-identifier-naming)
