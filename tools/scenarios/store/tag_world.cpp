#include "tools/scenarios/store/tag_world.h"

#include <algorithm>
#include <initializer_list>

#include "engine/layout/container.h"
#include "engine/layout/entry.h"

namespace falafel::store_scenario {
namespace {

constexpr std::uint64_t tag_world_step_ns = 10;

// An operation changes the entry of its key at most three times: a SET swaps it, and the collector
// may move its container out of the region and to the other mature space; a DELETE is followed by a
// cleanup.
constexpr std::uint64_t changes_per_operation = 3;

// A table that grows freezes an entry or moves one there once. A move that finds no room locks and
// unlocks the entry, and is tried again after each audit and each cleanup. One operation in another
// table may ask for a cleanup.
constexpr std::uint64_t changes_per_operation_beside_growth = 4;
std::uint64_t changes_by_growth(const Scenario& scenario, std::uint64_t duration_ns) {
  return 2 + 2 * (duration_ns / scenario.cleanup_interval_ns + 1);
}

// The operations that run while another one lasts as long as possible: twice the heartbeat
// time-out, plus once more until the server has detected and fenced the client; and before it,
// while the location cache trusts the entry that the operation uses. Each fiber may have one
// operation in flight at the start of that time, and one more starts with it.
std::uint64_t changes_during_an_operation(const Scenario& scenario, std::uint64_t other_fibers,
                                          std::uint64_t pace_ns) {
  const engine::LocationCacheOptions& cache = scenario.location_cache;
  const std::uint64_t trust_ns = cache.entries > 0 ? cache.trust_ns : 0;
  const std::uint64_t operation_ns = 3 * scenario.heartbeat_timeout_ns + trust_ns;
  const std::uint64_t operations = other_fibers * (operation_ns / pace_ns + 2);
  if (!scenario.geometry.can_grow()) return operations * changes_per_operation;
  return operations * changes_per_operation_beside_growth +
         changes_by_growth(scenario, operation_ns);
}

std::uint64_t count_fibers(const Scenario& scenario) {
  std::uint64_t fibers = 0;
  for (const ClientPlan& client : scenario.clients) fibers += client.fibers;
  return fibers;
}

// The shortest pause between two operations.
std::uint64_t pace_of(const Scenario& scenario) {
  std::uint64_t pace_ns = fabric::never_ns;
  for (const ClientPlan& client : scenario.clients) {
    for (const PlannedOperation& operation : client.operations) {
      pace_ns = std::min(pace_ns, operation.pause_ns);
    }
  }
  return pace_ns;
}

std::uint32_t tag_bits_above(std::uint64_t changes) {
  std::uint32_t bits = 1;
  while ((std::uint64_t{1} << bits) <= changes) ++bits;
  return bits;
}

void draw_plan(fabric::RandomGenerator& random, Scenario& scenario, std::uint64_t pace_ns) {
  scenario.clients.assign(2 + random.below(2), {});
  for (ClientPlan& client : scenario.clients) {
    const std::uint64_t operations = 12 + random.below(12);
    for (std::uint64_t index = 0; index < operations; ++index) {
      const std::uint64_t percent = random.below(100);
      PlannedOperation operation{.pause_ns = pace_ns};
      if (percent >= 4) operation.kind = percent < 52 ? OperationKind::set : OperationKind::remove;
      if (operation.kind == OperationKind::set) operation.value_bytes = usual_value_bytes;
      client.operations.push_back(operation);
    }
  }
}

// Provides room for all changes during a long pause, because no collected memory is reused while a
// client pauses.
void draw_geometry(fabric::RandomGenerator& random, engine::Geometry& geometry) {
  const std::uint64_t container =
      geometry.round_up_to_unit(engine::container_bytes(usual_key_bytes, usual_value_bytes));
  geometry.table_entries = 2 + random.below(3);
  geometry.region_count = 8;
  geometry.region_bytes = container * (1 + random.below(8));
  geometry.mature_bytes = 2 * geometry.region_count * geometry.region_bytes;
}

// The places of containers repeat soon, so entries that tags do not distinguish do as well.
void make_memory_small(fabric::RandomGenerator& random, engine::Geometry& geometry) {
  geometry.region_count = 2;
  geometry.region_bytes =
      geometry.round_up_to_unit(engine::container_bytes(usual_key_bytes, usual_value_bytes));
  geometry.mature_bytes = (geometry.region_count + 1 + random.below(2)) * geometry.region_bytes;
}

// The first client reads the key and deletes it much later. Another one stores it all the time. No
// faults, because a client that loses its connection forgets everything.
void make_idle_client(fabric::RandomGenerator& random, Scenario& scenario, std::uint64_t pace_ns) {
  make_memory_small(random, scenario.geometry);
  scenario.clients.resize(2);
  std::vector<PlannedOperation>& operations = scenario.clients.front().operations;
  operations = {{.kind = OperationKind::get, .pause_ns = (2 + random.below(4)) * pace_ns},
                {.kind = OperationKind::remove, .pause_ns = (2 + random.below(16)) * pace_ns}};
  for (PlannedOperation& operation : scenario.clients.back().operations) {
    operation.kind = OperationKind::set;
    operation.value_bytes = usual_value_bytes;
  }
  scenario.simulation.fault_rates = {};
}

// Enables faults that make an operation old. Excludes faults that stop the server's time-outs,
// crash the client (nobody would be left to swap) or break its connection. Scheduling is random,
// because priorities could prevent the server from running forever, and time-outs would then
// guarantee nothing.
void draw_simulation(fabric::RandomGenerator& random, sim::SimulationOptions& options) {
  options.strategy = sim::StrategyKind::random;
  options.step_duration_ns = tag_world_step_ns;
  options.fault_rates = {};
  options.set_fault_rate(sim::FaultKind::client_pause, 50 + random.below(400));
  options.set_fault_rate(sim::FaultKind::late_packets, 20 + random.below(200));
  options.last_fault_step = 2'000;
}

}  // namespace

void make_tag_world(fabric::RandomGenerator& random, Scenario& scenario) {
  draw_geometry(random, scenario.geometry);
  // A client sends five heartbeats per time-out, which must not dominate the run.
  constexpr std::uint64_t steps_per_timeout = 150;
  const std::uint64_t clients = 2;
  scenario.heartbeat_timeout_ns = steps_per_timeout * clients * tag_world_step_ns;
  const std::uint64_t pace_ns = 3 * scenario.heartbeat_timeout_ns + tag_world_step_ns;
  draw_plan(random, scenario, pace_ns);
  scenario.cleanups.clear();
  scenario.max_clients = 0;
  scenario.cleanup_percent = 0;
  scenario.cleanup_interval_ns = pace_ns / 4;
  draw_simulation(random, scenario.simulation);
  scenario.simulation.longest_stall_ns = 64 * pace_ns;
  if (scenario.location_cache.entries > 0) {
    scenario.location_cache.trust_ns = pace_ns / 2;
    if (random.below(2) == 0) make_idle_client(random, scenario, pace_ns);
  }
  scenario.geometry.tag_bits =
      tag_bits_above(changes_during_an_operation(scenario, count_fibers(scenario) - 1, pace_ns));
}

void let_table_of_tag_world_grow(fabric::RandomGenerator& random, Scenario& scenario) {
  engine::Geometry& geometry = scenario.geometry;
  const std::uint64_t keys = 2 + random.below(3);
  geometry.table_entries = 1 + random.below(2);
  geometry.most_tables = static_cast<std::uint32_t>(2 + random.below(2));
  geometry.mature_bytes += keys * geometry.region_bytes;
  for (ClientPlan& client : scenario.clients) {
    for (PlannedOperation& operation : client.operations) {
      const std::uint64_t key = random.below(3 * keys);
      if (key < keys) operation.key = static_cast<std::uint32_t>(key);
    }
  }
  geometry.tag_bits = tag_bits_above(
      changes_during_an_operation(scenario, count_fibers(scenario) - 1, pace_of(scenario)));
}

bool do_tags_outlast_operations(const Scenario& scenario) {
  if (scenario.geometry.tag_bits == engine::most_tag_bits) return true;
  const std::uint64_t pace_ns = pace_of(scenario);
  return pace_ns > 0 &&
         (std::uint64_t{1} << scenario.geometry.tag_bits) >
             changes_during_an_operation(scenario, count_fibers(scenario) - 1, pace_ns);
}

}  // namespace falafel::store_scenario
