// Programs that wait by epoll and wake each other by eventfd.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include "tests/simulated_verbs/programs_of_test.h"

namespace falafel::simulated_verbs {
namespace {

int watch(int poll, int descriptor, std::uint32_t events, int operation = EPOLL_CTL_ADD) {
  epoll_event wanted{};
  wanted.events = events;
  wanted.data.fd = descriptor;
  return epoll_ctl(poll, operation, descriptor, &wanted);
}

int add_to(int counter, std::uint64_t value) {
  return write(counter, &value, sizeof value) == sizeof value ? 0 : -1;
}

std::uint64_t take_from(int counter) {
  std::uint64_t value = 0;
  return read(counter, &value, sizeof value) == sizeof value ? value : 0;
}

TEST(EventPoll, ReportsWhatIsReadyAgainAndAgain) {
  expect_success([](Programs& programs) {
    programs.client("host", [] {
      const int poll = epoll_create1(EPOLL_CLOEXEC);
      const int first = eventfd(0, 0);
      const int second = eventfd(0, 0);
      FALAFEL_REQUIRE(watch(poll, first, EPOLLIN) == 0);
      FALAFEL_REQUIRE(watch(poll, second, EPOLLIN) == 0);
      std::array<epoll_event, 4> events{};
      FALAFEL_REQUIRE(epoll_wait(poll, events.data(), 4, 0) == 0);
      FALAFEL_REQUIRE(add_to(first, 1) == 0 && add_to(second, 2) == 0);
      FALAFEL_REQUIRE(epoll_wait(poll, events.data(), 4, -1) == 2);
      FALAFEL_REQUIRE(events[0].events == EPOLLIN);
      // One at a time, both come in turn.
      FALAFEL_REQUIRE(epoll_wait(poll, events.data(), 1, -1) == 1);
      const int reported = events[0].data.fd;
      FALAFEL_REQUIRE(epoll_wait(poll, events.data(), 1, -1) == 1);
      FALAFEL_REQUIRE(events[0].data.fd != reported);
      FALAFEL_REQUIRE(take_from(second) == 2);
      FALAFEL_REQUIRE(epoll_wait(poll, events.data(), 4, -1) == 1);
      FALAFEL_REQUIRE(events[0].data.fd == first);
      close(first);
      FALAFEL_REQUIRE(epoll_wait(poll, events.data(), 4, 1) == 0);
      return close(poll);
    });
  });
}

TEST(EventPoll, ReportsWhatIsReadyOnceUntilItIsUsed) {
  expect_success([](Programs& programs) {
    programs.client("host", [] {
      const int poll = epoll_create(1);
      const int counter = eventfd(1, 0);
      FALAFEL_REQUIRE(watch(poll, counter, EPOLLIN | EPOLLOUT | EPOLLET) == 0);
      std::array<epoll_event, 1> events{};
      const auto reports = [&](std::uint32_t wanted) {
        return epoll_wait(poll, events.data(), 1, 0) == 1 && events[0].events == wanted;
      };
      FALAFEL_REQUIRE(reports(EPOLLIN | EPOLLOUT));
      FALAFEL_REQUIRE(epoll_wait(poll, events.data(), 1, 1) == 0);
      // More arrives, it is read, and it is asked for anew.
      FALAFEL_REQUIRE(add_to(counter, 1) == 0 && reports(EPOLLIN | EPOLLOUT));
      FALAFEL_REQUIRE(take_from(counter) == 2 && reports(EPOLLOUT));
      FALAFEL_REQUIRE(epoll_wait(poll, events.data(), 1, 1) == 0);
      FALAFEL_REQUIRE(watch(poll, counter, EPOLLOUT | EPOLLET, EPOLL_CTL_MOD) == 0);
      FALAFEL_REQUIRE(reports(EPOLLOUT));
      return close(poll);
    });
  });
}

TEST(EventPoll, ReportsOnceIfItIsAskedTo) {
  expect_success([](Programs& programs) {
    programs.client("host", [] {
      const int poll = epoll_create(1);
      const int counter = eventfd(1, 0);
      FALAFEL_REQUIRE(watch(poll, counter, EPOLLIN | EPOLLONESHOT) == 0);
      epoll_event event{};
      FALAFEL_REQUIRE(epoll_wait(poll, &event, 1, -1) == 1);
      FALAFEL_REQUIRE(epoll_wait(poll, &event, 1, 1) == 0);
      FALAFEL_REQUIRE(watch(poll, counter, EPOLLIN | EPOLLONESHOT, EPOLL_CTL_MOD) == 0);
      return epoll_wait(poll, &event, 1, -1) == 1 ? 0 : 1;
    });
  });
}

TEST(EventPoll, WaitsInVirtualTime) {
  expect_success([](Programs& programs) {
    programs.client("host", [] {
      const int poll = epoll_create1(0);
      timespec before{};
      timespec after{};
      clock_gettime(CLOCK_MONOTONIC, &before);
      epoll_event event{};
      FALAFEL_REQUIRE(epoll_wait(poll, &event, 1, 3'600'000) == 0);
      clock_gettime(CLOCK_MONOTONIC, &after);
      return after.tv_sec - before.tv_sec >= 3'599 ? 0 : 1;
    });
  });
}

TEST(EventPoll, WakesForConnectionsAndData) {
  expect_success([](Programs& programs) {
    programs.server("server", [] {
      const int poll = epoll_create1(0);
      const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(7'000);
      FALAFEL_REQUIRE(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
      FALAFEL_REQUIRE(listen(listener, 4) == 0);
      FALAFEL_REQUIRE(watch(poll, listener, EPOLLIN) == 0);
      for (int served = 0; served < 2;) {
        std::array<epoll_event, 4> events{};
        const int ready = epoll_wait(poll, events.data(), 4, -1);
        FALAFEL_REQUIRE(ready > 0);
        for (int index = 0; index < ready; ++index) {
          const int descriptor = events[static_cast<std::size_t>(index)].data.fd;
          if (descriptor == listener) {
            const int accepted = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
            FALAFEL_REQUIRE(accepted >= 0 && watch(poll, accepted, EPOLLIN) == 0);
            continue;
          }
          char byte = 0;
          FALAFEL_REQUIRE(read(descriptor, &byte, 1) == 1 && byte == 'x');
          FALAFEL_REQUIRE(write(descriptor, &byte, 1) == 1);
          close(descriptor);
          ++served;
        }
      }
      return 0;
    });
    programs.clients(2, [](std::uint32_t) {
      const int connection = socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(7'000);
      address.sin_addr.s_addr = htonl(0x0a00'0001);
      FALAFEL_REQUIRE(connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) ==
                      0);
      char byte = 'x';
      FALAFEL_REQUIRE(write(connection, &byte, 1) == 1);
      return read(connection, &byte, 1) == 1 ? 0 : 1;
    });
  });
}

TEST(EventPoll, HasTheErrorsOfLinux) {
  expect_success([](Programs& programs) {
    programs.client("host", [] {
      const int poll = epoll_create1(0);
      const int counter = eventfd(0, EFD_NONBLOCK);
      epoll_event event{};
      FALAFEL_REQUIRE(watch(poll, counter, EPOLLIN, EPOLL_CTL_MOD) == -1 && errno == ENOENT);
      FALAFEL_REQUIRE(watch(poll, counter, EPOLLIN) == 0);
      FALAFEL_REQUIRE(watch(poll, counter, EPOLLIN) == -1 && errno == EEXIST);
      FALAFEL_REQUIRE(watch(poll, poll, EPOLLIN) == -1 && errno == EINVAL);
      FALAFEL_REQUIRE(watch(poll, counter + 7, EPOLLIN) == -1 && errno == EBADF);
      FALAFEL_REQUIRE(watch(poll, eventfd(0, 0), EPOLLIN | EPOLLEXCLUSIVE) == -1 &&
                      errno == EINVAL);
      FALAFEL_REQUIRE(watch(poll, counter, 0, EPOLL_CTL_DEL) == 0);
      FALAFEL_REQUIRE(epoll_wait(counter, &event, 1, 0) == -1 && errno == EINVAL);
      FALAFEL_REQUIRE(epoll_wait(poll, &event, 0, 0) == -1 && errno == EINVAL);
      FALAFEL_REQUIRE(epoll_create(0) == -1 && errno == EINVAL);
      std::uint64_t value = 0;
      FALAFEL_REQUIRE(read(counter, &value, sizeof value) == -1 && errno == EAGAIN);
      FALAFEL_REQUIRE(read(counter, &value, 4) == -1 && errno == EINVAL);
      value = ~std::uint64_t{0};
      FALAFEL_REQUIRE(write(counter, &value, sizeof value) == -1 && errno == EINVAL);
      return 0;
    });
  });
}

TEST(EventCounter, WakesAnotherThread) {
  expect_success([](Programs& programs) {
    programs.client("host", [] {
      int counter = eventfd(0, EFD_SEMAPHORE);
      pthread_t thread{};
      const auto wait_twice = [](void* argument) -> void* {
        const int watched = *static_cast<int*>(argument);
        const std::uint64_t taken = take_from(watched) + take_from(watched);
        return reinterpret_cast<void*>(taken);  // NOLINT(performance-no-int-to-ptr)
      };
      FALAFEL_REQUIRE(pthread_create(&thread, nullptr, wait_twice, &counter) == 0);
      FALAFEL_REQUIRE(add_to(counter, 2) == 0);
      void* taken = nullptr;
      FALAFEL_REQUIRE(pthread_join(thread, &taken) == 0);
      return reinterpret_cast<std::uintptr_t>(taken) == 2 ? 0 : 1;
    });
  });
}

}  // namespace
}  // namespace falafel::simulated_verbs
