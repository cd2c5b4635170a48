// Answers and costs of single operations of NessieSD and NessieHY.
#include <gtest/gtest.h>

#include "stores/nessie/hashing.h"
#include "tests/stores/nessie/bytes.h"
#include "tests/stores/nessie/cluster.h"

namespace falafel::nessie_test {
namespace {

using nessie::Answer;
using nessie::Architecture;
using nessie::Arrival;
using nessie::Client;
using nessie::Options;

ClusterOptions served_cluster(Architecture architecture, Arrival arrival) {
  ClusterOptions cluster;
  Options& options = cluster.options;
  options.architecture = architecture;
  options.filter_bits = 0;
  options.cache_entries = 0;
  options.previous_versions = false;
  options.multi_read = false;
  options.arrival = arrival;
  cluster.simulation.address_order = arrival == Arrival::tail_in_address_order;
  return cluster;
}

nessie::Bytes key_of_node(const Options& options, std::uint32_t nodes, std::uint64_t node) {
  for (char letter = 'a';; ++letter) {
    nessie::Bytes key = bytes_of(std::string(1, letter));
    if (nessie::candidates_of(key, nodes, options)[0].node == node) return key;
  }
}

class Served : public testing::TestWithParam<std::tuple<Architecture, Arrival>> {
 protected:
  ClusterOptions cluster() const { return std::apply(served_cluster, GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(
    Each, Served,
    testing::Combine(testing::Values(Architecture::server_driven, Architecture::hybrid),
                     testing::Values(Arrival::tail_in_address_order, Arrival::separate_flag_write,
                                     Arrival::checksum)));

TEST_P(Served, StoreReadAndDelete) {
  const ClusterOptions options = cluster();
  TestCluster tested(options);
  tested.run([&](std::uint32_t node, fabric::Host&, Client& client) {
    if (node != 0) return;
    for (const std::uint64_t owner : {std::uint64_t{0}, std::uint64_t{1}}) {
      const nessie::Bytes key = key_of_node(options.options, options.nodes, owner);
      EXPECT_EQ(client.get(key).answer, Answer::not_found);
      EXPECT_EQ(client.put(key, bytes_of("value")), Answer::stored);
      EXPECT_EQ(text_of(client.get(key).value), "value");
      EXPECT_EQ(client.put(key, bytes_of("a value of 32 bytes, the longest")), Answer::stored);
      EXPECT_EQ(text_of(client.get(key).value), "a value of 32 bytes, the longest");
      EXPECT_EQ(client.put(key, {}), Answer::stored);
      EXPECT_EQ(client.get(key).answer, Answer::found);
      EXPECT_TRUE(client.get(key).value.empty());
      EXPECT_EQ(client.remove(key), Answer::deleted);
      EXPECT_EQ(client.remove(key), Answer::not_found);
      EXPECT_EQ(client.get(key).answer, Answer::not_found);
    }
  });
  EXPECT_EQ(tested.problems(), "");
}

// The host of a client need not have a node. All its requests and READs then pass through devices.
TEST_P(Served, AClientWorksWithoutANodeOfItsOwn) {
  const ClusterOptions options = cluster();
  TestCluster tested(options);
  tested.run([&](std::uint32_t node, fabric::Host& host, Client&) {
    if (node != 0) return;
    std::vector<fabric::Address> nodes;
    for (std::uint32_t number = 0; number < options.nodes; ++number) {
      nodes.push_back({.host = TestCluster::name(number), .service = options.options.service});
    }
    const auto connected = Client::connect(host, nodes, options.options);
    ASSERT_TRUE(connected) << connected.error().detail;
    Client& client = **connected;
    for (const std::uint64_t owner : {std::uint64_t{0}, std::uint64_t{1}}) {
      const nessie::Bytes key = key_of_node(options.options, options.nodes, owner);
      EXPECT_EQ(client.put(key, bytes_of("value")), Answer::stored);
      EXPECT_EQ(text_of(client.get(key).value), "value");
      EXPECT_EQ(client.remove(key), Answer::deleted);
      EXPECT_EQ(client.get(key).answer, Answer::not_found);
    }
    EXPECT_EQ(client.statistics().local_requests, 0U);
    EXPECT_EQ(client.statistics().local_entries, 0U);
    Options client_driven = options.options;
    client_driven.architecture = Architecture::client_driven;
    EXPECT_FALSE(Client::connect(host, nodes, client_driven));
  });
  EXPECT_EQ(tested.problems(), "");
}

// A request to another node is two WRITEs; to the own node, nothing goes over the network (6.2). A
// GET of NessieHY reads the ITE and the DTE.
TEST_P(Served, CostWhatThePaperSays) {
  const ClusterOptions options = cluster();
  TestCluster tested(options);
  tested.run([&](std::uint32_t node, fabric::Host&, Client& client) {
    if (node != 0) return;
    const bool reads = options.options.is_hybrid();
    const nessie::Bytes remote = key_of_node(options.options, options.nodes, 1);
    client.put(remote, bytes_of("value"));
    EXPECT_EQ(client.statistics().round_trips(), 1U);
    EXPECT_EQ(client.get(remote).answer, Answer::found);
    EXPECT_EQ(client.statistics().round_trips(), reads ? 3U : 2U);
    EXPECT_EQ(client.statistics().index_reads, reads ? 1U : 0U);
    client.remove(remote);
    EXPECT_EQ(client.statistics().round_trips(), reads ? 4U : 3U);
    const nessie::Bytes local = key_of_node(options.options, options.nodes, 0);
    client.put(local, bytes_of("value"));
    client.get(local);
    client.remove(local);
    EXPECT_EQ(client.statistics().round_trips(), reads ? 4U : 3U);
    EXPECT_EQ(client.statistics().local_requests, reads ? 2U : 3U);
  });
  EXPECT_EQ(tested.problems(), "");
}

TEST(ServedOptions, RefuseTheTailWithoutAddressOrder) {
  ClusterOptions options = served_cluster(Architecture::server_driven, Arrival::checksum);
  options.nodes = 1;
  TestCluster cluster(options);
  cluster.run([&](std::uint32_t, fabric::Host& host, Client&) {
    Options tail = options.options;
    tail.arrival = Arrival::tail_in_address_order;
    tail.service += 1;
    const auto refused = nessie::Node::start(host, 0, 1, tail);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, fabric::ErrorCode::invalid_argument);
    tail.assumes_address_order = true;
    EXPECT_TRUE(nessie::Node::start(host, 0, 1, tail));
  });
}

TEST(ServedOptions, HaveTheDefaultsOfTheirArchitecture) {
  for (const Architecture architecture : {Architecture::server_driven, Architecture::hybrid}) {
    for (const Options& options :
         {Options::published(architecture), Options::hardened(architecture)}) {
      EXPECT_EQ(options.architecture, architecture);
      EXPECT_EQ(options.filter_bits, 0U);
      EXPECT_EQ(options.cache_entries, 0U);
      EXPECT_FALSE(options.previous_versions || options.multi_read);
    }
    EXPECT_EQ(Options::published(architecture).arrival, Arrival::tail_in_address_order);
    EXPECT_EQ(Options::published(architecture).request_timeout_ns, fabric::never_ns);
    EXPECT_EQ(Options::hardened(architecture).arrival, Arrival::checksum);
    EXPECT_LT(Options::hardened(architecture).request_timeout_ns, fabric::never_ns);
  }
}

// The node dies: a client with a time-out reports what it does not know.
TEST(ServedOperations, TimeOutWhenANodeIsGone) {
  ClusterOptions options = served_cluster(Architecture::server_driven, Arrival::checksum);
  options.options.request_timeout_ns = 500 * microsecond_ns;
  TestCluster cluster(options);
  bool is_gone = false;
  cluster.run([&](std::uint32_t node, fabric::Host& host, Client& client) {
    if (node == 1) {
      host.sleep_until(host.now_ns() + 100'000 * microsecond_ns);
      return;
    }
    const nessie::Bytes key = key_of_node(options.options, options.nodes, 1);
    EXPECT_EQ(client.put(key, bytes_of("value")), Answer::stored);
    cluster.simulation().crash(TestCluster::name(1));
    for (int attempt = 0; attempt < 4; ++attempt) {
      const Answer answer = client.put(key, bytes_of("value"));
      EXPECT_TRUE(answer == Answer::disconnected || answer == Answer::unknown_outcome)
          << to_string(answer);
      is_gone |= answer == Answer::disconnected;
      EXPECT_EQ(client.get(key).answer, Answer::disconnected);
    }
  });
  EXPECT_TRUE(is_gone);
}

// A client gets its slot again when its connection has broken.
TEST(ServedOperations, ContinueOverAnotherConnection) {
  ClusterOptions options = served_cluster(Architecture::server_driven, Arrival::checksum);
  options.options.request_timeout_ns = 500 * microsecond_ns;
  options.options.most_clients = 2;  // one of each node
  options.simulation.set_fault_rate(sim::FaultKind::queue_pair_error, 100);
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    options.seed = seed;
    TestCluster cluster(options);
    cluster.run([&](std::uint32_t node, fabric::Host&, Client& client) {
      const nessie::Bytes key = key_of_node(options.options, options.nodes, 1 - node);
      for (int number = 0; number < 10; ++number) {
        constexpr int most_attempts = 20;
        int attempts = 1;
        while (client.put(key, bytes_of("value")) != Answer::stored && attempts < most_attempts) {
          ++attempts;
        }
        EXPECT_LT(attempts, most_attempts);
        failed += static_cast<std::uint64_t>(attempts) - 1;
      }
    });
    EXPECT_EQ(cluster.problems(), "");
  }
  EXPECT_GT(failed, 10U);
}

}  // namespace
}  // namespace falafel::nessie_test
