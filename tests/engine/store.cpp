#include "tests/engine/store.h"

#include <fmt/format.h>

#include <span>

#include "fabric/at_end.h"
#include "fabric/sim/strategies/make_strategy.h"

namespace falafel::engine_test {

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string describe(const StoreRun& run) {
  std::string text = fmt::format("{} problems", run.problems.size());
  for (const std::string& problem : run.problems) text += "\n  " + problem;
  return text;
}

TestStore::TestStore(const StoreOptions& options, fabric::FiberStackPool& stacks)
    : options_(options), strategy_(sim::make_strategy(options.simulation, options.seed)) {
  simulation_ = std::make_unique<sim::Simulation>(options.simulation, *strategy_, stacks);
  simulation_->add_host({.name = "server",
                         .role = sim::Role::server,
                         .max_registrations = options.server_max_registrations,
                         .destruction_drains = options.server_destruction_drains},
                        [this](fabric::Host& host) { serve(host); });
}

TestStore::~TestStore() = default;

void TestStore::require(bool condition, std::string_view problem) {
  if (!condition) run_.problems.emplace_back(problem);
}

fabric::Address TestStore::address() const {
  return {.host = "server", .service = options_.server.service};
}

fabric::Result<std::unique_ptr<Client>> TestStore::connect(fabric::Host& host) const {
  return Client::connect(host, address(), options_.client);
}

void TestStore::add_client(ClientBody body) {
  add_host(fmt::format("client {}", client_count_++), [this, body](fabric::Host& host) {
    const auto client = connect(host);
    if (!client) {
      require(false, fmt::format("{} cannot connect: {}", host.name(), client.error().detail));
      return;
    }
    body(host, **client);
  });
}

void TestStore::add_host(const std::string& name, HostBody body) {
  ++unfinished_bodies_;
  simulation_->add_host({.name = name,
                         .device_count = options_.client_device_count,
                         .max_registrations = options_.client_max_registrations,
                         .max_queue_requests = options_.client_max_queue_requests},
                        [this, body](fabric::Host& host) { run_body(host, body); });
}

void TestStore::run_body(fabric::Host& host, const HostBody& body) {
  const fabric::AtEnd count_down([this] { --unfinished_bodies_; });
  while (!has_served_) host.sleep_until(host.now_ns() + 10 * microsecond_ns);
  body(host);
}

void TestStore::serve(fabric::Host& host) {
  auto server = Server::start(host, options_.server);
  has_served_ = true;
  if (!server) {
    require(false, "the server does not start: " + server.error().detail);
    return;
  }
  const fabric::AtEnd forget([this] { server_ = nullptr; });
  server_ = server->get();
  wait_for_bodies(host);
  wait_until_idle(host);
  run_.inspection = server_->inspect();
  run_.state = read_final_state(server_->memory().bytes(), server_->geometry(), server_->hash_key(),
                                run_.inspection);
}

void TestStore::wait_for_bodies(fabric::Host& host) {
  while (unfinished_bodies_ > 0) host.sleep_until(host.now_ns() + 100 * microsecond_ns);
}

// The clients have left; the server notices at the latest after their heartbeat time-out.
void TestStore::wait_until_idle(fabric::Host& host) {
  constexpr int patience = 20;  // in quarters of the time-out
  engine::ServerInspection inspection;
  for (int attempt = 0; attempt < patience; ++attempt) {
    inspection = server_->inspect();
    if (inspection.idle && inspection.statistics.clients_connected == 0) return;
    host.sleep_until(host.now_ns() + options_.server.heartbeat_timeout_ns / 4);
  }
  std::string text = "all clients are gone, but the server is not idle:";
  text += fmt::format(" {} clients connected, regions in states",
                      inspection.statistics.clients_connected);
  for (const engine::RegionInspection& region : inspection.regions) {
    text += fmt::format(" {}", static_cast<int>(region.state));
  }
  for (const engine::MatureSpaceInspection& space : inspection.mature_spaces) {
    text += fmt::format(", {}mature space of {} bytes{}", space.active ? "active " : "",
                        space.used_bytes, space.waiting ? " waits" : "");
  }
  require(false, text);
}

StoreRun TestStore::run() {
  run_.result = simulation_->run();
  if (run_.result.outcome != sim::Outcome::completed) {
    require(false, fmt::format("the run ended as {}: {}", to_string(run_.result.outcome),
                               run_.result.explanation));
  }
  if (!run_.result.uncommitted_use.empty()) require(false, run_.result.uncommitted_use);
  run_.problems.insert(run_.problems.end(), run_.state.problems.begin(), run_.state.problems.end());
  return std::move(run_);
}

}  // namespace falafel::engine_test
