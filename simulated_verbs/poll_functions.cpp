// The functions poll and ppoll, over simulated and real descriptors, in virtual time. Sets of
// select have no place for the numbers of simulated descriptors, so it is refused, except as a way
// to sleep.
#include <poll.h>
#include <sys/select.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <span>
#include <string>

#include "fabric/time_units.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/system_call.h"

extern "C" {
// NOLINTNEXTLINE(readability-identifier-naming)
int __real_poll(pollfd* descriptors, nfds_t count, int timeout_ms);
}

namespace falafel::simulated_verbs {

namespace {

constexpr int reported_in_any_case = POLLERR | POLLHUP | POLLNVAL;

// Looks at all descriptors once. Real ones are looked at without waiting.
int look_at(const Sockets& sockets, std::span<pollfd> descriptors) {
  int ready = 0;
  for (pollfd& polled : descriptors) {
    polled.revents = 0;
    if (polled.fd >= Sockets::first_descriptor) {
      const int reported = polled.events | reported_in_any_case;
      polled.revents = static_cast<short>(sockets.ready_events(polled.fd) & reported);
    } else if (polled.fd >= 0) {
      __real_poll(&polled, 1, 0);
    }
    if (polled.revents != 0) ++ready;
  }
  return ready;
}

int wait_for_any(std::span<pollfd> descriptors, std::uint64_t timeout_ns) {
  const LibraryCall call("poll");
  Sockets& sockets = call.process().sockets();
  const std::uint64_t deadline_ns = timeout_ns == 0 ? 0
                                    : timeout_ns == fabric::never_ns
                                        ? fabric::never_ns
                                        : call.host().now_ns() + timeout_ns;
  int ready = 0;
  sockets.wait_until([&] { return (ready = look_at(sockets, descriptors)) != 0; }, deadline_ns);
  return ready;
}

int refuse_function(const std::string& function) {
  const LibraryCall call(function);
  report_not_simulated(function);
  errno = ENOSYS;
  return -1;
}

}  // namespace
}  // namespace falafel::simulated_verbs

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.

namespace library = falafel::simulated_verbs;
using library::running_process;

extern "C" {

int __real_ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask);
int __real_select(int count, fd_set* readable, fd_set* writable, fd_set* exceptional,
                  timeval* timeout);
int __real_pselect(int count, fd_set* readable, fd_set* writable, fd_set* exceptional,
                   const timespec* timeout, const sigset_t* mask);

int __wrap_poll(pollfd* descriptors, nfds_t count, int timeout_ms) {
  if (running_process() == nullptr) return __real_poll(descriptors, count, timeout_ms);
  const std::uint64_t timeout_ns =
      timeout_ms < 0 ? falafel::fabric::never_ns
                     : static_cast<std::uint64_t>(timeout_ms) * falafel::fabric::millisecond_ns;
  return library::wait_for_any({descriptors, count}, timeout_ns);
}

int __wrap_ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  if (running_process() == nullptr) return __real_ppoll(descriptors, count, timeout, mask);
  const std::uint64_t timeout_ns =
      timeout == nullptr
          ? falafel::fabric::never_ns
          : static_cast<std::uint64_t>(timeout->tv_sec) * falafel::fabric::second_ns +
                static_cast<std::uint64_t>(timeout->tv_nsec);
  return library::wait_for_any({descriptors, count}, timeout_ns);
}

int __wrap___poll_chk(pollfd* descriptors, nfds_t count, int timeout_ms, std::size_t bytes) {
  if (count > bytes / sizeof(pollfd)) std::abort();  // as the C library does
  return __wrap_poll(descriptors, count, timeout_ms);
}

int __wrap_select(int count, fd_set* readable, fd_set* writable, fd_set* exceptional,
                  timeval* timeout) {
  if (running_process() == nullptr) {
    return __real_select(count, readable, writable, exceptional, timeout);
  }
  if (count == 0 && timeout != nullptr) {
    return library::wait_for_any(
        {}, static_cast<std::uint64_t>(timeout->tv_sec) * falafel::fabric::second_ns +
                static_cast<std::uint64_t>(timeout->tv_usec) * falafel::fabric::microsecond_ns);
  }
  return library::refuse_function("select");
}

int __wrap_pselect(int count, fd_set* readable, fd_set* writable, fd_set* exceptional,
                   const timespec* timeout, const sigset_t* mask) {
  if (running_process() == nullptr) {
    return __real_pselect(count, readable, writable, exceptional, timeout, mask);
  }
  if (count == 0 && timeout != nullptr) return __wrap_ppoll(nullptr, 0, timeout, mask);
  return library::refuse_function("pselect");
}

}  // extern "C"

// NOLINTEND(readability-identifier-naming)
