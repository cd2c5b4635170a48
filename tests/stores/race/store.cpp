#include "tests/stores/race/store.h"

#include "fabric/sim/strategies/make_strategy.h"
#include "stores/race/invariants.h"

namespace falafel::race_test {

race::Options small_options() {
  race::Options options;
  options.groups_per_subtable = 16;
  options.initial_depth = 1;
  options.most_depth = 4;
  options.heap_bytes = 256 << 10;
  options.segment_bytes = 4'096;
  options.most_block_bytes = 512;
  options.hash_seed = 7;
  options.max_clients = 8;
  options.longest_back_off_ns = 2 * microsecond_ns;
  options.server_timeout_ns = 20 * millisecond_ns;
  options.acknowledge_timeout_ns = 100 * microsecond_ns;
  options.check_interval_ns = 50 * microsecond_ns;
  options.reconnect_pause_ns = 5 * microsecond_ns;
  return options;
}

std::string describe(const StoreRun& run) {
  std::string text;
  for (const std::string& problem : run.problems) text += problem + "\n";
  return text;
}

TestStore::TestStore(const StoreOptions& options)
    : options_(options),
      strategy_(sim::make_strategy(options.simulation, options.seed)),
      simulation_(std::make_unique<sim::Simulation>(options_.simulation, *strategy_, stacks_)) {
  simulation_->add_host({.name = "server", .role = sim::Role::server},
                        [this](fabric::Host& host) { serve(host); });
}

TestStore::~TestStore() = default;

void TestStore::add_client(ClientBody body) {
  ++unfinished_;
  simulation_->add_host({.name = "client " + std::to_string(clients_++)},
                        [this, body = std::move(body)](fabric::Host& host) {
                          while (!has_served_)
                            host.sleep_until(host.now_ns() + 10 * microsecond_ns);
                          auto client = race::Client::connect(
                              host, {.host = "server", .service = options_.options.service},
                              options_.options);
                          if (client) {
                            body(host, **client);
                          } else {
                            run_.problems.push_back("no connection: " + client.error().detail);
                          }
                          --unfinished_;
                        });
}

void TestStore::serve(fabric::Host& host) {
  auto node = race::MemoryNode::start(host, options_.options);
  has_served_ = true;
  if (!node) return run_.problems.push_back("no node: " + node.error().detail);
  node_ = std::move(*node);
  while (unfinished_ > 0) host.sleep_until(host.now_ns() + 100 * microsecond_ns);
  if (node_ == nullptr) return;
  run_.node = node_->inspect();
  for (const std::string& problem : race::find_problems(run_.node)) {
    run_.problems.push_back(problem);
  }
  node_.reset();
}

StoreRun TestStore::run() {
  run_.result = simulation_->run();
  if (run_.result.outcome != sim::Outcome::completed) {
    run_.problems.push_back("the run ended as " + std::string(to_string(run_.result.outcome)) +
                            ": " + run_.result.explanation);
  }
  return std::move(run_);
}

StoreRun run_client(const StoreOptions& options, const ClientBody& body) {
  TestStore store(options);
  store.add_client(body);
  return store.run();
}

}  // namespace falafel::race_test
