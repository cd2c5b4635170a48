// The notice that a peer has closed: it takes any time, and the death of the sender may lose it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>

#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"

namespace falafel::sim {
namespace {

constexpr std::uint64_t closing_seeds = 300;
constexpr std::uint64_t closing_patience_ns = 1'000'000;

struct Waiter {
  bool heard = false;
  std::uint64_t steps_after_the_close = 0;
};

// A client connects and closes, then `afterwards` runs; the server waits for the notice.
Waiter run_closing(std::uint64_t seed, const std::function<void(Simulation&)>& afterwards) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(seed);
  Simulation simulation({}, strategy, stacks);
  Waiter waiter;
  std::uint64_t closed_at_step = 0;
  struct Side {
    explicit Side(fabric::Host& host)
        : domain(host.device(0).create_protection_domain()),
          completions(host.device(0).create_completion_queue(64).value()) {}
    fabric::QueuePairOptions options() const {
      return {.protection_domain = domain.get(),
              .send_completions = completions.get(),
              .receive_completions = completions.get(),
              .max_send_requests = 4,
              .max_receive_requests = 4,
              .hears_close = true};
    }
    std::unique_ptr<fabric::ProtectionDomain> domain;
    std::unique_ptr<fabric::CompletionQueue> completions;
  };
  simulation.add_host({.name = "server", .role = Role::server}, [&](fabric::Host& host) {
    const Side side(host);
    const auto listener = host.device(0).listen(1).value();
    const auto queue_pair = listener->accept(fabric::never_ns)->accept(side.options(), {}).value();
    waiter.heard = queue_pair->wait_until_peer_closed(host.now_ns() + closing_patience_ns);
    waiter.steps_after_the_close = simulation.steps() - closed_at_step;
  });
  simulation.add_host({.name = "client"}, [&](fabric::Host& host) {
    const Side side(host);
    host.sleep_until(host.now_ns() + 1'000);  // the server listens by then
    const auto connection =
        host.device(0).connect({"server", 1}, side.options(), {}, fabric::never_ns).value();
    closed_at_step = simulation.steps();
    connection.queue_pair->close();
    afterwards(simulation);
    for (int step = 0; step < 50; ++step) host.yield();
  });
  const RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, Outcome::completed) << result.explanation;
  return waiter;
}

TEST(ClosingNotice, ArrivesAtAnyTimeLater) {
  std::uint64_t soonest = ~std::uint64_t{0};
  std::uint64_t latest = 0;
  for (std::uint64_t seed = 0; seed < closing_seeds; ++seed) {
    const Waiter waiter = run_closing(seed, [](Simulation&) {});
    ASSERT_TRUE(waiter.heard) << "seed " << seed;
    soonest = std::min(soonest, waiter.steps_after_the_close);
    latest = std::max(latest, waiter.steps_after_the_close);
  }
  EXPECT_LE(soonest, 3U);
  EXPECT_GE(latest, 10U);
}

TEST(ClosingNotice, MayBeLostWhenItsSenderDies) {
  std::uint64_t heard = 0;
  for (std::uint64_t seed = 0; seed < closing_seeds; ++seed) {
    heard += run_closing(seed, [](Simulation& simulation) { simulation.crash("client"); }).heard;
  }
  EXPECT_GT(heard, closing_seeds / 10);
  EXPECT_LT(heard, closing_seeds * 9 / 10);
}

}  // namespace
}  // namespace falafel::sim
