// The functions of the C library for epoll and eventfd.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <memory>

#include "fabric/time_units.h"
#include "simulated_verbs/event_counter.h"
#include "simulated_verbs/event_poll.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/system_call.h"

namespace falafel::simulated_verbs {

namespace {

std::shared_ptr<EventPoll> find_poll(const Sockets& sockets, int number) {
  return std::dynamic_pointer_cast<EventPoll>(sockets.find(number));
}

// Real descriptors are always ready, or wait for something that is not simulated.
SystemResult control(Sockets& sockets, int poll_number, int operation, int number,
                     const epoll_event* wanted) {
  const std::shared_ptr<EventPoll> poll = find_poll(sockets, poll_number);
  const std::shared_ptr<Descriptor> descriptor = sockets.find(number);
  if (poll == nullptr) return sockets.find(poll_number) == nullptr ? -EBADF : -EINVAL;
  if (descriptor == nullptr) {
    if (number < Sockets::first_descriptor) report_not_simulated("epoll_ctl: a real descriptor");
    return -EBADF;
  }
  if (descriptor == poll) return -EINVAL;
  if (wanted == nullptr && operation != EPOLL_CTL_DEL) return -EFAULT;
  switch (operation) {
    case EPOLL_CTL_ADD: return poll->add(number, descriptor, *wanted);
    case EPOLL_CTL_MOD: return poll->change(number, descriptor, *wanted);
    case EPOLL_CTL_DEL: return poll->remove(number, descriptor);
    default: return -EINVAL;
  }
}

SystemResult wait_for_events(const LibraryCall& call, int number, std::span<epoll_event> events,
                             std::uint64_t timeout_ns) {
  Sockets& sockets = call.process().sockets();
  const std::shared_ptr<EventPoll> poll = find_poll(sockets, number);
  if (poll == nullptr) return sockets.find(number) == nullptr ? -EBADF : -EINVAL;
  const std::uint64_t now_ns = call.host().now_ns();
  const std::uint64_t deadline_ns =
      timeout_ns == fabric::never_ns ? fabric::never_ns : now_ns + timeout_ns;
  int taken = 0;
  sockets.wait_until([&] { return (taken = poll->take_ready(events)) != 0; }, deadline_ns);
  return taken;
}

int wait_for_events(int number, epoll_event* events, int most, std::uint64_t timeout_ns) {
  const LibraryCall call("epoll_wait");
  if (most <= 0) return to_library_result<int>(-EINVAL);
  return to_library_result<int>(
      wait_for_events(call, number, {events, static_cast<std::size_t>(most)}, timeout_ns));
}

int create_poll(int flags) {
  return system_call<int>("epoll_create1", [&](Sockets& sockets) -> SystemResult {
    return (flags & ~int{EPOLL_CLOEXEC}) != 0 ? -EINVAL
                                              : sockets.add(std::make_shared<EventPoll>());
  });
}

std::uint64_t timeout_ns_of(int timeout_ms) {
  return timeout_ms < 0 ? fabric::never_ns
                        : static_cast<std::uint64_t>(timeout_ms) * fabric::millisecond_ns;
}

}  // namespace
}  // namespace falafel::simulated_verbs

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.

namespace library = falafel::simulated_verbs;
using library::is_simulated;
using library::running_process;

extern "C" {

int __real_epoll_create(int size);
int __real_epoll_create1(int flags);
int __real_epoll_ctl(int poll, int operation, int descriptor, epoll_event* event);
int __real_epoll_wait(int poll, epoll_event* events, int most, int timeout_ms);
int __real_epoll_pwait(int poll, epoll_event* events, int most, int timeout_ms,
                       const sigset_t* mask);
int __real_eventfd(unsigned value, int flags);

int __wrap_epoll_create1(int flags) {
  return running_process() == nullptr ? __real_epoll_create1(flags) : library::create_poll(flags);
}

int __wrap_epoll_create(int size) {
  if (running_process() == nullptr) return __real_epoll_create(size);
  if (size > 0) return library::create_poll(0);
  errno = EINVAL;
  return -1;
}

int __wrap_epoll_ctl(int poll, int operation, int descriptor, epoll_event* event) {
  if (!is_simulated(poll)) return __real_epoll_ctl(poll, operation, descriptor, event);
  return library::system_call<int>("epoll_ctl", [&](library::Sockets& sockets) {
    return library::control(sockets, poll, operation, descriptor, event);
  });
}

int __wrap_epoll_wait(int poll, epoll_event* events, int most, int timeout_ms) {
  if (!is_simulated(poll)) return __real_epoll_wait(poll, events, most, timeout_ms);
  return library::wait_for_events(poll, events, most, library::timeout_ns_of(timeout_ms));
}

int __wrap_epoll_pwait(int poll, epoll_event* events, int most, int timeout_ms,
                       const sigset_t* mask) {
  if (!is_simulated(poll)) return __real_epoll_pwait(poll, events, most, timeout_ms, mask);
  return library::wait_for_events(poll, events, most, library::timeout_ns_of(timeout_ms));
}

int __wrap_eventfd(unsigned value, int flags) {
  if (running_process() == nullptr) return __real_eventfd(value, flags);
  return library::system_call<int>(
      "eventfd", [&](library::Sockets& sockets) -> library::SystemResult {
        if ((flags & ~(EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)) != 0) return -EINVAL;
        auto counter = std::make_shared<library::EventCounter>(sockets.shared_stack(), value,
                                                               (flags & EFD_SEMAPHORE) != 0);
        counter->set_nonblocking((flags & EFD_NONBLOCK) != 0);
        return sockets.add(std::move(counter));
      });
}

}  // extern "C"

// NOLINTEND(readability-identifier-naming)
