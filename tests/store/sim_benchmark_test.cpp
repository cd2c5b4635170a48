// Complete benchmarks in the simulator; their counters follow from the options alone.
#include "tools/benchmarks/store/sim_benchmark.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace falafel::store_benchmark {
namespace {

BenchmarkOptions small(const char* workload) {
  BenchmarkOptions options;
  options.workload = *find_workload(workload);
  options.clients = 2;
  options.in_flight = 2;
  options.keys = 1'000;
  options.seconds = 0.02;
  options.region_bytes = 65'536;
  return options;
}

std::uint64_t count_of(const BenchmarkResult& result, OperationKind kind) {
  return result.latencies[static_cast<std::size_t>(kind)].count();
}

TEST(SimBenchmark, EveryWorkloadRunsWithAllValuesRight) {
  for (const char* name : {"thesis", "ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-f"}) {
    const auto result = run_in_simulator(small(name), {});
    ASSERT_TRUE(result.has_value()) << name << ": " << result.error();
    EXPECT_GT(count_of(*result, OperationKind::read), 100U) << name;
    EXPECT_GE(result->statistics.round_trips, result->all_latencies.count()) << name;
    EXPECT_GT(result->operations_per_second, 0) << name;
  }
}

// A key that a DELETE removed is absent until an update stores it again.
TEST(SimBenchmark, DeletesAreMeasuredAndReadsFindFewerKeys) {
  BenchmarkOptions options = small("ycsb-a");
  options.workload.distribution = Distribution::uniform;
  options.seconds = 0.2;
  ASSERT_FALSE(replace_updates_by_removals(options.workload, 25).has_value());
  const auto result = run_in_simulator(options, {});
  ASSERT_TRUE(result.has_value()) << result.error();
  EXPECT_GT(count_of(*result, OperationKind::remove), 100U);
  EXPECT_GT(count_of(*result, OperationKind::update), 100U);
  EXPECT_GT(result->absent_keys, 0U);
  EXPECT_LT(result->absent_keys,
            count_of(*result, OperationKind::remove) + count_of(*result, OperationKind::read));
  EXPECT_NE(to_text(options, *result).find("delete"), std::string::npos);
}

TEST(SimBenchmark, TheSameSeedMeasuresTheSame) {
  const auto first = run_in_simulator(small("ycsb-a"), {});
  const auto second = run_in_simulator(small("ycsb-a"), {});
  EXPECT_EQ(to_json(small("ycsb-a"), *first), to_json(small("ycsb-a"), *second));
}

// A server on the machine of its clients polls too, so they lose turns to it.
TEST(SimBenchmark, AServerOnANodeSharesItsProcessors) {
  auto profile = sim::timing::find_profile("connectx3-qdr").value();
  profile.processors = 2;
  profile.conditions.shares_processors = true;
  const auto apart = run_in_simulator(small("ycsb-c"), {}, {.profile = profile});
  const auto together =
      run_in_simulator(small("ycsb-c"), {}, {.profile = profile, .server_on_node = true});
  ASSERT_TRUE(apart.has_value() && together.has_value());
  EXPECT_LT(together->operations_per_second, 0.8 * apart->operations_per_second);
}

// With the profile of a card, latencies are sums of its round trips, and the report names the part
// of the cluster that limits the throughput.
TEST(SimBenchmark, ACardPredictsLatencies) {
  const Cluster cluster{.profile = sim::timing::find_profile("connectx3-qdr").value(), .nodes = 2};
  BenchmarkOptions options = small("ycsb-c");
  options.in_flight = 1;
  const auto result = run_in_simulator(options, {}, cluster);
  ASSERT_TRUE(result.has_value()) << result.error();
  const double round_trips = static_cast<double>(result->statistics.round_trips) /
                             static_cast<double>(result->all_latencies.count());
  EXPECT_GT(result->operations_per_second, 2 * 1e6 / (round_trips * 4));
  EXPECT_LT(result->operations_per_second, 2 * 1e6 / (round_trips * 2));
  ASSERT_FALSE(result->busiest_parts.empty());
  EXPECT_NE(to_text(options, *result).find("busiest parts: " + result->busiest_parts[0].name),
            std::string::npos);
  EXPECT_TRUE(run_in_simulator(options, {})->busiest_parts.empty());
}

TEST(SimBenchmark, UpdatesMakeWorkForTheCollector) {
  BenchmarkOptions options = small("ycsb-a");
  options.region_bytes = 4'096;
  const auto result = run_in_simulator(options, {});
  ASSERT_TRUE(result.has_value()) << result.error();
  EXPECT_GT(result->server->statistics.regions_collected, 10U);
}

TEST(SimBenchmark, YcsbDEndsWhenTheKeysHaveDoubled) {
  BenchmarkOptions options = small("ycsb-d");
  options.keys = 40;
  options.seconds = 10;
  const auto result = run_in_simulator(options, {});
  ASSERT_TRUE(result.has_value()) << result.error();
  EXPECT_EQ(count_of(*result, OperationKind::insert), 40U);
  EXPECT_LT(result->run_seconds, options.seconds);
}

TEST(SimBenchmark, MemoryPerKeyHasAllItsParts) {
  const auto result = run_in_simulator(small("ycsb-c"), {});
  const MemoryPerKey& memory = *result->memory;
  EXPECT_EQ(memory.container_bytes, 64);
  EXPECT_NEAR(memory.table_bytes, 16, 1);
  EXPECT_NEAR(
      memory.total_bytes,
      memory.container_bytes + memory.table_bytes + memory.collector_bytes + memory.region_bytes,
      1);
}

TEST(SimBenchmark, ProgressIsShownOfLoadingAndRunning) {
  bool loads = false;
  bool runs = false;
  BenchmarkOptions options = small("ycsb-c");
  options.keys = 20'000;
  const auto result = run_in_simulator(options, [&](const Progress& progress) {
    loads = loads || (progress.phase == Phase::loading && progress.operations > 0);
    runs = runs || (progress.phase == Phase::running && progress.rate_per_second > 0);
  });
  ASSERT_TRUE(result.has_value()) << result.error();
  EXPECT_TRUE(loads);
  EXPECT_TRUE(runs);
}

TEST(SimBenchmark, OptionsOutOfRangeAreNamed) {
  BenchmarkOptions options = small("ycsb-c");
  options.clients = 1'001;
  EXPECT_NE(find_invalid_option(options)->find("--clients is 1001"), std::string::npos);
  options = small("ycsb-c");
  options.key_bytes = 2;
  EXPECT_NE(find_invalid_option(options)->find("--key-bytes is 2"), std::string::npos);
  options = small("ycsb-c");
  options.load = 1.5;
  EXPECT_NE(find_invalid_option(options)->find("--load is 1.5"), std::string::npos);
  options = small("ycsb-c");
  options.value_bytes = 100'000;
  EXPECT_NE(find_invalid_option(options)->find("--region-size"), std::string::npos);
  EXPECT_FALSE(find_invalid_option(small("ycsb-c")).has_value());
}

}  // namespace
}  // namespace falafel::store_benchmark
