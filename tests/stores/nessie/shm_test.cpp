// Nessie's three versions on shared memory, with real threads: each is a node and its client. Their
// histories on few keys are linearizable, while data table entries are used again and keys migrate.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/sanitizers.h"
#include "stores/nessie/client.h"
#include "stores/nessie/invariants.h"
#include "stores/nessie/node.h"
#include "tests/stores/load/nessie_client.h"
#include "tests/stores/load/shared_memory.h"

namespace falafel::nessie_test {
namespace {

using nessie::Answer;
using nessie::Architecture;
using nessie::Client;
using nessie::Node;
using stores_test::millisecond_ns;

nessie::Options small_options(Architecture architecture = Architecture::client_driven) {
  nessie::Options options = nessie::Options::hardened(architecture);
  options.index_entries = 4;
  options.data_entries = 64;
  options.most_key_bytes = 8;
  options.most_value_bytes = 64;
  // An operation must end within it, also where a busy machine interrupts it: otherwise all
  // attempts answer `busy`.
  options.expiration_ns = 100 * millisecond_ns;
  options.clock_error_ns = 10'000;
  options.acknowledge_timeout_ns = 10 * millisecond_ns;
  return options;
}

class NessieOnSharedMemory : public stores_test::SharedMemory {
 protected:
  void run(const nessie::Options& options) {
    nodes_.resize(clients);
#ifdef FALAFEL_THREAD_SANITIZER
    load_.operations = 2'000;
#else
    load_.operations = 10'000;  // they take microseconds, so few of them overlap
#endif
    expected_answers_.insert({Answer::busy, Answer::out_of_memory});
    run_peers([&](fabric::Host& host, std::uint32_t number) { work(host, options, number); });
    EXPECT_GT(most_uses_, 1U);
  }

  void work(fabric::Host& host, const nessie::Options& options, std::uint32_t number) {
    const auto node = Node::start(host, number, clients, options).value();
    std::vector<fabric::Address> addresses;
    for (std::uint32_t peer = 0; peer < clients; ++peer) {
      addresses.push_back({.host = "peer-" + std::to_string(peer), .service = options.service});
    }
    auto client = Client::connect(host, *node, addresses, options);
    meet(host);
    if (client) {
      operate(host, stores_test::NessieClient(host, **client), number);
      (*client)->mark_staged();
      note(**client);
    } else {
      ADD_FAILURE() << client.error().detail;
    }
    nodes_[number] = node->inspect();
    meet(host);
    if (number == 0) judge_memory(options);
    meet(host);
  }

  void note(const Client& client) {
    const std::lock_guard lock(mutex_);
    cache_hits_ += client.statistics().cache_hits;
    migrations_ += client.statistics().migrations;
    requests_ += client.statistics().requests;
    index_reads_ += client.statistics().index_reads;
  }

  // While all nodes are there and no client does anything.
  void judge_memory(const nessie::Options& options) {
    std::vector<nessie::NodeInspection> nodes;
    for (auto& node : nodes_) nodes.push_back(*std::exchange(node, std::nullopt));
    EXPECT_EQ(nessie::find_problems(nodes, options, {}), std::vector<std::string>());
    for (const nessie::NodeInspection& node : nodes) {
      for (const nessie::EntryBook& book : *node.books)
        most_uses_ = std::max(most_uses_, book.uses);
    }
  }

  std::vector<std::optional<nessie::NodeInspection>> nodes_;
  std::uint64_t most_uses_ = 0;  // of one entry
  std::uint64_t cache_hits_ = 0;
  std::uint64_t migrations_ = 0;
  std::uint64_t requests_ = 0;     // to other nodes
  std::uint64_t index_reads_ = 0;  // by clients
};

TEST_F(NessieOnSharedMemory, OperationsAreLinearizable) {
  load_.keys = 2;
  nessie::Options options = small_options();
  options.cache_entries = 0;
  run(options);
  EXPECT_EQ(cache_hits_, 0U);
}

TEST_F(NessieOnSharedMemory, OperationsOnCachedEntriesAreLinearizable) {
  load_.keys = 2;
  run(small_options());
  EXPECT_GT(cache_hits_, 0U);
}

TEST_F(NessieOnSharedMemory, MigrationsAreLinearizable) {
  nessie::Options options = small_options();
  options.index_entries = 3;  // nine slots for eight keys
  expected_answers_.insert(Answer::table_full);
  run(options);
  EXPECT_GT(migrations_, 0U);
}

TEST_F(NessieOnSharedMemory, OperationsOfWorkersAreLinearizable) {
  expected_answers_.insert(Answer::table_full);
  run(small_options(Architecture::server_driven));
  EXPECT_GT(requests_, 0U);
  EXPECT_EQ(index_reads_, 0U);
}

TEST_F(NessieOnSharedMemory, OperationsOfWorkersAndReadsOfClientsAreLinearizable) {
  expected_answers_.insert(Answer::table_full);
  run(small_options(Architecture::hybrid));
  EXPECT_GT(requests_, 0U);
  EXPECT_GT(index_reads_, 0U);
}

}  // namespace
}  // namespace falafel::nessie_test
