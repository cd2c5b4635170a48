// The hosts of a scenario: a server, and clients that do what is planned.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkers/history.h"
#include "checkers/judgement.h"
#include "engine/client/client.h"
#include "engine/server/server.h"
#include "fabric/sim/simulation.h"
#include "tools/store_scenario/operation_watcher.h"
#include "tools/store_scenario/run.h"
#include "tools/store_scenario/scenario.h"

namespace falafel::store_scenario {

std::string key_name(std::uint32_t key);
std::string client_name(std::size_t client);

class StoreWorld {
 public:
  // `listener` may be null.
  StoreWorld(const Scenario& scenario, RunListener* listener);
  // Before the run, which the watcher outlives; there must be one.
  void watch_operations(OperationWatcher& watcher) { watcher_ = &watcher; }
  // Before its run; it outlives the run.
  void add_hosts(sim::Simulation& simulation);
  static constexpr std::uint32_t server_host = 0;  // its number in the simulation; clients follow
  // By its number in the simulation. A client that had not begun is over as well.
  void on_host_died(std::uint32_t host);

  // While it runs, and after: null if the server is not there.
  const engine::Server* server() const { return server_; }
  engine::Server* server() { return server_; }
  std::uint64_t completed_operations() const { return completed_; }
  std::uint64_t unfinished_operations() const;  // of clients that are not stopped for good
  bool is_server_stopped() const;               // for good
  std::uint64_t steps() const { return simulation_->steps(); }
  void stop() { simulation_->stop(); }
  std::optional<fabric::FiberId> running_fiber() const { return simulation_->running_fiber(); }

  // After the run. Operations on different lives of the server have different histories.
  std::map<std::uint64_t, checkers::History>& histories() { return histories_; }
  std::uint64_t next_time() { return ++time_; }
  // Judged at the end, when the server was idle: table, collector; and the answers that clients got.
  const std::vector<checkers::Judgement>& violations() const { return violations_; }

 private:
  // What is left of a client's plan.
  struct ClientProgress {
    std::size_t next = 0;
    std::uint64_t unfinished = 0;                    // operations
    std::size_t goodbyes = 0;                        // that were said
    std::optional<std::size_t> said_goodbye_before;  // the last one: before which operation
    bool over = false;
  };

  std::shared_ptr<engine::Server> start_server(fabric::Host& host) const;
  void serve(fabric::Host& host);
  void ask_for_cleanups(fabric::Host& host, engine::Server& server);
  bool is_client_stopped(std::size_t client) const;
  bool are_clients_over() const;
  bool are_faults_over() const;
  void wait_until_idle(fabric::Host& host);
  void judge_memory();

  void run_client(fabric::Host& host, std::uint32_t client);
  std::unique_ptr<engine::Client> connect(fabric::Host& host, std::uint32_t client);
  void run_operations(fabric::Host& host, std::uint32_t client, engine::Client& connection);
  void run_fiber(fabric::Host& host, std::uint32_t client, engine::Client& connection);
  bool is_goodbye_due(std::uint32_t client) const;
  // Nothing if it was cancelled.
  std::optional<engine::Answer> execute_planned(fabric::Host& host, std::uint32_t client,
                                                std::size_t index, engine::Client& connection);
  engine::Answer execute(fabric::Host& host, std::uint32_t client, std::size_t index,
                         engine::Client& connection);
  engine::ServerOptions server_options() const;
  engine::ClientOptions client_options(std::uint32_t client) const;

  const Scenario& scenario_;
  RunListener* listener_;
  OperationWatcher* watcher_ = nullptr;
  sim::Simulation* simulation_ = nullptr;
  engine::Server* server_ = nullptr;
  std::vector<ClientProgress> clients_;
  std::map<std::uint64_t, checkers::History> histories_;  // by the server's incarnation
  std::vector<checkers::Judgement> violations_;
  std::uint64_t time_ = 0;
  std::uint64_t completed_ = 0;
};

}  // namespace falafel::store_scenario
