// Threads of simulated programs, and what they wait for.
#include <gtest/gtest.h>
#include <pthread.h>
#include <semaphore.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "tests/simulated_verbs/programs_of_test.h"

namespace falafel::simulated_verbs {
namespace {

constexpr int threads = 3;
constexpr int rounds = 4;

struct Counter {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  bool is_locked = true;
  int value = 0;
};

void* increment(void* argument) {
  auto& counter = *static_cast<Counter*>(argument);
  for (int round = 0; round < rounds; ++round) {
    if (counter.is_locked) pthread_mutex_lock(&counter.mutex);
    const int seen = counter.value;
    sched_yield();
    counter.value = seen + 1;
    if (counter.is_locked) pthread_mutex_unlock(&counter.mutex);
  }
  return argument;
}

int count_together(bool is_locked) {
  Counter counter;
  counter.is_locked = is_locked;
  std::array<pthread_t, threads> started{};
  for (pthread_t& thread : started) {
    FALAFEL_REQUIRE(pthread_create(&thread, nullptr, increment, &counter) == 0);
  }
  for (const pthread_t thread : started) {
    void* result = nullptr;
    FALAFEL_REQUIRE(pthread_join(thread, &result) == 0);
    FALAFEL_REQUIRE(result == &counter);
    FALAFEL_REQUIRE(pthread_join(thread, &result) == ESRCH);
  }
  FALAFEL_REQUIRE(counter.value == threads * rounds);
  return 0;
}

TEST(SimulatedThreads, ExcludeEachOtherByAMutex) {
  expect_success(
      [](Programs& programs) { programs.client("client", [] { return count_together(true); }); });
}

TEST(SimulatedThreads, LoseUpdatesWithoutAMutex) {
  const check::Result result =
      check::random({.name = name_of_test(), .schedules = 200, .output = testing::TempDir()},
                    as_body([](Programs& programs) {
                      programs.client("client", [] { return count_together(false); });
                    }));
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failures.front().property, exit_status_property);
}

int join_without_waiting() {
  Counter counter;
  pthread_mutex_lock(&counter.mutex);
  pthread_t thread{};
  void* result = nullptr;
  FALAFEL_REQUIRE(pthread_create(&thread, nullptr, increment, &counter) == 0);
  FALAFEL_REQUIRE(pthread_tryjoin_np(thread, &result) == EBUSY);
  FALAFEL_REQUIRE(pthread_tryjoin_np(pthread_self(), &result) == EDEADLK);
  pthread_mutex_unlock(&counter.mutex);
  while (pthread_tryjoin_np(thread, &result) == EBUSY) sched_yield();
  FALAFEL_REQUIRE(result == &counter);
  FALAFEL_REQUIRE(pthread_tryjoin_np(thread, &result) == ESRCH);
  return 0;
}

TEST(SimulatedThreads, AreJoinedWithoutWaiting) {
  expect_success(
      [](Programs& programs) { programs.client("client", [] { return join_without_waiting(); }); });
}

// Functions that succeed leave errno as it is, whatever other threads and hosts do meanwhile.
int keep_errno(int own) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  errno = own;
  for (int round = 0; round < rounds; ++round) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    sched_yield();
  }
  FALAFEL_REQUIRE(errno == own);
  return 0;
}

TEST(SimulatedThreads, HaveAnErrnoEach) {
  expect_success([](Programs& programs) {
    programs.client("left", [] { return keep_errno(0); });
    programs.client("right", [] { return keep_errno(ENOENT); });
  });
}

struct Box {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
  int content = 0;
  int taken = 0;
};

void* take_one(void* argument) {
  auto& box = *static_cast<Box*>(argument);
  pthread_mutex_lock(&box.mutex);
  while (box.content == 0) pthread_cond_wait(&box.filled, &box.mutex);
  --box.content;
  ++box.taken;
  pthread_mutex_unlock(&box.mutex);
  return nullptr;
}

// `signals` fewer times than there are takers leaves one of them waiting.
int pass_on(int signals) {
  Box box;
  std::array<pthread_t, threads> takers{};
  for (pthread_t& taker : takers) pthread_create(&taker, nullptr, take_one, &box);
  usleep(1'000'000);  // all of them wait
  pthread_mutex_lock(&box.mutex);
  box.content = threads;
  pthread_mutex_unlock(&box.mutex);
  for (int signal = 0; signal < signals; ++signal) pthread_cond_signal(&box.filled);
  for (const pthread_t taker : takers) pthread_join(taker, nullptr);
  FALAFEL_REQUIRE(box.taken == threads);
  return 0;
}

TEST(SimulatedThreads, OneSignalWakesOneOfThem) {
  expect_success(
      [](Programs& programs) { programs.client("client", [] { return pass_on(threads); }); });
  const check::Result result =
      check::random({.name = name_of_test(), .schedules = 200, .output = testing::TempDir()},
                    as_body([](Programs& programs) {
                      programs.client("client", [] { return pass_on(threads - 1); });
                    }));
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failures.front().property, check::stuck_property);
}

int wait_in_vain() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  const time_t begin = time.tv_sec;
  time.tv_sec += 5;
  FALAFEL_REQUIRE(pthread_cond_wait(&never, &mutex) == EPERM);
  pthread_mutex_lock(&mutex);
  FALAFEL_REQUIRE(pthread_mutex_trylock(&mutex) == EBUSY);
  FALAFEL_REQUIRE(pthread_cond_timedwait(&never, &mutex, &time) == ETIMEDOUT);
  clock_gettime(CLOCK_REALTIME, &time);
  FALAFEL_REQUIRE(time.tv_sec >= begin + 5);
  FALAFEL_REQUIRE(pthread_mutex_destroy(&mutex) == EBUSY);
  FALAFEL_REQUIRE(pthread_mutex_unlock(&mutex) == 0);
  FALAFEL_REQUIRE(pthread_mutex_unlock(&mutex) == EPERM);
  return 0;
}

TEST(SimulatedThreads, WaitNoLongerThanTheirDeadline) {
  expect_success([](Programs& programs) { programs.client("client", wait_in_vain); });
}

int deadlock() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  return pthread_mutex_lock(&mutex);
}

TEST(SimulatedThreads, AreStuckInADeadlock) {
  const check::Result result =
      check::random({.name = name_of_test(), .schedules = 5, .output = testing::TempDir()},
                    as_body([](Programs& programs) { programs.client("client", deadlock); }));
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failures.front().property, check::stuck_property);
}

int lock_twice() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, &attributes);
  FALAFEL_REQUIRE(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == 0);
  FALAFEL_REQUIRE(pthread_mutex_unlock(&mutex) == 0);
  FALAFEL_REQUIRE(pthread_mutex_destroy(&mutex) == EBUSY);
  FALAFEL_REQUIRE(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_destroy(&mutex) == 0);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&mutex, &attributes);
  FALAFEL_REQUIRE(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == EDEADLK);
  return 0;
}

TEST(SimulatedThreads, HaveRecursiveAndCheckedMutexes) {
  expect_success([](Programs& programs) { programs.client("client", lock_twice); }, {}, 5);
}

struct Shared {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  sem_t read{};
  int value = 0;
  int readers = 0;
  int most_readers = 0;
};

void* read_value(void* argument) {
  auto& shared = *static_cast<Shared*>(argument);
  pthread_rwlock_rdlock(&shared.lock);
  shared.most_readers = std::max(shared.most_readers, ++shared.readers);
  const int seen = shared.value;
  usleep(100);
  const bool is_unchanged = shared.value == seen;
  --shared.readers;
  pthread_rwlock_unlock(&shared.lock);
  sem_post(&shared.read);
  return is_unchanged ? nullptr : argument;
}

int read_and_write() {
  Shared shared;
  sem_init(&shared.read, 0, 0);
  std::array<pthread_t, threads> readers{};
  for (pthread_t& reader : readers) pthread_create(&reader, nullptr, read_value, &shared);
  for (int round = 0; round < rounds; ++round) {
    pthread_rwlock_wrlock(&shared.lock);
    FALAFEL_REQUIRE(shared.readers == 0);
    FALAFEL_REQUIRE(pthread_rwlock_tryrdlock(&shared.lock) == EBUSY);
    ++shared.value;
    pthread_rwlock_unlock(&shared.lock);
    usleep(10);
  }
  for (int count = 0; count < threads; ++count) FALAFEL_REQUIRE(sem_wait(&shared.read) == 0);
  FALAFEL_REQUIRE(sem_trywait(&shared.read) == -1 && errno == EAGAIN);
  for (const pthread_t reader : readers) {
    void* changed = nullptr;
    FALAFEL_REQUIRE(pthread_join(reader, &changed) == 0 && changed == nullptr);
  }
  return 0;
}

TEST(SimulatedThreads, ReadTogetherAndWriteAlone) {
  expect_success([](Programs& programs) { programs.client("client", read_and_write); });
}

struct Meeting {
  pthread_barrier_t barrier{};
  int arrived = 0;
  int last_ones = 0;
};

void* meet(void* argument) {
  auto& meeting = *static_cast<Meeting*>(argument);
  for (int round = 1; round <= rounds; ++round) {
    ++meeting.arrived;
    const int result = pthread_barrier_wait(&meeting.barrier);
    if (meeting.arrived < round * threads) return argument;
    if (result == PTHREAD_BARRIER_SERIAL_THREAD) ++meeting.last_ones;
    pthread_barrier_wait(&meeting.barrier);
  }
  return nullptr;
}

int meet_again_and_again() {
  Meeting meeting;
  FALAFEL_REQUIRE(pthread_barrier_init(&meeting.barrier, nullptr, 0) == EINVAL);
  FALAFEL_REQUIRE(pthread_barrier_init(&meeting.barrier, nullptr, threads) == 0);
  std::array<pthread_t, threads> started{};
  for (pthread_t& thread : started) pthread_create(&thread, nullptr, meet, &meeting);
  for (const pthread_t thread : started) {
    void* early = nullptr;
    FALAFEL_REQUIRE(pthread_join(thread, &early) == 0 && early == nullptr);
  }
  FALAFEL_REQUIRE(meeting.last_ones == rounds);
  return pthread_barrier_destroy(&meeting.barrier);
}

TEST(SimulatedThreads, MeetAtABarrier) {
  expect_success([](Programs& programs) { programs.client("client", meet_again_and_again); });
}

int wait_by_monotonic_clock() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  sem_t semaphore{};
  sem_init(&semaphore, 0, 0);
  pthread_mutex_lock(&mutex);
  pthread_rwlock_wrlock(&lock);
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const time_t begin = time.tv_sec;
  time.tv_sec += 5;
  FALAFEL_REQUIRE(pthread_cond_clockwait(&never, &mutex, CLOCK_MONOTONIC, &time) == ETIMEDOUT);
  time.tv_sec += 5;
  FALAFEL_REQUIRE(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &time) == -1 && errno == ETIMEDOUT);
  time.tv_sec += 5;
  FALAFEL_REQUIRE(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &time) == ETIMEDOUT);
  clock_gettime(CLOCK_MONOTONIC, &time);
  FALAFEL_REQUIRE(time.tv_sec >= begin + 15);
  clock_gettime(CLOCK_REALTIME, &time);
  FALAFEL_REQUIRE(pthread_rwlock_timedrdlock(&lock, &time) == ETIMEDOUT);
  FALAFEL_REQUIRE(pthread_rwlock_timedwrlock(&lock, &time) == ETIMEDOUT);
  return 0;
}

TEST(SimulatedThreads, WaitByTheClockThatTheyName) {
  expect_success([](Programs& programs) { programs.client("client", wait_by_monotonic_clock); });
}

struct Values {
  pthread_key_t key = 0;
  pthread_once_t once = PTHREAD_ONCE_INIT;
  int destroyed = 0;
};
Values* values = nullptr;  // pthread_once has no argument

void make_key() {
  pthread_key_create(&values->key,
                     [](void* value) { values->destroyed += *static_cast<int*>(value); });
}

void* use_value(void* argument) {
  pthread_once(&values->once, make_key);
  if (pthread_getspecific(values->key) != nullptr) return nullptr;
  pthread_setspecific(values->key, argument);
  sched_yield();
  if (pthread_getspecific(values->key) != argument) return nullptr;
  pthread_exit(argument);
}

int keep_values() {
  Values all;
  values = &all;
  int one = 1;
  int two = 2;
  pthread_t first = 0;
  pthread_t second = 0;
  pthread_create(&first, nullptr, use_value, &one);
  pthread_create(&second, nullptr, use_value, &two);
  void* result = nullptr;
  FALAFEL_REQUIRE(pthread_join(first, &result) == 0 && result == &one);
  FALAFEL_REQUIRE(pthread_join(second, &result) == 0 && result == &two);
  FALAFEL_REQUIRE(all.destroyed == 3);
  return 0;
}

TEST(SimulatedThreads, HaveValuesOfTheirOwn) {
  expect_success([](Programs& programs) { programs.client("client", keep_values); });
}

void* wait_forever(void* argument) {
  auto& semaphore = *static_cast<sem_t*>(argument);
  sem_wait(&semaphore);
  return nullptr;
}

int leave() {
  auto* const semaphore = static_cast<sem_t*>(std::malloc(sizeof(sem_t)));
  sem_init(semaphore, 0, 0);
  pthread_t thread = 0;
  pthread_create(&thread, nullptr, wait_forever, semaphore);
  usleep(10);
  std::exit(0);
}

TEST(SimulatedThreads, EndWithTheirProcess) {
  check::Network network;
  network.faults = check::all_faults();
  expect_success([](Programs& programs) { programs.client("client", leave); }, network);
}

}  // namespace
}  // namespace falafel::simulated_verbs
