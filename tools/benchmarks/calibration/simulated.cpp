#include "tools/benchmarks/calibration/simulated.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "fabric/assert.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"

namespace falafel::calibration {

Measurement measure_simulated(const sim::timing::Profile& profile,
                              std::span<const TimedLoad> loads) {
  std::uint32_t clients = 1;
  for (const TimedLoad& timed : loads) clients = std::max(clients, timed.load.clients);
  sim::SimulationOptions options;
  options.granularity = sim::Granularity::packet;
  options.step_limit = 1'000'000'000'000;
  sim::RandomStrategy strategy(1);
  fabric::FiberStackPool stacks;
  sim::Simulation simulation(options, strategy, stacks, profile);
  const auto board = std::make_unique<Board>();
  constexpr std::uint64_t interval_ns = 100'000;
  simulation.add_host({.name = "server", .role = sim::Role::server}, [&](fabric::Host& host) {
    const auto served = serve(
        host, [&] { return board->clients_over == clients; }, interval_ns);
    FALAFEL_ASSERT(served.has_value(), "{}", served.error());
  });
  for (std::uint32_t number = 0; number < clients; ++number) {
    simulation.add_host({.name = fmt::format("client {}", number), .machine = "clients"},
                        [&, number](fabric::Host& host) {
                          host.sleep_until(interval_ns);  // the server listens by then
                          run_client(host,
                                     {.server = {.host = "server", .service = service},
                                      .number = number,
                                      .clients = clients},
                                     loads, *board);
                        });
  }
  const sim::RunResult result = simulation.run();
  FALAFEL_ASSERT(result.outcome == sim::Outcome::completed && !board->has_failed, "{} {}",
                 result.explanation, board->failure.get());
  return sum_up(loads, *board);
}

}  // namespace falafel::calibration
