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
void run(const std::vector<LockBody>& bodies) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
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
