#include "tests/command_line/acceptance/simulated_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "tools/command_line/acceptance/serving.h"

namespace falafel::acceptance {

sim::SimulationOptions weakest_device() {
  sim::SimulationOptions options;
  options.processor_preemption = true;
  options.late_visibility = true;
  options.store_buffers = true;
  options.failing_cas_writes_back = true;
  options.bounds_per_packet = true;
  options.distinct_keys = true;
  options.undefined_failure_fields = true;
  return options;
}

void run_with_server(const sim::SimulationOptions& options, std::uint64_t seed,
                     const std::function<void(fabric::Host&)>& body) {
  sim::SimulationOptions long_enough = options;
  long_enough.step_limit = 1'000'000'000;
  sim::RandomStrategy strategy(seed);
  fabric::FiberStackPool stacks;
  sim::Simulation simulation(long_enough, strategy, stacks);
  bool is_over = false;
  simulation.add_host({.name = serving_host, .role = sim::Role::server}, [&](fabric::Host& host) {
    constexpr std::uint64_t interval_ns = 1'000'000;
    const auto served = serve(
        host, [&] { return is_over; }, interval_ns);
    EXPECT_TRUE(served.has_value()) << served.error();
  });
  simulation.add_host({.name = "client"}, [&](fabric::Host& host) {
    host.sleep_until(host.now_ns() + 1'000'000);  // the server listens by then
    body(host);
    is_over = true;
  });
  const sim::RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, sim::Outcome::completed) << result.explanation;
}

const Row& row_of(const PartReport& report, const std::string& name) {
  const auto found = std::ranges::find(report.rows, name, &Row::name);
  if (found == report.rows.end()) throw std::runtime_error("there is no row '" + name + "'");
  return *found;
}

std::string problems_of(const PartReport& report) {
  std::string text;
  for (const Row& row : report.rows) {
    if (row.verdict >= Verdict::not_done)
      text += fmt::format("{}: {}: {}\n", to_string(row.verdict), row.name, row.observed);
  }
  return text;
}

}  // namespace falafel::acceptance
