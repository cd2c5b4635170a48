// Tests which request serves which of the waiting fibers.
#include "engine/client/server_requests.h"

#include <gtest/gtest.h>

#include <optional>

#include "fabric/sim/strategies/make_strategy.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

void run_on_a_client(const HostBody& body) {
  fabric::FiberStackPool stacks;
  const sim::SimulationOptions options;
  const auto strategy = sim::make_strategy(options, 1);
  sim::Simulation simulation(options, *strategy, stacks);
  simulation.add_host({.name = "client"}, body);
  const sim::RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, sim::Outcome::completed) << result.explanation;
}

// A cleanup in progress may already have passed entries that were deleted later, so later requests
// wait for the next one.
TEST(ServerRequests, ServeThoseWhoComeLaterByTheNextAnswer) {
  run_on_a_client([](fabric::Host& host) {
    engine::ServerRequests requests(host, engine::MessageKind::request_cleanup, [] {});
    int served = 0;
    const auto wait = [&] {
      EXPECT_EQ(requests.wait(second_ns), std::nullopt);
      ++served;
    };
    const auto pass_time = [&] { host.sleep_until(host.now_ns() + millisecond_ns); };
    const fabric::FiberId first = host.spawn({.name = "first"}, wait);
    pass_time();
    EXPECT_TRUE(requests.take_message());
    const fabric::FiberId second = host.spawn({.name = "second"}, wait);
    const fabric::FiberId third = host.spawn({.name = "third"}, wait);
    pass_time();
    EXPECT_FALSE(requests.take_message()) << "one is pending at a time";
    EXPECT_TRUE(requests.on_done());
    host.join(first);
    pass_time();
    EXPECT_EQ(served, 1);
    EXPECT_TRUE(requests.take_message());
    EXPECT_TRUE(requests.on_done());
    host.join(second);
    host.join(third);
    EXPECT_FALSE(requests.take_message());
    EXPECT_FALSE(requests.on_done()) << "no request is pending";
  });
}

}  // namespace
}  // namespace falafel::engine_test
