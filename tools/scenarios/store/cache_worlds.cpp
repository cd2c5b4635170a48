#include "tools/scenarios/store/cache_worlds.h"

#include <algorithm>
#include <array>

#include "engine/layout/container.h"
#include "engine/layout/pinned.h"

namespace falafel::store_scenario {
namespace {

// Containers become longer by the time at which their values expire.
void make_room_for_expiry(engine::Geometry& geometry) {
  const auto container_bytes = [&](std::uint64_t value_bytes) {
    return geometry.round_up_to_unit(engine::container_bytes(usual_key_bytes, value_bytes));
  };
  const std::uint64_t before_bytes = container_bytes(usual_value_bytes);
  const std::uint64_t more_bytes =
      container_bytes(usual_value_bytes + engine::expiry_bytes) - before_bytes;
  const auto enlarge = [&](std::uint64_t& bytes) { bytes += bytes / before_bytes * more_bytes; };
  enlarge(geometry.region_bytes);
  enlarge(geometry.mature_bytes);
}

}  // namespace

void make_cache(fabric::RandomGenerator& random, Scenario& scenario) {
  constexpr std::array<std::uint64_t, 4> errors_ns{0, 1'000, 20'000, 500'000};
  constexpr std::array<std::uint64_t, 6> times_ns{0, 0, 5'000, 50'000, 500'000, 5'000'000};
  make_room_for_expiry(scenario.geometry);
  scenario.geometry.values_expire = true;
  scenario.wall_clock_error_ns = errors_ns[random.below(errors_ns.size())];
  scenario.evicts = random.below(2) == 0;
  const std::uint64_t regions = 1 + random.below(6);
  if (scenario.evicts) scenario.geometry.mature_bytes = regions * scenario.geometry.region_bytes;
  for (ClientPlan& client : scenario.clients) {
    for (PlannedOperation& operation : client.operations) {
      const std::uint64_t time_ns = times_ns[random.below(times_ns.size())];
      if (operation.kind == OperationKind::set) operation.time_to_live_ns = time_ns;
    }
  }
}

void pin_values(fabric::RandomGenerator& random, Scenario& scenario) {
  constexpr std::array<std::uint64_t, 5> percents{0, 0, 10, 50, 90};
  const std::uint64_t percent = percents[random.below(percents.size())];
  for (ClientPlan& client : scenario.clients) {
    for (PlannedOperation& operation : client.operations) {
      const bool pins = random.below(100) < percent;
      if (pins && operation.kind == OperationKind::set) {
        operation.time_to_live_ns = engine::pinned_time_to_live_ns;
      }
    }
  }
}

}  // namespace falafel::store_scenario
