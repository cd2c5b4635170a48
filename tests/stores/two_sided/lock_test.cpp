// Tests which locks exclude each other.
#include "stores/two_sided/locks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"

namespace falafel::two_sided {
namespace {

constexpr std::uint64_t hold_ns = 1'000;

using LockBody = std::function<void(fabric::Host&, fabric::Event& released)>;

// Runs fibers on one host to their end, with an event that they share.
void run_once(const std::vector<LockBody>& bodies, std::uint64_t seed = 1) {
  const sim::SimulationOptions options;
  fabric::FiberStackPool stacks;
  const auto strategy = sim::make_strategy(options, seed);
  sim::Simulation simulation(options, *strategy, stacks);
  std::unique_ptr<fabric::Event> released;
  simulation.add_host({.name = "host"}, [&](fabric::Host& host) {
    released = host.create_event();
    for (const LockBody& body : bodies) host.spawn({}, [&] { body(host, *released); });
  });
  EXPECT_EQ(simulation.run().outcome, sim::Outcome::completed);
}

void run(const std::vector<LockBody>& bodies) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) run_once(bodies, seed);
}

struct Occupants {
  int readers = 0;
  int writers = 0;
  int most_readers = 0;
};

TEST(Mutex, LetsOneIn) {
  Mutex mutex;
  int holders = 0;
  const auto body = [&](fabric::Host& host, fabric::Event& released) {
    for (int round = 0; round < 3; ++round) {
      mutex.lock(released);
      EXPECT_EQ(++holders, 1);
      host.sleep_until(host.now_ns() + hold_ns);
      --holders;
      mutex.unlock(released);
    }
  };
  run({body, body, body});
  EXPECT_FALSE(mutex.is_held());
}

TEST(ReaderWriterLock, LetsReadersOrOneWriterIn) {
  ReaderWriterLock lock;
  Occupants occupants;
  const auto read = [&](fabric::Host& host, fabric::Event& released) {
    for (int round = 0; round < 3; ++round) {
      lock.lock_shared(released);
      ++occupants.readers;
      EXPECT_EQ(occupants.writers, 0);
      occupants.most_readers = std::max(occupants.most_readers, occupants.readers);
      host.sleep_until(host.now_ns() + hold_ns);
      --occupants.readers;
      lock.unlock(released);
    }
  };
  const auto write = [&](fabric::Host& host, fabric::Event& released) {
    for (int round = 0; round < 3; ++round) {
      lock.lock(released);
      EXPECT_EQ(++occupants.writers, 1);
      EXPECT_EQ(occupants.readers, 0);
      host.sleep_until(host.now_ns() + hold_ns);
      --occupants.writers;
      lock.unlock(released);
    }
  };
  run({read, read, write, write});
  EXPECT_EQ(occupants.most_readers, 2);
  EXPECT_FALSE(lock.is_held());
}

// The number of times that a lock is read while a writer waits for it. Two readers take turns such
// that one always holds the lock, and take it under a mutex or not, as the writer does.
int readings_before_a_writer(bool uses_mutex) {
  constexpr int rounds = 20;
  Mutex mutex;
  ReaderWriterLock lock;
  int readings = 0;
  int before = 2 * rounds;
  bool is_waiting = false;
  const auto take = [&](fabric::Event& released, auto take_lock) {
    if (uses_mutex) mutex.lock(released);
    take_lock();
    if (uses_mutex) mutex.unlock(released);
  };
  const auto read_after = [&](std::uint64_t first_ns) {
    return [&, first_ns](fabric::Host& host, fabric::Event& released) {
      for (int round = 0; round < rounds; ++round) {
        host.sleep_until(first_ns + static_cast<std::uint64_t>(round) * 100 * hold_ns);
        take(released, [&] { lock.lock_shared(released); });
        if (is_waiting) ++readings;
        host.sleep_until(host.now_ns() + 80 * hold_ns);
        lock.unlock(released);
      }
    };
  };
  const auto write = [&](fabric::Host& host, fabric::Event& released) {
    host.sleep_until(90 * hold_ns);
    is_waiting = true;
    take(released, [&] { lock.lock(released); });
    before = std::min(before, readings);
    lock.unlock(released);
    is_waiting = false;
  };
  run_once({read_after(10 * hold_ns), read_after(60 * hold_ns), write});
  return before;
}

// As pthread_rwlock does by default.
TEST(ReaderWriterLock, LetsAWriterStarveBehindReaders) {
  EXPECT_GT(readings_before_a_writer(false), 30);
}

TEST(ReaderWriterLock, LetsNoWriterStarveBehindReadersThatNeedTheMutexItWaitsWith) {
  EXPECT_LE(readings_before_a_writer(true), 1);
}

TEST(ReaderWriterLock, IsTakenOnlyIfItIsFree) {
  ReaderWriterLock lock;
  EXPECT_TRUE(lock.try_lock_shared());
  EXPECT_TRUE(lock.try_lock_shared());
  EXPECT_FALSE(lock.try_lock());
  run({[&](fabric::Host&, fabric::Event& released) {
    while (lock.is_held()) lock.unlock(released);
    EXPECT_TRUE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock_shared());
    EXPECT_FALSE(lock.try_lock());
  }});
}

}  // namespace
}  // namespace falafel::two_sided
