// Timed runs with a fixed number of clients, each of which waits for its operation, are closed
// systems: the laws of queueing theory hold for them, whatever the store does.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "tools/benchmarks/compare_stores/measurement.h"

namespace falafel::figures {
namespace {

using compare_stores::ComparedStore;
using compare_stores::Measurement;
using store_benchmark::Distribution;

constexpr std::uint32_t clients = 40;

ComparedStore published(const std::vector<ComparedStore>& stores, std::string_view name) {
  const auto found = std::ranges::find_if(stores, [name](const ComparedStore& store) {
    return store.name == name && store.protocol == "published";
  });
  return *found;
}

using sim::timing::Profile;

Profile card() { return sim::timing::find_profile("connectx2-ddr").value(); }

// A client that checks the CRC of 4 KiB computes for 20 us in every GET. More clients hide it.
std::uint32_t enough_clients(std::uint64_t value_bytes) {
  return value_bytes < 4'096 ? clients : 120;
}

Measurement run(const Profile& profile, const ComparedStore& store, std::uint32_t gets_percent,
                std::uint64_t value_bytes, std::uint32_t client_count = clients,
                std::uint64_t duration_ns = 10'000'000) {
  const auto measured = compare_stores::measure(
      profile, store,
      {.demand =
           {.clients = client_count, .keys = 4'000, .value_bytes = value_bytes, .table_load = 0.1},
       .workload = {.name = "mixture",
                    .percent = {gets_percent, 100 - gets_percent},
                    .distribution = Distribution::zipfian},
       .machines = 10,
       .duration_ns = duration_ns});
  if (!measured.has_value()) ADD_FAILURE() << measured.error();
  return measured.value_or(Measurement{});
}

// Pilaf uses both kinds of a card's work: GETs are READs, PUTs are messages.
Measurement run(const Profile& profile, std::uint32_t gets_percent, std::uint64_t value_bytes,
                std::uint32_t client_count = clients) {
  return run(profile, published(compare_stores::pilaf_stores(), "pilaf"), gets_percent, value_bytes,
             client_count);
}

double operations_under_way(const Measurement& measured, std::uint32_t gets_percent) {
  const double mean_us =
      (measured.get_us * gets_percent + measured.set_us * (100 - gets_percent)) / 100;
  return measured.operations_per_second * mean_us / 1e6;
}

class ClosedSystem : public testing::TestWithParam<std::uint64_t> {};

// Clients that wait, wait for some part of a machine.
TEST_P(ClosedSystem, KeepsAPartBusy) {
  for (const std::uint32_t gets_percent : {100U, 95U, 90U, 50U, 10U, 0U}) {
    const Measurement measured = run(card(), gets_percent, GetParam(), enough_clients(GetParam()));
    EXPECT_GT(measured.busiest_share, 0.95) << gets_percent << " % GETs, " << measured.busiest_part;
  }
}

// Little's law: those who wait are the rate times the waiting time.
TEST_P(ClosedSystem, HasAsManyOperationsUnderWayAsClients) {
  for (const std::uint32_t gets_percent : {100U, 90U, 50U}) {
    const Measurement measured = run(card(), gets_percent, GetParam());
    EXPECT_NEAR(operations_under_way(measured, gets_percent), clients, 0.03 * clients)
        << gets_percent << " % GETs";
  }
}

// GETs leave the server's card, PUTs enter it. The longer the values, the more a mixture gains from
// using both directions; away from the best mixture, either side, the rate only falls.
TEST_P(ClosedSystem, HasOneBestMixture) {
  double before = 0;
  bool has_fallen = false;
  for (const std::uint32_t gets_percent : {0U, 25U, 50U, 75U, 90U, 100U}) {
    const double rate = run(card(), gets_percent, GetParam()).operations_per_second;
    const bool falls = rate < before * 0.99;
    EXPECT_TRUE(falls || !has_fallen) << gets_percent << " % GETs: " << rate << " after " << before;
    has_fallen |= falls;
    before = rate;
  }
}

// READs and messages have capacities of their own: with both, the card does more than with either.
TEST(ClosedSystemOfTwoPipelines, ServesBothAtTheSameTime) {
  constexpr std::uint64_t small_bytes = 16;
  const double gets = run(card(), 100, small_bytes).operations_per_second;
  const double puts = run(card(), 0, small_bytes).operations_per_second;
  const double both = run(card(), 50, small_bytes).operations_per_second;
  EXPECT_GT(both, 1.1 * gets);
  EXPECT_GT(both, 1.9 * puts);
}

// The thread of a server, which each message over TCP keeps busy, serves its fibers in turn. If it
// preferred some, the operations of the others would not be measured, as they would never end.
TEST(ClosedSystemOfMessages, ServesAllClients) {
  constexpr std::uint64_t many_operations_ns = 50'000'000;
  const Measurement measured =
      run(card(), published(compare_stores::two_sided_stores(), "two-sided-tcp"), 95, 64, clients,
          many_operations_ns);
  EXPECT_GT(measured.busiest_share, 0.95);
  EXPECT_NEAR(operations_under_way(measured, 95), clients, 0.03 * clients);
}

INSTANTIATE_TEST_SUITE_P(ValueBytes, ClosedSystem, testing::Values(16, 256, 4'096));

}  // namespace
}  // namespace falafel::figures
