#include "tests/stores/nessie/cluster.h"

#include <utility>

#include "fabric/sim/strategies/make_strategy.h"
#include "stores/nessie/invariants.h"

namespace falafel::nessie_test {

nessie::Options small_options() {
  nessie::Options options;
  options.index_entries = 64;
  options.data_entries = 64;
  options.most_key_bytes = 16;
  options.most_value_bytes = 32;
  options.hash_seed = 7;
  options.expiration_ns = 10'000 * microsecond_ns;
  options.clock_error_ns = 10 * microsecond_ns;
  options.acknowledge_timeout_ns = 1'000 * microsecond_ns;
  options.retry_count = 1;
  return options;
}

TestCluster::TestCluster(const ClusterOptions& options)
    : options_(options),
      strategy_(sim::make_strategy(options.simulation, options.seed)),
      simulation_(std::make_unique<sim::Simulation>(options_.simulation, *strategy_, stacks_)),
      nodes_(options.nodes) {
  for (std::uint32_t number = 0; number < options_.nodes; ++number) {
    simulation_->add_host({.name = name(number), .role = sim::Role::node},
                          [this, number](fabric::Host& host) { start(host, number); });
  }
}

TestCluster::~TestCluster() = default;

void TestCluster::start(fabric::Host& host, std::uint32_t number) {
  host.spawn({.name = "node", .daemon = true}, [this, &host, number] { serve(host, number); });
  while (nodes_[number].node == nullptr) host.sleep_until(host.now_ns() + microsecond_ns);
  const auto client = connect_another(host, number);
  if (client == nullptr) return;
  body_(number, host, *client);
  client->mark_staged();
}

std::unique_ptr<nessie::Client> TestCluster::connect_another(fabric::Host& host,
                                                             std::uint32_t number) {
  std::vector<fabric::Address> addresses;
  for (std::uint32_t other = 0; other < options_.nodes; ++other) {
    addresses.push_back({.host = name(other), .service = options_.options.service});
  }
  auto client = nessie::Client::connect(host, *nodes_[number].node, addresses, options_.options);
  if (client) return std::move(*client);
  problems_ += "no client: " + client.error().detail + "\n";
  return nullptr;
}

// The node outlives all bodies, because other nodes use its memory.
void TestCluster::serve(fabric::Host& host, std::uint32_t number) {
  Place& place = nodes_[number];
  const struct Owner {
    Place& owned;
    ~Owner() { owned.node.reset(); }
  } owner{place};
  place.node = nessie::Node::start(host, number, options_.nodes, options_.options).value();
  place.memory = place.node->inspect();
  host.sleep_until(fabric::never_ns);
}

void TestCluster::run(Body body) {
  body_ = std::move(body);
  const sim::RunResult result = simulation_->run();
  if (result.outcome != sim::Outcome::completed) {
    problems_ += "the run ended as " + std::string(to_string(result.outcome)) + ": " +
                 result.explanation + "\n";
    return;
  }
  std::vector<nessie::NodeInspection> memories;
  for (const Place& place : nodes_) memories.push_back(*place.memory);
  for (const auto& problem : nessie::find_problems(memories, options_.options, {})) {
    problems_ += problem + "\n";
  }
}

std::string TestCluster::problems() const { return problems_; }

}  // namespace falafel::nessie_test
