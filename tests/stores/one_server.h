// A store in the simulator for tests: one server, any number of clients, and the server's memory at
// the end. Types names the Options, Server, Client and Inspection of the store, and has functions
// small_options and find_problems. With OneServer<Types> as TestStore, a test looks so:
//
//   TestStore store({.options = {...}});
//   store.add_client([&](fabric::Host&, Client& client) { client.set(...); });
//   const StoreRun run = store.run();
//   EXPECT_EQ(describe(run), "");
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "fabric/time_units.h"

namespace falafel::stores_test {

template <typename Types>
struct StoreOptions {
  typename Types::Options options = Types::small_options();
  sim::SimulationOptions simulation{};
  std::size_t server_max_registrations = sim::HostOptions::without_limit;
  std::uint64_t seed = 1;
};

template <typename Types>
struct StoreRun {
  sim::RunResult result;
  typename Types::Inspection server;  // when all clients have returned
  std::vector<std::string> problems;  // of the run and of the server's memory
};

// All problems, one per line; empty if there are none.
template <typename Types>
std::string describe(const StoreRun<Types>& run) {
  std::string text;
  for (const std::string& problem : run.problems) text += problem + "\n";
  return text;
}

template <typename Types>
class OneServer {
 public:
  using Server = typename Types::Server;
  using Client = typename Types::Client;
  using ClientBody = std::function<void(fabric::Host&, Client&)>;

  explicit OneServer(const StoreOptions<Types>& options)
      : options_(options),
        strategy_(sim::make_strategy(options.simulation, options.seed)),
        simulation_(options_.simulation, *strategy_, stacks_) {
    simulation_.add_host({.name = "server",
                          .role = sim::Role::server,
                          .max_registrations = options_.server_max_registrations},
                         [this](fabric::Host& host) { serve(host); });
  }
  virtual ~OneServer() = default;
  OneServer(const OneServer&) = delete;
  OneServer& operator=(const OneServer&) = delete;

  // A host that waits for the server.
  void add_host(const std::string& name, std::function<void(fabric::Host&)> body) {
    ++unfinished_;
    simulation_.add_host({.name = name}, [this, body = std::move(body)](fabric::Host& host) {
      while (!has_served_) host.sleep_until(host.now_ns() + 10 * fabric::microsecond_ns);
      body(host);
      --unfinished_;
    });
  }
  // A client that waits for the server and connects.
  void add_client(ClientBody body) {
    add_host("client " + std::to_string(clients_++),
             [this, body = std::move(body)](fabric::Host& host) {
               auto client = Client::connect(host, address(), options_.options);
               if (!client)
                 return run_.problems.push_back("no connection: " + client.error().detail);
               body(host, **client);
             });
  }
  StoreRun<Types> run() {
    run_.result = simulation_.run();
    if (run_.result.outcome != sim::Outcome::completed) {
      run_.problems.push_back("the run ended as " + std::string(to_string(run_.result.outcome)) +
                              ": " + run_.result.explanation);
    }
    return std::move(run_);
  }

  sim::Simulation& simulation() { return simulation_; }
  Server& server() { return *server_; }
  // Its host goes on: its device still answers one-sided requests and takes messages.
  void stop_server() { server_.reset(); }
  // Stops the server, and waits for another one of the same host. Called by a client.
  void restart_server(fabric::Host& host) {
    server_.reset();
    is_to_restart_ = true;
    while (server_ == nullptr) host.sleep_until(host.now_ns() + 10 * fabric::microsecond_ns);
  }
  fabric::Address address() const {
    return {.host = "server", .service = options_.options.service};
  }

 protected:
  virtual fabric::Result<std::unique_ptr<Server>> start(fabric::Host& host) {
    return Server::start(host, options_.options);
  }
  const StoreOptions<Types>& options() const { return options_; }

 private:
  void serve(fabric::Host& host) {
    server_.reset();  // of the process before
    auto server = start(host);
    has_served_ = true;
    if (!server) return run_.problems.push_back("no server: " + server.error().detail);
    server_ = std::move(*server);
    while (unfinished_ > 0) {
      if (is_to_restart_) restart(host);
      host.sleep_until(host.now_ns() + 100 * fabric::microsecond_ns);
    }
    if (server_ == nullptr) return;
    run_.server = server_->inspect();
    for (const std::string& problem : Types::find_problems(run_.server)) {
      run_.problems.push_back(problem);
    }
    server_.reset();
  }
  // The address of a server that has just ended may still be in use.
  void restart(fabric::Host& host) {
    auto server = start(host);
    if (!server) return;
    server_ = std::move(*server);
    is_to_restart_ = false;
  }

  StoreOptions<Types> options_;
  fabric::FiberStackPool stacks_;
  std::unique_ptr<sim::Strategy> strategy_;
  sim::Simulation simulation_;
  std::unique_ptr<Server> server_;
  bool has_served_ = false;
  bool is_to_restart_ = false;
  std::size_t clients_ = 0;
  std::size_t unfinished_ = 0;
  StoreRun<Types> run_;
};

}  // namespace falafel::stores_test
