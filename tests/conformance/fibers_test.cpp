// Fibers, events, time and random numbers of one host.
#include <cstdint>
#include <memory>
#include <set>

#include "fabric/cooperative_cancellation.h"
#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE_WITHOUT_RC(FibersTest);

// Sets a flag when it is destroyed.
class Witness {
 public:
  explicit Witness(bool& unwound) : unwound_(unwound) {}
  ~Witness() { unwound_ = true; }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

 private:
  bool& unwound_;
};

TEST_P(FibersTest, JoinWaitsForTheEnd) {
  run_alone([](Host& host) {
    bool ended = false;
    const FiberId fiber = spawn(host, [&] {
      sleep(host, millisecond_ns);
      ended = true;
    });
    EXPECT_FALSE(ended) << "spawning does not wait";
    host.join(fiber);
    EXPECT_TRUE(ended);
    host.join(fiber);  // returns at once if the fiber has ended
  });
}

TEST_P(FibersTest, AnEventMayGoBeforeTheDaemonThatWaitsForIt) {
  run_alone([](Host& host) {
    const auto event = host.create_event();
    host.spawn({.name = "daemon", .daemon = true}, [&event] { event->wait(never_ns); });
    sleep(host, millisecond_ns);
  });
}

TEST_P(FibersTest, FibersSpawnFibers) {
  run_alone([](Host& host) {
    int count = 0;
    host.join(spawn(host, [&] {
      const FiberId left = spawn(host, [&] { ++count; });
      const FiberId right = spawn(host, [&] { ++count; });
      EXPECT_NE(left, right);
      host.join(left);
      host.join(right);
      ++count;
    }));
    EXPECT_EQ(count, 3);
  });
}

TEST_P(FibersTest, ProgramLastsUntilItsFibersHaveEnded) {
  run([](Backend& backend) {
    add_pairs(
        backend, {.farewell = false}, [](Peer& client) { EXPECT_EQ(client.channel.hear(), 5U); },
        [](Peer& server) {
          // The body returns, and the fiber keeps the peer alive.
          auto peer = std::make_shared<Peer>(std::move(server));
          spawn(peer->host, [peer] {
            sleep(peer->host, millisecond_ns);
            peer->channel.tell(5);
          });
        });
  });
}

TEST_P(FibersTest, CancelledFiberUnwinds) {
  run_alone([](Host& host) {
    const auto event = host.create_event();
    bool unwound = false;
    bool waiting = false;
    const FiberId fiber = spawn(host, [&] {
      const Witness witness(unwound);
      waiting = true;
      event->wait(never_ns);
      ADD_FAILURE() << "goes on after its end";
    });
    EXPECT_TRUE(wait_until(host, [&] { return waiting; }));
    EXPECT_FALSE(unwound);
    host.cancel(fiber);
    host.join(fiber);
    EXPECT_TRUE(unwound);
  });
}

TEST_P(FibersTest, CancellationIsNoticedInTheNextCallThatWaits) {
  const std::vector<std::function<void(Host&)>> waiting_calls{
      [](Host& host) { host.yield(); },
      [](Host& host) { host.sleep_until(0); },
      [](Host& host) { host.create_event()->wait(0); },
      [](Host& host) { Site(host).make_completion_queue()->wait(never_ns); },
      [](Host& host) { require(host.device(0).listen(1))->accept(never_ns); },
      [](Host& host) { host.join(spawn(host, [] {})); },
  };
  for (const auto& wait : waiting_calls) {
    run_alone([&wait](Host& host) {
      bool started = false;
      FiberId self{};
      self = spawn(host, [&] {
        started = true;
        host.cancel(self);
        wait(host);
        ADD_FAILURE() << "goes on after its end";
      });
      host.join(self);
      EXPECT_TRUE(started);
    });
  }
}

// Calls from which a cancelled fiber may not return.
std::vector<std::function<void(Host&)>> calls_that_are_cut_short() {
  return {
      [](Host& host) { host.sleep_until(host.now_ns() + 3'600'000 * millisecond_ns); },
      [](Host& host) { EXPECT_FALSE(host.create_event()->wait(never_ns)); },
      [](Host& host) { EXPECT_FALSE(Site(host).make_completion_queue()->wait(never_ns)); },
      [](Host& host) { EXPECT_EQ(require(host.device(0).listen(1))->accept(never_ns), nullptr); },
  };
}

TEST_P(FibersTest, ACooperativeFiberReturnsFromTheCallItWaitsIn) {
  for (const auto& wait : calls_that_are_cut_short()) {
    run_alone([&wait](Host& host) {
      bool waiting = false;
      bool ended = false;
      const FiberId fiber = spawn(host, [&] {
        const CooperativeCancellation cooperative(host);
        EXPECT_FALSE(host.is_cancelled());
        waiting = true;
        wait(host);
        ended = host.is_cancelled();
      });
      EXPECT_TRUE(wait_until(host, [&] { return waiting; }));
      EXPECT_FALSE(ended);
      host.cancel(fiber);
      host.join(fiber);
      EXPECT_TRUE(ended);
      EXPECT_FALSE(host.is_cancelled()) << "it was another fiber";
    });
  }
}

TEST_P(FibersTest, ACooperativeFiberReturnsFromTheNextCallThatWaits) {
  for (const auto& wait : calls_that_are_cut_short()) {
    run_alone([&wait](Host& host) {
      bool ended = false;
      FiberId self{};
      self = spawn(host, [&] {
        const CooperativeCancellation cooperative(host);
        host.cancel(self);
        wait(host);
        ended = host.is_cancelled();
      });
      host.join(self);
      EXPECT_TRUE(ended);
    });
  }
}

TEST_P(FibersTest, ACooperativeFiberIsToldToEndOnce) {
  run_alone([](Host& host) {
    bool unwound = false;
    FiberId self{};
    self = spawn(host, [&] {
      const Witness witness(unwound);
      const CooperativeCancellation cooperative(host);
      host.cancel(self);
      host.sleep_until(host.now_ns() + millisecond_ns);
      host.sleep_until(host.now_ns() + millisecond_ns);
      ADD_FAILURE() << "goes on after its end";
    });
    host.join(self);
    EXPECT_TRUE(unwound);
  });
}

TEST_P(FibersTest, AFiberThatNoLongerCooperatesUnwinds) {
  run_alone([](Host& host) {
    bool unwound = false;
    FiberId self{};
    self = spawn(host, [&] {
      const Witness witness(unwound);
      { const CooperativeCancellation cooperative(host); }
      host.cancel(self);
      host.sleep_until(host.now_ns() + millisecond_ns);
      ADD_FAILURE() << "goes on after its end";
    });
    host.join(self);
    EXPECT_TRUE(unwound);
  });
}

TEST_P(FibersTest, DaemonsEndWithTheProgram) {
  run_alone([](Host& host) {
    spawn(host, [&host] { host.create_event()->wait(never_ns); }, {.daemon = true});
    spawn(host,
          [&host] {
            while (true) sleep(host, millisecond_ns);
          },
          {.daemon = true});
    sleep(host, 5 * millisecond_ns);
  });
}

TEST_P(FibersTest, DaemonsLiveAsLongAsOtherFibers) {
  run_alone([](Host& host) {
    const auto ticks =
        std::make_shared<int>(0);  // the daemon may run once more after this fiber has ended
    spawn(host,
          [&host, ticks] {
            while (true) {
              sleep(host, millisecond_ns);
              ++*ticks;
            }
          },
          {.daemon = true});
    EXPECT_TRUE(wait_until(host, [&] { return *ticks >= 3; }));
  });
}

TEST_P(FibersTest, APreemptionPointEndsByItself) {
  run_alone([](Host& host) {
    int others = 0;
    const FiberId other = spawn(host, [&] {
      for (; others < 10; ++others) host.preemption_point();
    });
    for (int i = 0; i < 10; ++i) host.preemption_point();
    host.join(other);
    EXPECT_EQ(others, 10);
  });
}

// -------------------------------------------------------------------------------------------------
// Time

TEST_P(FibersTest, SleepLastsUntilItsDeadline) {
  run_alone([](Host& host) {
    for (const std::uint64_t duration_ns : {std::uint64_t{0}, std::uint64_t{1}, millisecond_ns}) {
      const std::uint64_t deadline_ns = host.now_ns() + duration_ns;
      host.sleep_until(deadline_ns);
      EXPECT_GE(host.now_ns(), deadline_ns);
    }
  });
}

TEST_P(FibersTest, TimeNeverGoesBack) {
  run_alone([](Host& host) {
    std::uint64_t latest_ns = 0;
    const auto look = [&] {
      const std::uint64_t now_ns = host.now_ns();
      EXPECT_GE(now_ns, latest_ns);
      latest_ns = now_ns;
    };
    std::vector<FiberId> fibers;
    for (int fiber = 0; fiber < 3; ++fiber) {
      fibers.push_back(spawn(host, [&] {
        for (int i = 0; i < 20; ++i) {
          look();
          sleep(host, host.random(1000));
          look();
          host.yield();
        }
      }));
    }
    for (const FiberId fiber : fibers) host.join(fiber);
    EXPECT_GT(latest_ns, 0U);
  });
}

TEST_P(FibersTest, TheWallClockMovesOnToo) {
  run_alone([](Host& host) {
    constexpr std::uint64_t second_millennium_ns = 946'684'800'000 * millisecond_ns;
    const std::uint64_t before_ns = host.wall_clock_ns();
    EXPECT_GT(before_ns, second_millennium_ns) << "it counts from 1970";
    sleep(host, 20 * millisecond_ns);
    EXPECT_GT(host.wall_clock_ns(), before_ns + millisecond_ns);
  });
}

TEST_P(FibersTest, SleepersWakeInTheOrderOfTheirDeadlines) {
  run_alone([](Host& host) {
    bool all_slept = false;
    while (!all_slept) {  // a busy machine may delay a fiber until a deadline has passed
      const std::uint64_t start_ns = host.now_ns();
      std::uint64_t last_begin_ns = 0;
      std::vector<std::uint64_t> woken;
      std::vector<FiberId> fibers;
      for (const std::uint64_t delay : {3U, 1U, 4U, 2U}) {
        fibers.push_back(spawn(host, [&, delay] {
          last_begin_ns = host.now_ns();
          host.sleep_until(start_ns + delay * 10 * millisecond_ns);
          woken.push_back(delay);
        }));
      }
      for (const FiberId fiber : fibers) host.join(fiber);
      all_slept = last_begin_ns < start_ns + 10 * millisecond_ns;
      if (all_slept) {
        EXPECT_EQ(woken, (std::vector<std::uint64_t>{1, 2, 3, 4}));
      }
    }
  });
}

// -------------------------------------------------------------------------------------------------
// Events

TEST_P(FibersTest, NotificationReachesAllWhoWait) {
  run_alone([](Host& host) {
    const auto event = host.create_event();
    int waiting = 0;
    int notified = 0;
    std::vector<FiberId> fibers;
    for (int i = 0; i < 3; ++i) {
      fibers.push_back(spawn(host, [&] {
        ++waiting;
        notified += event->wait(host.now_ns() + patience_ns) ? 1 : 0;
      }));
    }
    EXPECT_TRUE(wait_until(host, [&] { return waiting == 3; }));
    EXPECT_EQ(notified, 0);
    event->notify_all();
    for (const FiberId fiber : fibers) host.join(fiber);
    EXPECT_EQ(notified, 3);
  });
}

TEST_P(FibersTest, NotificationIsNotRemembered) {
  run_alone([](Host& host) {
    const auto event = host.create_event();
    event->notify_all();
    const std::uint64_t deadline_ns = host.now_ns() + millisecond_ns;
    EXPECT_FALSE(event->wait(deadline_ns));
    EXPECT_GE(host.now_ns(), deadline_ns);
    EXPECT_FALSE(event->wait(0));
  });
}

TEST_P(FibersTest, EventsAreApart) {
  run_alone([](Host& host) {
    const auto event = host.create_event();
    const auto other = host.create_event();
    const FiberId notifier = spawn(host, [&] {
      for (int i = 0; i < 5; ++i) {
        other->notify_all();
        sleep(host, millisecond_ns);
      }
    });
    EXPECT_FALSE(event->wait(host.now_ns() + 3 * millisecond_ns));
    host.join(notifier);
  });
}

// -------------------------------------------------------------------------------------------------
// Random numbers

TEST_P(FibersTest, RandomNumbersKeepTheirBound) {
  run_alone([](Host& host) {
    std::set<std::uint64_t> dice;
    for (int i = 0; i < 300; ++i) dice.insert(host.random(6));
    EXPECT_EQ(dice, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(host.random(1), 0U);

    std::uint64_t some = 0;
    std::uint64_t all = ~std::uint64_t{0};
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t number = host.random(0);
      some |= number;
      all &= number;
    }
    EXPECT_EQ(some, ~std::uint64_t{0}) << "each bit is 1 now and then";
    EXPECT_EQ(all, 0U) << "and 0";
  });
}

}  // namespace
}  // namespace falafel::conformance
