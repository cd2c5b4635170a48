#include "tools/scenarios/store/move_worlds.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/layout/container.h"
#include "fabric/time_units.h"
#include "tools/scenarios/store/keys_of_chain.h"

namespace falafel::store_scenario {
namespace {

constexpr std::uint32_t value_bytes = 4;  // leaves room for long keys

// There is room for all keys, and SETs do not wait for memory.
void draw_geometry(fabric::RandomGenerator& random, engine::Geometry& geometry) {
  geometry.table_entries = 5 + random.below(3);
  geometry.region_bytes = std::max(
      geometry.region_bytes,
      2 * geometry.round_up_to_unit(engine::container_bytes(usual_key_bytes, usual_value_bytes)));
  geometry.region_count = std::max<std::uint64_t>(geometry.region_count, 6);
  const std::uint64_t regions = geometry.region_count + geometry.table_entries;
  if (geometry.has_blocks()) {
    geometry.mature_space_count += static_cast<std::uint32_t>(regions);
    geometry.mature_bytes = std::max(geometry.mature_bytes, geometry.region_bytes);
  } else {
    geometry.mature_bytes += regions * geometry.region_bytes;
  }
}

PlannedOperation set(std::uint32_t key) {
  return {.kind = OperationKind::set, .key = key, .value_bytes = value_bytes};
}

// All keys but the last one of the chain are removed, so that key moves to the front. In the next
// round, it is the first one.
ClientPlan plan_of_long_moves(std::vector<std::uint32_t> keys) {
  constexpr std::uint64_t rounds = 6;
  ClientPlan client;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::size_t index = round == 0 ? 0 : 1; index < keys.size(); ++index) {
      client.operations.push_back(set(keys[index]));
    }
    for (std::size_t index = 0; index + 1 < keys.size(); ++index) {
      client.operations.push_back({.kind = OperationKind::remove, .key = keys[index]});
    }
    std::ranges::rotate(keys, keys.end() - 1);
  }
  return client;
}

// The first key of the chain is removed, so all others move by one slot. Then it comes to the end.
ClientPlan plan_of_many_moves(std::span<const std::uint32_t> keys, std::uint64_t pause_ns) {
  constexpr std::uint64_t rounds = 3;
  ClientPlan client;
  for (const std::uint32_t key : keys) client.operations.push_back(set(key));
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const std::uint32_t key : keys) {
      client.operations.push_back({.kind = OperationKind::remove, .key = key});
      client.operations.push_back(set(key));
      client.operations.back().pause_ns = pause_ns;
    }
  }
  return client;
}

ClientPlan plan_of_others(fabric::RandomGenerator& random, std::span<const std::uint32_t> keys,
                          std::uint64_t set_percent, std::uint64_t scan_percent) {
  constexpr std::uint64_t fewest_operations = 8;
  ClientPlan client;
  const std::uint64_t count = fewest_operations + random.below(2 * fewest_operations);
  for (std::uint64_t index = 0; index < count; ++index) {
    const std::uint32_t key = keys[random.below(keys.size())];
    const std::uint64_t percent = random.below(100);
    if (percent < set_percent) {
      client.operations.push_back(set(key));
    } else if (percent < set_percent + scan_percent) {
      client.operations.push_back({.kind = OperationKind::scan});
    } else {
      client.operations.push_back({.kind = OperationKind::get, .key = key});
    }
  }
  return client;
}

void draw_searching_clients(fabric::RandomGenerator& random, Scenario& scenario) {
  const bool moves_many = random.below(4) == 0;
  const std::uint64_t most_keys = moves_many ? scenario.geometry.table_entries - 1 : 3;
  const auto keys = keys_with_home(0, 2 + random.below(most_keys - 1), scenario);
  const std::uint64_t pause_ns = scenario.simulation.step_duration_ns << (4 + random.below(6));
  scenario.clients = {moves_many ? plan_of_many_moves(keys, pause_ns) : plan_of_long_moves(keys)};
  scenario.clients.push_back(plan_of_others(random, keys, 50, 0));
  const std::uint64_t readers = 1 + random.below(2);
  for (std::uint64_t reader = 0; reader < readers; ++reader) {
    scenario.clients.push_back(plan_of_others(random, keys, 10, 0));
  }
}

void draw_scanning_clients(fabric::RandomGenerator& random, Scenario& scenario) {
  const std::uint64_t most_keys = scenario.geometry.table_entries - 1;
  const auto keys = keys_with_home(0, most_keys - random.below(2), scenario);
  scenario.clients = {plan_of_long_moves(keys)};
  const std::uint64_t readers = 1 + random.below(2);
  for (std::uint64_t reader = 0; reader < readers; ++reader) {
    scenario.clients.push_back(plan_of_others(random, keys, 0, 90));
    scenario.clients.back().fibers = 1 + static_cast<std::uint32_t>(random.below(3));
  }
}

std::uint32_t draw_chunk_entries(fabric::RandomGenerator& random, MovesBeside beside) {
  constexpr std::array<std::uint32_t, 4> of_searches{1, 1, 2, 4};
  constexpr std::array<std::uint32_t, 4> of_scans{3, 4, 4, 4};
  const auto& sizes = beside == MovesBeside::searches ? of_searches : of_scans;
  return sizes.at(random.below(sizes.size()));
}

void draw_cleanups(fabric::RandomGenerator& random, Scenario& scenario) {
  scenario.cleanup_percent = random.below(2) == 0 ? 0 : 50;
  scenario.cleanups.clear();
  const std::uint64_t cleanups = 16 + random.below(33);
  for (std::uint64_t index = 0; index < cleanups; ++index) {
    scenario.cleanups.push_back(
        {.pause_ns = scenario.simulation.step_duration_ns << random.below(10)});
  }
}

// Nothing but stalls, which are short. Some follow moves.
void draw_simulation(fabric::RandomGenerator& random, MovesBeside beside,
                     sim::SimulationOptions& options) {
  options.fault_rates = {};
  options.set_fault_rate(sim::FaultKind::late_packets, 4 + random.below(16));
  options.set_fault_rate(sim::FaultKind::server_stall, 16 + random.below(100));
  const bool follows_moves = random.below(2) == 0;
  if (follows_moves) options.fault_after_probe = 1 + random.below(4);
  options.longest_stall_ns = options.step_duration_ns
                             << ((beside == MovesBeside::scans ? 3 : 5) + random.below(4));
  options.granularity = sim::Granularity::word;
  options.address_order = random.below(4) == 0;
  options.processor_preemption = true;
  const bool is_usual = random.below(4) > 0;
  options.atomic_capability = is_usual == (beside == MovesBeside::scans)
                                  ? fabric::AtomicCapability::global
                                  : fabric::AtomicCapability::device;
  options.last_fault_step = 10'000;
}

void be_patient(Scenario& scenario) {
  constexpr std::uint64_t busy_steps = 4'000;
  scenario.heartbeat_timeout_ns =
      std::max(scenario.heartbeat_timeout_ns, busy_steps * scenario.simulation.step_duration_ns);
}

// Fills three quarters of the table, so that it grows. The client goes on afterwards, because the
// server notices when it collects regions.
ClientPlan plan_of_growth(fabric::RandomGenerator& random, const Scenario& scenario) {
  constexpr std::uint64_t entries_before = 2;  // that have no key at first
  ClientPlan client;
  const auto add = [&](std::uint32_t key) {
    client.operations.push_back(set(key));
    client.operations.back().pause_ns = scenario.simulation.step_duration_ns << random.below(8);
  };
  const std::uint64_t fewest_keys = scenario.geometry.table_entries - entries_before;
  const bool has_key_to_move = random.below(2) == 0;
  if (has_key_to_move) add(keys_with_home(0, 1, scenario).front());
  for (std::uint32_t key = 0; client.operations.size() < fewest_keys; ++key) {
    if (home_of(key, scenario) >= entries_before) add(key);
  }
  for (std::uint64_t count = 0; count < 2 * fewest_keys; ++count) {
    add(client.operations[random.below(fewest_keys)].key);
  }
  return client;
}

ClientPlan plan_of_absent_keys(fabric::RandomGenerator& random, const Scenario& scenario) {
  constexpr std::uint64_t operations = 40;
  const auto keys = keys_with_home(0, 4, scenario);
  ClientPlan client{.fibers = 1 + static_cast<std::uint32_t>(random.below(2)), .operations = {}};
  for (std::uint64_t count = 0; count < operations; ++count) {
    const std::uint32_t key = keys[1 + random.below(keys.size() - 1)];
    client.operations.push_back({.kind = OperationKind::get, .key = key});
  }
  return client;
}

}  // namespace

void make_table_grow_beside_searches(fabric::RandomGenerator& random, Scenario& scenario) {
  engine::Geometry& geometry = scenario.geometry;
  draw_geometry(random, geometry);
  geometry.most_tables = 2;
  scenario.keyless_entries = 1;
  scenario.attacks.clear();
  scenario.max_clients = 0;
  scenario.keeps_memory = false;
  scenario.location_cache = {};
  scenario.readahead.chunk_entries = 1;
  draw_simulation(random, MovesBeside::searches, scenario.simulation);
  scenario.simulation.processor_preemption = false;
  draw_cleanups(random, scenario);
  // Without cleanups, the entry is still there when the table grows.
  const bool stays_without_key = random.below(4) > 0;
  if (stays_without_key) {
    scenario.cleanups.clear();
    scenario.cleanup_percent = 50;
  }
  scenario.clients = {plan_of_growth(random, scenario)};
  const std::uint64_t readers = 2 + random.below(2);
  for (std::uint64_t reader = 0; reader < readers; ++reader) {
    scenario.clients.push_back(plan_of_absent_keys(random, scenario));
  }
  be_patient(scenario);
}

void make_keys_move(fabric::RandomGenerator& random, MovesBeside beside, Scenario& scenario) {
  draw_geometry(random, scenario.geometry);
  beside == MovesBeside::scans ? draw_scanning_clients(random, scenario)
                               : draw_searching_clients(random, scenario);
  scenario.attacks.clear();
  scenario.max_clients = 0;
  scenario.readahead.chunk_entries = draw_chunk_entries(random, beside);
  const bool has_cache = beside == MovesBeside::searches && random.below(4) > 0;
  scenario.location_cache = {.entries = has_cache ? 8U : 0U, .trust_ns = fabric::second_ns};
  draw_simulation(random, beside, scenario.simulation);
  draw_cleanups(random, scenario);
  be_patient(scenario);
}

}  // namespace falafel::store_scenario
