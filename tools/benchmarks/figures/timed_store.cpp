#include "tools/benchmarks/figures/timed_store.h"

#include <fmt/format.h>

#include "fabric/assert.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/strategies/random_strategy.h"

namespace falafel::figures {

void run_timed_store(const TimedStore& store, const std::function<void(TimedClient&)>& body) {
  constexpr std::uint64_t retry_interval_ns = 10'000;
  sim::SimulationOptions options;
  options.granularity = sim::Granularity::packet;
  options.step_limit = 1'000'000'000'000;
  sim::RandomStrategy strategy(store.seed);
  fabric::FiberStackPool stacks;
  sim::Simulation simulation(options, strategy, stacks, store.profile);
  bool serves = false;
  simulation.add_host({.name = "server", .role = sim::Role::server}, [&](fabric::Host& host) {
    host.spawn({.name = "server", .daemon = true}, [&] {
      const auto server = engine::Server::start(host, store.server);
      FALAFEL_ASSERT(server.has_value(), "{}", server.error().detail);
      serves = true;
      host.sleep_until(fabric::never_ns);
    });
  });
  for (std::uint32_t number = 0; number < store.clients; ++number) {
    simulation.add_host({.name = fmt::format("client {}", number),
                         .machine = fmt::format("machine {}", number % store.machines)},
                        [&, number](fabric::Host& host) {
                          while (!serves) host.sleep_until(host.now_ns() + retry_interval_ns);
                          const auto client = engine::Client::connect(
                              host, {.host = "server", .service = store.server.service},
                              store.client);
                          FALAFEL_ASSERT(client.has_value(), "{}", client.error().detail);
                          TimedClient timed{simulation, host, **client, number};
                          body(timed);
                        });
  }
  const sim::RunResult result = simulation.run();
  FALAFEL_ASSERT(result.outcome == sim::Outcome::completed, "{}", result.explanation);
}

}  // namespace falafel::figures
