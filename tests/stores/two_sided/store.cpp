#include "tests/stores/two_sided/store.h"

#include "fabric/sim/strategies/make_strategy.h"
#include "stores/two_sided/invariants.h"

namespace falafel::two_sided_test {

two_sided::Options small_options() {
  two_sided::Options options;
  options.safeguards = two_sided::Safeguards::hardened();
  options.waiting = two_sided::Waiting::blocking;
  options.buckets = 4;
  options.max_clients = 4;
  options.connect_timeout_ns = 20 * millisecond_ns;
  options.server_timeout_ns = 5 * millisecond_ns;
  options.close_timeout_ns = millisecond_ns;
  options.repetition_interval_ns = 50 * microsecond_ns;
  options.acknowledge_timeout_ns = 100 * microsecond_ns;
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

fabric::Address TestStore::address() const {
  return {.host = "server", .service = options_.options.service};
}

void TestStore::await_server(fabric::Host& host) const {
  while (!has_served_) host.sleep_until(host.now_ns() + 10 * microsecond_ns);
}

void TestStore::add_host(const std::string& name, std::function<void(fabric::Host&)> body) {
  ++unfinished_;
  simulation_->add_host({.name = name}, [this, body = std::move(body)](fabric::Host& host) {
    await_server(host);
    body(host);
    --unfinished_;
  });
}

void TestStore::add_client(ClientBody body) {
  add_host("client " + std::to_string(clients_++),
           [this, body = std::move(body)](fabric::Host& host) {
             auto client = two_sided::Client::connect(host, address(), options_.options);
             if (!client) return run_.problems.push_back("no connection: " + client.error().detail);
             body(host, **client);
           });
}

void TestStore::serve(fabric::Host& host) {
  auto server = two_sided::Server::start(host, options_.options);
  has_served_ = true;
  if (!server) return run_.problems.push_back("no server: " + server.error().detail);
  server_ = std::move(*server);
  while (unfinished_ > 0) host.sleep_until(host.now_ns() + 100 * microsecond_ns);
  if (server_ == nullptr) return;
  run_.server = server_->inspect();
  for (const std::string& problem : two_sided::find_problems(run_.server)) {
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

}  // namespace falafel::two_sided_test
