// The comparison measures every store under the same operations. What an operation costs follows
// from the store's protocol, and a store that cannot do its work is reported, not left out.
#include <gtest/gtest.h>

#include "tools/benchmarks/compare_stores/report.h"

namespace falafel::compare_stores {
namespace {

sim::timing::Profile profile() { return sim::timing::find_profile("connectx3-qdr").value(); }

Load small_load(const char* workload) {
  return {.demand = {.clients = 4, .keys = 400},
          .workload = store_benchmark::find_workload(workload).value(),
          .machines = 2,
          .duration_ns = 1'000'000};
}

ComparedStore find_store(std::string_view name, std::string_view protocol) {
  for (const ComparedStore& store : all_stores()) {
    if (store.name == name && store.protocol == protocol) return store;
  }
  ADD_FAILURE() << "no store is called " << name << ", " << protocol;
  return {};
}

Measurement costs(std::string_view name, std::string_view protocol, const char* workload) {
  const auto measured = measure(profile(), find_store(name, protocol), small_load(workload));
  EXPECT_TRUE(measured.has_value()) << name << ": " << measured.error();
  return measured.value_or(Measurement{});
}

// NessieSD carries out operations of a client on its own node without the network. That node has
// its share of the keys, and up to a tenth more or less.
double least_round_trips(const ComparedStore& store, const Load& load) {
  return store.name == "nessie-sd" ? 1 - 1.1 / load.demand.clients : 1;
}

// A message over TCP passes through two kernels, and wakes a thread.
double least_operations_per_second(const ComparedStore& store) {
  return store.name == "two-sided-tcp" ? 70'000 : 100'000;
}

TEST(CompareStores, EveryStoreRunsEveryWorkloadWithAllValuesRight) {
  for (const ComparedStore& store : all_stores()) {
    for (const char* const workload : {"ycsb-a", "ycsb-b", "ycsb-c", "ycsb-f"}) {
      const auto measured = measure(profile(), store, small_load(workload));
      ASSERT_TRUE(measured.has_value()) << store.name << ", " << workload << measured.error();
      EXPECT_GT(measured->operations_per_second, least_operations_per_second(store))
          << store.name << ", " << workload;
      EXPECT_LE(measured->median_us, measured->tail_us) << store.name << ", " << workload;
      EXPECT_GE(measured->round_trips, least_round_trips(store, small_load(workload)))
          << store.name << ", " << workload;
      EXPECT_GT(measured->bytes, 24) << store.name << ", " << workload;
      EXPECT_GT(measured->memory_bytes_per_key, 14 + 24) << store.name << ", " << workload;
    }
  }
}

TEST(CompareStores, ARunRepeatsExactly) {
  const Measurement first = costs("falafel", "hardened", "ycsb-a");
  const Measurement again = costs("falafel", "hardened", "ycsb-a");
  EXPECT_EQ(first.operations_per_second, again.operations_per_second);
  EXPECT_EQ(first.verbs, again.verbs);
  EXPECT_EQ(first.tail_us, again.tail_us);
}

// The clients set each key several times, so the server has to collect semi-spaces or blocks. A SET
// that is refused would be an error.
TEST(CompareStores, HardenedFalafelNeedsLessMemoryForAsManySets) {
  Load load = small_load("ycsb-a");
  load.demand.keys = 2'000;
  load.duration_ns = 60'000'000;
  const auto published = measure(profile(), find_store("falafel", "published"), load);
  const auto hardened = measure(profile(), find_store("falafel", "hardened"), load);
  ASSERT_TRUE(published.has_value()) << published.error();
  ASSERT_TRUE(hardened.has_value()) << hardened.error();
  EXPECT_LT(hardened->memory_bytes_per_key, 0.7 * published->memory_bytes_per_key);
  EXPECT_GT(hardened->operations_per_second, 0.9 * published->operations_per_second);
}

// A request and a reply, whatever the operation.
TEST(CompareStores, AnOperationByMessagesIsOneRoundTripOfTwoVerbs) {
  const Measurement cost = costs("pilaf-vo", "published", "ycsb-a");
  EXPECT_NEAR(cost.round_trips, 1, 0.02);
  EXPECT_NEAR(cost.verbs, 2, 0.04);
  EXPECT_GT(cost.server_ns, 100);
}

TEST(CompareStores, ReadsTakeNoTimeOfTheServersProcessor) {
  EXPECT_LT(costs("pilaf", "published", "ycsb-c").server_ns, 1);
  EXPECT_EQ(costs("nessie-cd", "hardened", "ycsb-a").server_ns, 0);
}

// Entry and extent, once for each slot before the one with the key.
TEST(CompareStores, AGetOfPilafIsTwoReadsForEachProbe) {
  const Measurement cost = costs("pilaf", "published", "ycsb-c");
  EXPECT_GT(cost.round_trips, 2);
  EXPECT_LT(cost.round_trips, 3);
  EXPECT_NEAR(cost.verbs, cost.round_trips, 0.01);
}

// Workers that share a queue pair work at the same time.
TEST(CompareStores, TheTransportsOfTroostsStoreAreEquallyFast) {
  const double connected = costs("two-sided-uc", "published", "ycsb-b").operations_per_second;
  for (const char* const name : {"two-sided-rc", "two-sided-ud"}) {
    const Measurement cost = costs(name, "published", "ycsb-b");
    EXPECT_NEAR(cost.round_trips, 1, 0.02) << name;
    EXPECT_NEAR(cost.verbs, 2, 0.04) << name;
    EXPECT_NEAR(cost.operations_per_second, connected, 0.08 * connected) << name;
  }
}

// Sending and receiving a message take 3 us each in the profile, and its bytes are copied.
TEST(CompareStores, OverTcpTheKernelsTakeTheServersProcessor) {
  const Measurement cost = costs("two-sided-tcp", "published", "ycsb-b");
  EXPECT_NEAR(cost.round_trips, 1, 0.05);  // four of some hundred operations do not end in time
  EXPECT_NEAR(cost.verbs, 2, 0.1);
  EXPECT_GT(cost.server_ns, 6'000);
  EXPECT_LT(cost.server_ns, 7'000);
}

// Only some cards have profiles that say what the kernels cost.
TEST(CompareStores, AStoreOverTcpIsReportedIfTheCardCarriesNoStreams) {
  const auto card = sim::timing::find_profile("connectx6-hdr").value();
  const auto measured =
      measure(card, find_store("two-sided-tcp", "hardened"), small_load("ycsb-b"));
  ASSERT_FALSE(measured.has_value());
  EXPECT_NE(measured.error().find("does not support message stream"), std::string::npos)
      << measured.error();
}

TEST(CompareStores, AClientOfCHintReadsThroughThePointersThatItHas) {
  const Measurement read_only = costs("c-hint", "hardened", "ycsb-c");
  EXPECT_NEAR(read_only.round_trips, 1, 0.02);
  EXPECT_LT(read_only.verbs, 1.7);  // a message takes two
  const Measurement half_sets = costs("c-hint", "hardened", "ycsb-a");
  EXPECT_GT(half_sets.round_trips, 1.05);  // READs of items that have changed
  EXPECT_GT(half_sets.server_ns, read_only.server_ns);
}

TEST(CompareStores, AStoreWithSmallMessagesReportsALargeValue) {
  Load load = small_load("ycsb-b");
  load.demand.value_bytes = 257;
  const auto measured = measure(profile(), find_store("two-sided-rc", "hardened"), load);
  ASSERT_FALSE(measured.has_value());
  EXPECT_NE(measured.error().find("too large"), std::string::npos) << measured.error();
}

// Both combined buckets with one doorbell, and then the block. The two buckets may be the same.
TEST(CompareStores, AGetOfRaceHashingIsTwoDoorbells) {
  const Measurement cost = costs("race", "hardened", "ycsb-c");
  EXPECT_NEAR(cost.round_trips, 2, 0.02);
  EXPECT_NEAR(cost.verbs, 3, 0.1);
  EXPECT_EQ(cost.server_ns, 0);
}

// Its clients change the table themselves, but a slot changes by one CAS.
TEST(CompareStores, TheDeathOfAClientOfRaceHashingConcernsNobodyElse) {
  const auto death = let_clients_die(profile(), find_store("race", "hardened"), 5);
  ASSERT_TRUE(death.has_value()) << death.error();
  EXPECT_EQ(death->moments, 5U);
  EXPECT_EQ(death->key_unreadable, 0U);
  EXPECT_EQ(death->key_unwritable, 0U);
  EXPECT_EQ(death->other_keys_lost, 0);
}

// Workers of Nessie finish a request that has arrived, or never see it. In SWARM-KV, a GET finishes
// the SET, or another SET replaces it.
TEST(CompareStores, TheDeathOfAClientConcernsNobodyElseIfServersChangeTheData) {
  for (const char* const name :
       {"falafel", "pilaf", "pilaf-vo", "nessie-sd", "nessie-hy", "two-sided-rc", "two-sided-uc",
        "two-sided-ud", "two-sided-tcp", "c-hint", "swarm"}) {
    const auto death = let_clients_die(profile(), find_store(name, "hardened"), 5);
    ASSERT_TRUE(death.has_value()) << name << ": " << death.error();
    EXPECT_EQ(death->moments, 5U) << name;
    EXPECT_EQ(death->key_unreadable, 0U) << name;
    EXPECT_EQ(death->key_unwritable, 0U) << name;
    EXPECT_EQ(death->other_keys_lost, 0) << name;
    EXPECT_GT(death->longest_set_us, 0.1) << name;
    EXPECT_LT(death->longest_set_us, 100) << name;
  }
}

// The PUT of a client that changes the tables itself blocks the key from its CAS on (Nessie 4.3.1).
TEST(CompareStores, AClientOfNessieMayBlockItsKeyWhenItDies) {
  const auto death = let_clients_die(profile(), find_store("nessie-cd", "hardened"), 5);
  ASSERT_TRUE(death.has_value()) << death.error();
  EXPECT_GT(death->key_unwritable, 0U);
  EXPECT_LT(death->key_unwritable, 5U);
  EXPECT_EQ(death->other_keys_lost, 0);
}

TEST(CompareStores, AChangeOfNessieWithWorkersIsOneRoundTripAndAGetOfTheHybridTwo) {
  const Measurement served = costs("nessie-sd", "hardened", "ycsb-a");
  EXPECT_NEAR(served.round_trips, 1 - 1.0 / small_load("ycsb-a").demand.clients, 0.03);
  EXPECT_NEAR(served.verbs, 2 * served.round_trips, 0.05);
  EXPECT_GT(costs("nessie-hy", "published", "ycsb-c").round_trips, 1.5);
  EXPECT_LT(costs("nessie-hy", "published", "ycsb-a").round_trips,
            costs("nessie-cd", "published", "ycsb-a").round_trips / 2);
}

// A store that never does what it is asked.
class BusyClient final : public StoreClient {
 public:
  Reply get(std::span<const std::byte>, Bytes&) override { return {Outcome::busy, "too busy"}; }
  Reply set(std::span<const std::byte>, std::span<const std::byte>) override {
    return {Outcome::busy, "too busy"};
  }
  std::uint64_t round_trips() const override { return 0; }
};

class BusyRun final : public StoreRun {
 public:
  std::string serve(fabric::Host&, const std::function<void()>&) override {
    return "no such server";
  }
  Connected connect(fabric::Host&, std::uint32_t) override {
    return std::make_unique<BusyClient>();
  }
  std::uint64_t memory_bytes() const override { return 0; }
};

ComparedStore busy_store(bool has_server) {
  return {.name = "busy",
          .protocol = "published",
          .has_server = has_server,
          .findings = {.linearizable = {"no", "busy.md"},
                       .lock_free = {"no", "busy.md"},
                       .bounded = {"no", "busy.md"}},
          .create = [](const Demand&) { return std::make_unique<BusyRun>(); }};
}

TEST(CompareStores, AStoreThatDoesNotWorkIsReportedWithItsReason) {
  const auto busy = measure(profile(), busy_store(false), small_load("ycsb-a"));
  ASSERT_FALSE(busy.has_value());
  EXPECT_NE(busy.error().find("too busy"), std::string::npos) << busy.error();
  const auto unserved = measure(profile(), busy_store(true), small_load("ycsb-a"));
  ASSERT_FALSE(unserved.has_value());
  EXPECT_EQ(unserved.error(), "no such server");

  const std::vector<ReportRow> rows{{.store = busy_store(false),
                                     .measured = tl::unexpected(std::string("out of order")),
                                     .death = tl::unexpected(std::string("out of order"))}};
  EXPECT_NE(costs_text(rows).find("| busy, published | | | | | | | | | out of order |"),
            std::string::npos)
      << costs_text(rows);
  EXPECT_EQ(to_json(rows)[0]["costs"]["error"], "out of order");
}

// A client that waits forever, while others go on.
class WaitingClient final : public StoreClient {
 public:
  explicit WaitingClient(fabric::Host& host) : host_(host) {}
  Reply get(std::span<const std::byte>, Bytes&) override { return {Outcome::absent, "absent"}; }
  Reply set(std::span<const std::byte>, std::span<const std::byte>) override {
    host_.sleep_until(fabric::never_ns);
    return {Outcome::done, "stored"};
  }
  std::uint64_t round_trips() const override { return 0; }

 private:
  fabric::Host& host_;
};

class WaitingRun final : public StoreRun {
 public:
  std::string serve(fabric::Host&, const std::function<void()>&) override { return {}; }
  Connected connect(fabric::Host& host, std::uint32_t) override {
    return std::make_unique<WaitingClient>(host);
  }
  std::uint64_t memory_bytes() const override { return 0; }
};

TEST(CompareStores, AnOperationThatNeverEndsIsReported) {
  ComparedStore waiting = busy_store(false);
  waiting.create = [](const Demand&) { return std::make_unique<WaitingRun>(); };
  const auto measured = measure(profile(), waiting, small_load("ycsb-a"));
  ASSERT_FALSE(measured.has_value());
  EXPECT_EQ(measured.error(), "an operation does not end");
}

TEST(CompareStores, TheTablesShowWhatWasMeasured) {
  const std::vector<ReportRow> rows{{.store = busy_store(false),
                                     .measured = Measurement{.operations_per_second = 1.5e6,
                                                             .median_us = 3.25,
                                                             .tail_us = 9,
                                                             .round_trips = 2,
                                                             .verbs = 3,
                                                             .bytes = 64,
                                                             .server_ns = 7,
                                                             .memory_bytes_per_key = 128,
                                                             .busiest_part = "link of server",
                                                             .busiest_share = 0.5},
                                     .death = ClientDeath{.moments = 4,
                                                          .key_unreadable = 4,
                                                          .key_unwritable = 1,
                                                          .other_keys_lost = 0.25,
                                                          .longest_get_us = 0,
                                                          .longest_set_us = 8}}};
  EXPECT_NE(costs_text(rows).find("| busy, published | 1.50 | 3.2 | 9.0 | 2.00 | 3.00 | 64 | 7 | "
                                  "128 | link of server, 50 % |"),
            std::string::npos)
      << costs_text(rows);
  EXPECT_NE(client_deaths_text(rows).find(
                "| busy, published | never ends | 8.0 us; never ends after 1 of 4 | 25 % |"),
            std::string::npos)
      << client_deaths_text(rows);
  EXPECT_NE(findings_text(rows).find("| busy, published | [no](busy.md) |"), std::string::npos)
      << findings_text(rows);
  EXPECT_EQ(to_json(rows)[0]["client_death"]["key_unwritable"], 1);
}

TEST(CompareStores, InvalidLoadsAreNamed) {
  Load load = small_load("ycsb-a");
  EXPECT_EQ(find_invalid_option(load), "");
  load.demand.keys = 3;
  EXPECT_NE(find_invalid_option(load).find("--keys is 3"), std::string::npos);
  load = small_load("ycsb-d");
  EXPECT_NE(find_invalid_option(load).find("--workload is ycsb-d"), std::string::npos);
  load = small_load("ycsb-a");
  load.demand.key_bytes = 1;
  EXPECT_NE(find_invalid_option(load).find("--key-bytes is 1"), std::string::npos);
}

}  // namespace
}  // namespace falafel::compare_stores
