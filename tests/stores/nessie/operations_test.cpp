// Answers and costs of single operations, and random ones against std::map.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "tests/stores/nessie/bytes.h"
#include "tests/stores/nessie/cluster.h"

namespace falafel::nessie_test {
namespace {

using nessie::Answer;
using nessie::Client;
using nessie::OperationStatistics;
using nessie::Options;

void store_read_and_delete(Client& client) {
  EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
  EXPECT_EQ(client.put(bytes_of("key"), bytes_of("value")), Answer::stored);
  EXPECT_EQ(text_of(client.get(bytes_of("key")).value), "value");
  EXPECT_EQ(client.put(bytes_of("key"), {}), Answer::stored);
  EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::found);
  EXPECT_TRUE(client.get(bytes_of("key")).value.empty());
  EXPECT_EQ(client.remove(bytes_of("key")), Answer::deleted);
  EXPECT_EQ(client.remove(bytes_of("key")), Answer::not_found);
  EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
}

TEST(NessieOperations, StoreReadAndDelete) {
  for (const Options& options : {small_options(), [] {
                                   Options hardened = small_options();
                                   hardened.safeguards = nessie::Safeguards::hardened();
                                   hardened.emptied = nessie::EmptyWord::keeps_dte;
                                   hardened.abort = nessie::Abort::restore;
                                   return hardened;
                                 }()}) {
    for (const std::uint32_t nodes : {1U, 3U}) {
      TestCluster cluster({.options = options, .nodes = nodes});
      cluster.run([](std::uint32_t node, fabric::Host&, Client& client) {
        if (node == 0) store_read_and_delete(client);
      });
      EXPECT_EQ(cluster.problems(), "");
    }
  }
}

TEST(NessieOperations, StoreReadAndDeleteByTheWatermark) {
  ClusterOptions options;
  options.options.completion = nessie::Completion::watermark;
  options.simulation.address_order = true;
  TestCluster cluster(options);
  cluster.run([](std::uint32_t node, fabric::Host&, Client& client) {
    if (node == 0) store_read_and_delete(client);
  });
  EXPECT_EQ(cluster.problems(), "");
}

TEST(NessieOperations, RefuseTheWatermarkWithoutAddressOrder) {
  ClusterOptions options;
  options.nodes = 1;
  TestCluster cluster(options);
  cluster.run([&](std::uint32_t, fabric::Host& host, Client&) {
    Options watermark = options.options;
    watermark.completion = nessie::Completion::watermark;
    const auto node = nessie::Node::start(host, 0, 1, watermark);
    ASSERT_FALSE(node);
    EXPECT_EQ(node.error().code, fabric::ErrorCode::invalid_argument);
    watermark.assumes_address_order = true;
    watermark.service += 1;
    EXPECT_TRUE(nessie::Node::start(host, 0, 1, watermark));
  });
}

TEST(NessieOperations, ShareTheCacheOfTheirNode) {
  TestCluster cluster({.nodes = 2});
  cluster.run([&](std::uint32_t node, fabric::Host& host, Client& client) {
    if (node == 0) {
      EXPECT_EQ(client.put(bytes_of("key"), bytes_of("value")), Answer::stored);
      return;
    }
    host.sleep_until(host.now_ns() + 1'000 * microsecond_ns);
    EXPECT_EQ(text_of(client.get(bytes_of("key")).value), "value");
    EXPECT_EQ(client.statistics().cache_hits, 0U);
    const auto other = cluster.connect_another(host, node);
    EXPECT_EQ(text_of(other->get(bytes_of("key")).value), "value");
    EXPECT_EQ(other->statistics().cache_hits, 1U);
    EXPECT_EQ(other->statistics().entry_reads, 0U);
  });
  EXPECT_EQ(cluster.problems(), "");
}

// "At least five READs of ITEs and one CAS" with three candidates (6.2): one forward pass, and all
// but the own one in reverse.
TEST(NessieOperations, CostWhatThePaperSays) {
  ClusterOptions options;
  options.options.index_entries = 4'096;  // nearly empty: every key is in its first slot
  TestCluster cluster(options);
  cluster.run([](std::uint32_t node, fabric::Host& host, Client& client) {
    if (node == 1) {
      host.sleep_until(host.now_ns() + 1'000 * microsecond_ns);
      EXPECT_EQ(text_of(client.get(bytes_of("key")).value), "value");
      EXPECT_EQ(client.statistics().entry_reads, 2U);  // the front, then all of it
      EXPECT_EQ(client.statistics().round_trips(), 3U);
      EXPECT_EQ(text_of(client.get(bytes_of("key")).value), "value");
      EXPECT_EQ(client.statistics().cache_hits, 1U);
      EXPECT_EQ(client.statistics().round_trips(), 4U);
      return;
    }
    EXPECT_EQ(client.put(bytes_of("key"), bytes_of("value")), Answer::stored);
    EXPECT_EQ(client.statistics().index_reads, 5U);
    EXPECT_EQ(client.statistics().swaps, 1U);
    EXPECT_EQ(client.statistics().round_trips(), 6U);
    client.get(bytes_of("key"));
    EXPECT_EQ(client.statistics().round_trips(), 7U);  // the DTE is local
  });
  EXPECT_EQ(cluster.problems(), "");
}

TEST(NessieOperations, RefuseWhatDoesNotFit) {
  TestCluster cluster({.nodes = 1});
  cluster.run([](std::uint32_t, fabric::Host&, Client& client) {
    EXPECT_EQ(client.put({}, {}), Answer::invalid_key);
    EXPECT_EQ(client.get({}).answer, Answer::invalid_key);
    EXPECT_EQ(client.remove({}), Answer::invalid_key);
    EXPECT_EQ(client.put(nessie::Bytes(17), {}), Answer::invalid_key);
    EXPECT_EQ(client.put(bytes_of("key"), nessie::Bytes(33)), Answer::value_too_large);
    EXPECT_EQ(client.put(nessie::Bytes(16), nessie::Bytes(32)), Answer::stored);
  });
  EXPECT_EQ(cluster.problems(), "");
}

TEST(NessieOperations, AnswerDisconnectedWhenANodeIsGone) {
  TestCluster cluster({.nodes = 2});
  bool is_gone = false;
  cluster.run([&](std::uint32_t node, fabric::Host& host, Client& client) {
    if (node == 1) {
      host.sleep_until(host.now_ns() + 100'000 * microsecond_ns);
      return;
    }
    host.sleep_until(host.now_ns() + 1'000 * microsecond_ns);
    cluster.simulation().crash(TestCluster::name(1));
    for (char key = 'a'; key <= 'z'; ++key) {
      const Answer answer = client.put(bytes_of(std::string(1, key)), bytes_of("value"));
      EXPECT_TRUE(answer == Answer::stored || answer == Answer::disconnected ||
                  answer == Answer::unknown_outcome)
          << to_string(answer);
      is_gone |= answer == Answer::disconnected;
    }
  });
  EXPECT_TRUE(is_gone);
}

// -------------------------------------------------------------------------------------------------

struct DrawnOperation {
  int kind = 0;  // 0, 1: PUT; 2: GET; 3: DELETE
  int key = 0;
  std::size_t value_bytes = 0;
};

void draw_architecture(ClusterOptions& cluster) {
  Options& options = cluster.options;
  options.architecture =
      *rc::gen::element(nessie::Architecture::client_driven, nessie::Architecture::server_driven,
                        nessie::Architecture::hybrid);
  if (options.is_client_driven()) return;
  options.cache_entries = 0;
  options.previous_versions = false;
  options.server_workers = *rc::gen::inRange(1U, 4U);
  options.slots_per_lock = *rc::gen::element<std::uint64_t>(1, 2, 64);
  options.arrival =
      *rc::gen::element(nessie::Arrival::checksum, nessie::Arrival::separate_flag_write,
                        nessie::Arrival::tail_in_address_order);
  const bool is_possible =
      cluster.simulation.address_order || options.arrival != nessie::Arrival::tail_in_address_order;
  if (!is_possible) options.arrival = nessie::Arrival::checksum;
}

ClusterOptions draw_cluster() {
  ClusterOptions cluster;
  Options& options = cluster.options;
  options.index_entries = *rc::gen::element<std::uint64_t>(2, 8, 64);
  options.ways = *rc::gen::inRange(1U, 4U);
  options.filter_bits = *rc::gen::inRange(0U, 8U);
  options.cache_entries = *rc::gen::element<std::uint64_t>(0, 2, 50);
  options.previous_versions = *rc::gen::arbitrary<bool>();
  options.multi_read = *rc::gen::arbitrary<bool>();
  options.lazy_marks = *rc::gen::arbitrary<bool>();
  options.emptied = *rc::gen::element(nessie::EmptyWord::constant, nessie::EmptyWord::keeps_dte);
  options.abort = *rc::gen::element(nessie::Abort::leave, nessie::Abort::restore);
  options.give_up_on_invalid =
      *rc::gen::element(nessie::GiveUpOnInvalid::same_key, nessie::GiveUpOnInvalid::any);
  for (const auto& safeguard : nessie::safeguard_descriptions) {
    options.safeguards.*safeguard.enabled = *rc::gen::arbitrary<bool>();
  }
  options.safeguards.expiration = true;
  options.safeguards.group_locks = true;
  cluster.simulation.address_order = *rc::gen::arbitrary<bool>();
  if (cluster.simulation.address_order && *rc::gen::arbitrary<bool>()) {
    options.completion = nessie::Completion::watermark;
  }
  draw_architecture(cluster);
  cluster.nodes = *rc::gen::inRange(1U, 4U);
  cluster.seed = *rc::gen::arbitrary<std::uint64_t>();
  return cluster;
}

// Notes the first difference between a client and a map. Assertions of rapidcheck are exceptions,
// which must not leave fibers.
class MapModel {
 public:
  const std::string& difference() const { return difference_; }

  void run(Client& client, const DrawnOperation& operation) {
    const nessie::Bytes key = bytes_of(std::to_string(operation.key));
    if (operation.kind < 2) {
      // No word of a value is a small number, for which a worker that waits for a tail could take
      // it (Arrival::tail_in_address_order).
      put(client, key, nessie::Bytes(operation.value_bytes, std::byte{128} | std::byte(++values_)));
    } else if (operation.kind == 2) {
      get(client, key);
    } else {
      remove(client, key);
    }
  }

 private:
  void expect(bool holds, const std::string& operation, Answer answer) {
    if (holds || !difference_.empty()) return;
    difference_ = operation + " answers " + std::string(to_string(answer));
  }
  // A DELETE inserts, too. Only a key that is not in the store needs a MIGRATE.
  bool is_refusal(Answer answer, const nessie::Bytes& key) const {
    return answer == Answer::out_of_memory || (answer == Answer::table_full && !map_.contains(key));
  }
  void get(Client& client, const nessie::Bytes& key) {
    const nessie::GetResult result = client.get(key);
    const auto found = map_.find(key);
    if (found == map_.end()) {
      expect(result.answer == Answer::not_found, "GET of an absent key", result.answer);
    } else {
      expect(result.answer == Answer::found && result.value == found->second,
             "GET of a key with " + std::to_string(found->second.size()) + " bytes", result.answer);
    }
  }
  void put(Client& client, const nessie::Bytes& key, const nessie::Bytes& value) {
    const Answer answer = client.put(key, value);
    if (is_refusal(answer, key)) return;
    expect(answer == Answer::stored, "PUT", answer);
    map_[key] = value;
  }
  void remove(Client& client, const nessie::Bytes& key) {
    const Answer answer = client.remove(key);
    if (is_refusal(answer, key)) return;
    expect(answer == (map_.contains(key) ? Answer::deleted : Answer::not_found), "DELETE", answer);
    map_.erase(key);
  }

  std::map<nessie::Bytes, nessie::Bytes> map_;
  std::uint8_t values_ = 0;
  std::string difference_;
};

// One node after the other, so that an operation is never disturbed.
RC_GTEST_PROP(NessieProperty, AloneEveryClientSeesAMap, ()) {
  const ClusterOptions options = draw_cluster();
  const auto operations =
      *rc::gen::container<std::vector<DrawnOperation>>(rc::gen::build<DrawnOperation>(
          rc::gen::set(&DrawnOperation::kind, rc::gen::inRange(0, 4)),
          rc::gen::set(&DrawnOperation::key, rc::gen::inRange(0, 8)),
          rc::gen::set(&DrawnOperation::value_bytes, rc::gen::inRange<std::size_t>(0, 33))));
  TestCluster cluster(options);
  MapModel model;
  std::size_t next = 0;
  cluster.run([&](std::uint32_t node, fabric::Host& host, Client& client) {
    while (next < operations.size()) {
      if (next % options.nodes == node) {
        model.run(client, operations[next]);
        client.mark_staged();
        ++next;
      } else {
        host.sleep_until(host.now_ns() + 5 * microsecond_ns);
      }
    }
  });
  RC_ASSERT(model.difference() == "");
  RC_ASSERT(cluster.problems() == "");
}

}  // namespace
}  // namespace falafel::nessie_test
