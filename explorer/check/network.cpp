#include "explorer/check/network.h"

#include <algorithm>

#include "fabric/random.h"
#include "fabric/sim/options/fault_kinds.h"

namespace falafel::check {
namespace {

// The simulator's options and strategies use the same seed, and their random numbers must be
// independent of these.
constexpr std::uint64_t fairness_stream = 0x6661697273746570;

// Drawn options suit runs of at least this many steps.
constexpr std::uint64_t unscaled_steps = 400;
// A stall must not take most of the steps of a party that polls.
constexpr std::uint64_t longest_stall_steps = 1'000;
constexpr std::uint64_t shortest_step_ns = 100;
// A program may try a thousand times before it gives up. RemoteMemory does so when it connects, and
// then takes 4 steps for each attempt of each client.
constexpr std::uint64_t least_step_limit = 40'000;
constexpr std::uint64_t most_scaled_step_limit = 100'000;
constexpr std::uint64_t step_limit_in_runs = 400;
constexpr std::uint64_t step_limit_in_long_runs = 10;

std::uint64_t scale(std::uint64_t value, std::uint64_t least, std::uint64_t usual_steps) {
  if (usual_steps >= unscaled_steps) return value;
  return std::max(least, value * usual_steps / unscaled_steps);
}

void permit_faults(const std::vector<sim::FaultKind>& faults, std::uint64_t usual_steps,
                   sim::SimulationOptions& options) {
  constexpr std::uint64_t least_rate = 2;
  for (std::size_t index = 0; index < sim::fault_kind_count; ++index) {
    const auto kind = static_cast<sim::FaultKind>(index);
    const std::uint64_t rate = options.fault_rate(kind);
    const bool may_strike = std::ranges::find(faults, kind) != faults.end();
    if (!may_strike || rate == 0) {
      options.set_fault_rate(kind, 0);
    } else if (sim::strikes_at_steps(kind)) {
      options.set_fault_rate(kind, scale(rate, least_rate, usual_steps));
    }
  }
}

std::uint64_t draw_step_limit(const Network& network, std::uint64_t usual_steps) {
  if (network.step_limit) return *network.step_limit;
  return std::max({least_step_limit,
                   std::min(step_limit_in_runs * usual_steps, most_scaled_step_limit),
                   step_limit_in_long_runs * usual_steps});
}

// Late faults hide what an early one has broken: if all clients crash, nobody waits for the lock
// that the first one held. But operations that many retries delay also meet late faults only.
std::uint64_t draw_first_fair_step(const Network& network, std::uint64_t usual_steps,
                                   std::uint64_t step_limit, std::uint64_t seed) {
  if (network.fair_after_steps) return *network.fair_after_steps;
  constexpr std::uint64_t lengths = 3;
  const std::uint64_t doublings = fabric::RandomGenerator(seed ^ fairness_stream).below(lengths);
  return std::min(usual_steps << doublings, step_limit / 2);
}

}  // namespace

sim::SimulationOptions draw_simulation(const Network& network, std::uint64_t usual_steps,
                                       std::uint64_t seed) {
  sim::SimulationOptions options = sim::draw_swarm_options(seed);
  permit_faults(network.faults, usual_steps, options);
  options.pct_steps = scale(options.pct_steps, 1, usual_steps);
  options.step_duration_ns = std::max(options.step_duration_ns, shortest_step_ns);
  options.longest_stall_ns = options.step_duration_ns * longest_stall_steps;
  const std::uint64_t step_limit = draw_step_limit(network, usual_steps);
  options.last_fault_step = draw_first_fair_step(network, usual_steps, step_limit, seed);
  options.step_limit = std::max(step_limit, 2 * options.last_fault_step);
  if (network.strategy) options.strategy = *network.strategy;
  if (network.adjust) network.adjust(options);
  return options;
}

sim::SimulationOptions draw_faultless_simulation(const Network& network, std::uint64_t seed) {
  constexpr std::uint64_t longest_steps = 100'000;
  sim::SimulationOptions options = draw_simulation(network, unscaled_steps, seed);
  options.fault_rates = {};
  options.max_chosen_faults = 0;
  options.strategy = sim::StrategyKind::random;
  options.last_fault_step = longest_steps;
  options.step_limit = longest_steps;
  return options;
}

}  // namespace falafel::check
