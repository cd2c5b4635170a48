#include "tests/stores/c_hint/store.h"

#include "fabric/sim/strategies/make_strategy.h"
#include "stores/c_hint/invariants.h"

namespace falafel::c_hint_test {

c_hint::Options small_options() {
  c_hint::Options options;
  options.items_bytes = 1'024;
  options.largest_message_bytes = 512;
  options.container_bytes = 256;
  options.max_clients = 8;
  options.unit_of_empty_memory_ns = 10 * millisecond_ns;
  options.unit_of_full_memory_ns = 10 * millisecond_ns;
  options.report_interval_ns = 0;
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
      strategy_(sim::make_strategy({}, options.seed)),
      simulation_(
          std::make_unique<sim::Simulation>(sim::SimulationOptions{}, *strategy_, stacks_)) {
  simulation_->add_host({.name = "server", .role = sim::Role::server},
                        [this](fabric::Host& host) { serve(host); });
}

TestStore::~TestStore() = default;

void TestStore::add_client(ClientBody body) {
  ++unfinished_;
  simulation_->add_host({.name = "client " + std::to_string(clients_++)},
                        [this, body = std::move(body)](fabric::Host& host) {
                          while (server_ == nullptr)
                            host.sleep_until(host.now_ns() + 10 * microsecond_ns);
                          auto client = c_hint::Client::connect(
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

void TestStore::restart_server(fabric::Host& host) {
  server_.reset();
  while (server_ == nullptr) host.sleep_until(host.now_ns() + 10 * microsecond_ns);
}

// The address of a server that has just ended may still be in use.
void TestStore::start_server(fabric::Host& host) {
  c_hint::MapBackend* const backend = options_.has_backend ? &backend_ : nullptr;
  auto server = c_hint::Server::start(host, options_.options, backend);
  if (server) server_ = std::move(*server);
}

void TestStore::serve(fabric::Host& host) {
  while (unfinished_ > 0) {
    if (server_ == nullptr) start_server(host);
    host.sleep_until(host.now_ns() + 100 * microsecond_ns);
  }
  run_.server = server_->inspect();
  for (const std::string& problem : c_hint::find_problems(run_.server)) {
    run_.problems.push_back(problem);
  }
  server_.reset();
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

}  // namespace falafel::c_hint_test
