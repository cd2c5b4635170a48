// Programs that sleep and read clocks take virtual time, and random numbers are those of the C
// library for each process.
#include <gtest/gtest.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <set>

#include "fabric/time_units.h"
#include "tests/simulated_verbs/programs_of_test.h"

namespace falafel::simulated_verbs {
namespace {

using fabric::second_ns;

std::uint64_t read_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * second_ns +
         static_cast<std::uint64_t>(time.tv_nsec);
}

TEST(Clocks, SleepsTakeVirtualTime) {
  expect_success([](Programs& programs) {
    programs.clients(2, [](std::uint32_t) {
      const std::uint64_t begin_ns = read_ns(CLOCK_MONOTONIC);
      FALAFEL_REQUIRE(sleep(100'000) == 0);
      FALAFEL_REQUIRE(usleep(500'000) == 0);
      const timespec half{.tv_sec = 0, .tv_nsec = 500'000'000};
      FALAFEL_REQUIRE(nanosleep(&half, nullptr) == 0);
      FALAFEL_REQUIRE(read_ns(CLOCK_MONOTONIC) - begin_ns >= 100'001 * second_ns);
      const timespec wrong{.tv_sec = 0, .tv_nsec = 1'000'000'000};
      FALAFEL_REQUIRE(nanosleep(&wrong, nullptr) == -1 && errno == EINVAL);
      return 0;
    });
  });
}

TEST(Clocks, SleepEndsAtAPointOfTime) {
  expect_success([](Programs& programs) {
    programs.client("host", [] {
      for (const clockid_t clock : {CLOCK_MONOTONIC, CLOCK_REALTIME}) {
        timespec end{};
        clock_gettime(clock, &end);
        end.tv_sec += 10;
        FALAFEL_REQUIRE(clock_nanosleep(clock, TIMER_ABSTIME, &end, nullptr) == 0);
        timespec now{};
        clock_gettime(clock, &now);
        FALAFEL_REQUIRE(now.tv_sec >= end.tv_sec || clock == CLOCK_REALTIME);
      }
      return 0;
    });
  });
}

TEST(Clocks, BusyWaitForATimeEnds) {
  expect_success([](Programs& programs) {
    programs.clients(2, [](std::uint32_t) {
      const std::uint64_t begin_ns = read_ns(CLOCK_MONOTONIC);
      while (read_ns(CLOCK_MONOTONIC) - begin_ns < second_ns / 100) {
      }
      return 0;
    });
  });
}

TEST(Clocks, TimeOfDayAgreesWithItself) {
  expect_success(
      [](Programs& programs) {
        programs.client("host", [] {
          timeval day{};
          FALAFEL_REQUIRE(gettimeofday(&day, nullptr) == 0);
          const time_t now = time(nullptr);
          FALAFEL_REQUIRE(now >= day.tv_sec && now <= day.tv_sec + 1);
          FALAFEL_REQUIRE(day.tv_usec >= 0 && day.tv_usec < 1'000'000);
          timespec unused{};
          FALAFEL_REQUIRE(clock_gettime(12'345, &unused) == -1 && errno == EINVAL);
          return 0;
        });
      },
      {.faults = {}}, 20);
}

TEST(Clocks, SelectWithoutDescriptorsSleeps) {
  expect_success([](Programs& programs) {
    programs.client("host", [] {
      const std::uint64_t begin_ns = read_ns(CLOCK_MONOTONIC);
      timeval second{.tv_sec = 1, .tv_usec = 0};
      FALAFEL_REQUIRE(select(0, nullptr, nullptr, nullptr, &second) == 0);
      const timespec again{.tv_sec = 1, .tv_nsec = 0};
      FALAFEL_REQUIRE(pselect(0, nullptr, nullptr, nullptr, &again, nullptr) == 0);
      FALAFEL_REQUIRE(read_ns(CLOCK_MONOTONIC) - begin_ns >= 2 * second_ns);
      fd_set set;
      FD_ZERO(&set);
      FALAFEL_REQUIRE(select(1, &set, nullptr, nullptr, &second) == -1 && errno == ENOSYS);
      return 0;
    });
  });
}

TEST(Clocks, ThoseOfTheProcessorGoOnWithTheHost) {
  expect_success(
      [](Programs& programs) {
        programs.client("host", [] {
          const clock_t begin = clock();
          tms before{};
          tms after{};
          const clock_t begin_ticks = times(&before);
          sleep(2);
          FALAFEL_REQUIRE(clock() - begin >= 2 * CLOCKS_PER_SEC);
          FALAFEL_REQUIRE(clock() - begin < 3 * CLOCKS_PER_SEC);
          const clock_t ticks = times(&after) - begin_ticks;
          FALAFEL_REQUIRE(ticks >= 200 && ticks < 300);
          FALAFEL_REQUIRE(after.tms_utime - before.tms_utime == ticks);
          FALAFEL_REQUIRE(after.tms_stime == 0 && times(nullptr) >= begin_ticks);
          timespec wall{};
          FALAFEL_REQUIRE(timespec_get(&wall, TIME_UTC) == TIME_UTC);
          FALAFEL_REQUIRE(time(nullptr) - wall.tv_sec <= 1);
          FALAFEL_REQUIRE(timespec_get(&wall, 12'345) == 0);
          return 0;
        });
      },
      {.faults = {}}, 20);
}

TEST(Clocks, RandomNumbersAreThoseOfTheCLibrary) {
  srand(7);
  const int expected = rand();
  srand48(7);
  const long expected_48 = lrand48();
  expect_success(
      [=](Programs& programs) {
        programs.clients(2, [=](std::uint32_t client) {
          const int unseeded = rand();
          srand(client + 1);
          srand48(client + 1);
          sched_yield();
          usleep(1);
          FALAFEL_REQUIRE(client != 0 || rand() == unseeded);  // the first seed is 1
          srand(7);
          srand48(7);
          sleep(1);
          FALAFEL_REQUIRE(rand() == expected);
          FALAFEL_REQUIRE(lrand48() == expected_48);
          FALAFEL_REQUIRE(drand48() < 1);
          return 0;
        });
      },
      {}, 50);
}

void add_dice(Programs& programs) {
  programs.clients(2, [](std::uint32_t) {
    srand(static_cast<unsigned>(time(nullptr) * getpid()));
    usleep(static_cast<useconds_t>(rand() % 1'000));
    return 0;
  });
}

TEST(Clocks, RunsAreRepeatable) { expect_same_run_twice(add_dice); }

}  // namespace
}  // namespace falafel::simulated_verbs
