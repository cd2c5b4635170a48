#include "tests/stores/pilaf/store.h"

#include <cstring>

#include "fabric/sim/strategies/make_strategy.h"
#include "stores/pilaf/invariants.h"

namespace falafel::pilaf_test {

pilaf::Options small_options() {
  pilaf::Options options;
  options.table_entries = 64;
  options.extents_bytes = 4'096;
  options.largest_request_bytes = 512;
  options.log_bytes = 64 << 10;
  options.log_delay_ns = 20 * microsecond_ns;
  options.max_clients = 8;
  options.hash_seed = 7;
  options.server_timeout_ns = 20 * millisecond_ns;
  options.flush_timeout_ns = 2 * millisecond_ns;
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
  simulation_->add_host({.name = "server",
                         .role = sim::Role::server,
                         .max_registrations = options_.server_max_registrations},
                        [this](fabric::Host& host) { serve(host); });
}

TestStore::~TestStore() = default;

fabric::Address TestStore::address() const {
  return {.host = "server", .service = options_.options.service};
}

void TestStore::damage_entry(std::uint64_t slot) {
  const std::uint64_t at = pilaf::Geometry::entry_offset(slot) + offsetof(pilaf::Entry, entry_crc);
  server_->memory().bytes()[at] ^= std::byte{1};
}

void TestStore::damage_extent(std::uint64_t slot) {
  const std::span<std::byte> bytes = server_->memory().bytes();
  pilaf::Entry entry;
  std::memcpy(&entry, bytes.data() + pilaf::Geometry::entry_offset(slot), sizeof entry);
  bytes[server_->geometry().extent_offset(entry.pointer()) + entry.extent_bytes - 1] ^=
      std::byte{1};
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
             auto client = pilaf::Client::connect(host, address(), options_.options);
             if (!client) return run_.problems.push_back("no connection: " + client.error().detail);
             body(host, **client);
           });
}

void TestStore::serve(fabric::Host& host) {
  server_.reset();  // of the process before
  auto server = pilaf::Server::start(host, options_.options);
  has_served_ = true;
  if (!server) return run_.problems.push_back("no server: " + server.error().detail);
  server_ = std::move(*server);
  while (unfinished_ > 0) host.sleep_until(host.now_ns() + 100 * microsecond_ns);
  if (server_ == nullptr) return;
  run_.server = server_->inspect();
  for (const std::string& problem : pilaf::find_problems(run_.server)) {
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

}  // namespace falafel::pilaf_test
