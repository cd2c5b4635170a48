// Random operations on random small stores. The answers, the final contents and every byte of the
// server's memory must match the model (workload.h), through collections of regions and mature
// spaces and through cleanups. Schedules and delays are random; there are no failures.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/probes.h"
#include "tests/engine/workload.h"

namespace falafel::engine_test {
namespace {

namespace probes = engine::probes;

engine::Geometry draw_geometry() {
  engine::Geometry geometry;
  geometry.unit_bytes = *rc::gen::element(8U, 64U);
  geometry.table_entries = *rc::gen::element<std::uint64_t>(3, 4, 16, 1'024);
  geometry.region_bytes = *rc::gen::element<std::uint64_t>(64, 128, 192, 1'024);
  geometry.region_count = *rc::gen::inRange<std::uint64_t>(1, 20);
  geometry.mature_bytes = geometry.region_bytes * *rc::gen::element<std::uint64_t>(1, 2, 4, 16, 64);
  if (*rc::gen::arbitrary<bool>()) {
    geometry.mature_space_count = static_cast<std::uint32_t>(
        engine::fewest_blocks + geometry.mature_bytes / geometry.region_bytes);
    geometry.mature_bytes = geometry.region_bytes;
  }
  geometry.fingerprint_bits = *rc::gen::element(0U, 1U, 2U, engine::most_fingerprint_bits);
  geometry.size_class_bits = *rc::gen::inRange(0U, engine::most_size_class_bits + 1);
  return geometry;
}

// Short stalls of connections and computers, far below all time-outs.
sim::SimulationOptions draw_simulation() {
  sim::SimulationOptions simulation;
  const auto rate = rc::gen::element<std::uint64_t>(0, 0, 300, 2'000);
  for (const sim::FaultKind kind : {sim::FaultKind::message_delay, sim::FaultKind::late_packets,
                                    sim::FaultKind::client_pause, sim::FaultKind::server_stall}) {
    simulation.set_fault_rate(kind, *rate);
  }
  simulation.longest_stall_ns = 50 * microsecond_ns;
  simulation.step_limit = 3'000'000;
  simulation.granularity = *rc::gen::element(sim::Granularity::word, sim::Granularity::packet);
  simulation.processor_preemption = *rc::gen::arbitrary<bool>();
  simulation.late_visibility = *rc::gen::arbitrary<bool>();
  simulation.failing_cas_writes_back = *rc::gen::arbitrary<bool>();
  simulation.mtu_bytes = *rc::gen::element<std::uint64_t>(256, 4'096);
  simulation.max_outstanding_reads_and_atomics = *rc::gen::element<std::uint64_t>(1, 4, 16);
  simulation.atomic_capability =
      *rc::gen::element(fabric::AtomicCapability::device, fabric::AtomicCapability::global);
  return simulation;
}

StoreOptions draw_store() {
  StoreOptions options;
  options.seed = *rc::gen::arbitrary<std::uint64_t>();
  options.simulation = draw_simulation();
  options.server.geometry = draw_geometry();
  options.server.cleanup_percent = *rc::gen::inRange(0U, 51U);
  options.server.cleanup_interval_ns =
      *rc::gen::element(20 * microsecond_ns, 200 * microsecond_ns, millisecond_ns);
  options.server.heartbeat_timeout_ns = 100 * millisecond_ns;
  // In a full store, a SET waits for the next measurement. Walks over the table fill the time until
  // then with steps: with the default interval, 75 such SETs exceed the limit of steps.
  options.server.measurement_interval_ns = 100 * microsecond_ns;
  options.server.pipelined_updates = *rc::gen::element(1U, 2U, 16U);
  options.client.readahead.chunk_entries = *rc::gen::element(1U, 2U, 3U, 32U);
  options.client.readahead.container_bytes = *rc::gen::element(24U, 60U, 512U);
  options.client.readahead.containers = *rc::gen::inRange(1U, 9U);
  options.client.readahead.adaptive = *rc::gen::arbitrary<bool>();
  options.client.location_cache.entries = *rc::gen::element(0U, 1U, 64U);
  options.client.renewal_percent = *rc::gen::element(1U, 75U, 100U);
  return options;
}

std::vector<Bytes> draw_keys(std::size_t count) {
  const auto lengths = rc::gen::inRange<std::size_t>(1, 101);
  const auto raw_key = rc::gen::mapcat(lengths, [](std::size_t length) {
    return rc::gen::container<std::vector<std::uint8_t>>(length,
                                                         rc::gen::arbitrary<std::uint8_t>());
  });
  const auto raw = *rc::gen::unique<std::vector<std::vector<std::uint8_t>>>(count, raw_key);
  std::vector<Bytes> keys;
  for (const std::vector<std::uint8_t>& key : raw) {
    const auto bytes = std::as_bytes(std::span(key));
    keys.emplace_back(bytes.begin(), bytes.end());
  }
  return keys;
}

WorkloadOperation draw_operation() {
  return {.kind = *rc::gen::weightedElement<OperationKind>(
              {{4, OperationKind::set}, {3, OperationKind::get}, {2, OperationKind::remove}}),
          .key = *rc::gen::inRange<std::size_t>(0, 60),
          .value_permille =
              *rc::gen::weightedOneOf<std::uint32_t>({{1, rc::gen::just(0U)},
                                                      {3, rc::gen::inRange(0U, 300U)},
                                                      {3, rc::gen::inRange(900U, 1'001U)},
                                                      {1, rc::gen::inRange(1'000U, 1'200U)}})};
}

Workload draw_workload(std::size_t most_clients) {
  Workload workload;
  workload.store = draw_store();
  workload.clients = *rc::gen::inRange<std::size_t>(1, most_clients + 1);
  workload.fibers = *rc::gen::element<std::size_t>(1, 1, 3);
  workload.own_keys = *rc::gen::inRange<std::size_t>(1, 5);
  const std::size_t shared_keys = *rc::gen::inRange<std::size_t>(0, 4);
  workload.keys = draw_keys(workload.actors() * workload.own_keys + shared_keys);
  for (std::size_t actor = 0; actor < workload.actors(); ++actor) {
    workload.operations.push_back(*rc::gen::scale(
        5.0, rc::gen::container<std::vector<WorkloadOperation>>(rc::gen::exec(draw_operation))));
  }
  return workload;
}

// Counts over all runs.
struct Totals {
  std::uint64_t runs = 0;
  std::uint64_t steps = 0;
  engine::ServerStatistics server;
  std::array<std::uint64_t, fabric::max_probes> probes{};

  void add(const StoreRun& run) {
    ++runs;
    steps += run.result.steps;
    const engine::ServerStatistics& statistics = run.inspection.statistics;
    server.regions_collected += statistics.regions_collected;
    server.mature_collections += statistics.mature_collections;
    server.containers_copied += statistics.containers_copied;
    server.cleanups += statistics.cleanups;
    server.entries_cleaned += statistics.entries_cleaned;
    for (std::size_t index = 0; index < probes.size(); ++index) {
      probes[index] += run.result.probes[index];
    }
  }
};

void expect_reached(const Totals& totals, std::span<const fabric::Probe> expected) {
  EXPECT_GT(totals.server.regions_collected, 10 * totals.runs);
  EXPECT_GT(totals.server.mature_collections, totals.runs);
  EXPECT_GT(totals.server.containers_copied, 10 * totals.runs);
  EXPECT_GT(totals.server.cleanups, totals.runs);
  EXPECT_GT(totals.server.entries_cleaned, totals.runs);
  for (const fabric::Probe& probe : expected)
    EXPECT_GT(totals.probes[probe.index], 0U) << probe.name;
}

Totals check(std::string_view property, std::size_t most_clients) {
  Totals totals;
  fabric::FiberStackPool stacks;
  const bool holds = rc::check(std::string(property), [&] {
    const Workload workload = draw_workload(most_clients);
    const StoreRun run = WorkloadRun(workload, stacks).run();
    totals.add(run);
    if (!run.problems.empty()) RC_LOG() << describe(workload) << "\n" << describe(run) << "\n";
    RC_ASSERT(run.problems.empty());
  });
  EXPECT_TRUE(holds) << property;
  return totals;
}

TEST(Property, OneClientSeesAMap) {
  const Totals totals = check("one client sees a map", 1);
  expect_reached(totals, {});
}

TEST(Property, SeveralClientsSeeTheirOwnKeysAndEachOthers) {
  const Totals totals = check("several clients see their own keys and each other's", 4);
  constexpr std::array races{
      probes::compare_and_swap_lost, probes::walk_wrapped,          probes::restart_at_changed_walk,
      probes::restart_at_lock,       probes::collector_met_deleted, probes::mature_space_flipped,
      probes::reclamation_waited,    probes::cleanup_moved_entry,   probes::region_renewed_eagerly,
      probes::walk_covered_table,    probes::block_collected};
  expect_reached(totals, races);
}

}  // namespace
}  // namespace falafel::engine_test
