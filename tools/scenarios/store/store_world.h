// The hosts of a scenario: a server, and clients that execute their plans.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/history.h"
#include "checkers/judgement.h"
#include "checkers/key_scans.h"
#include "checkers/memory_view.h"
#include "engine/client/client.h"
#include "engine/client/key_and_value.h"
#include "engine/server/server.h"
#include "fabric/sim/simulation.h"
#include "tools/scenarios/store/attacked_slots.h"
#include "tools/scenarios/store/hostile_party.h"
#include "tools/scenarios/store/operation_watcher.h"
#include "tools/scenarios/store/run_listener.h"
#include "tools/scenarios/store/scenario.h"
#include "tools/scenarios/store/set_many_calls.h"

namespace falafel::store_scenario {

std::string key_name(std::uint32_t key);
std::string client_name(std::size_t client);
// All hosts but the server, in their order: the hostile client, if there is one, is the last.
std::vector<std::string> client_hosts(const Scenario& scenario);

// In the simulator's time.
struct OperationTimes {
  std::uint64_t call_ns = 0;
  std::uint64_t return_ns = fabric::never_ns;  // never_ns: it has not returned
  std::uint64_t time_to_live_ns = 0;           // set; 0: the value does not expire
};

class StoreWorld {
 public:
  // `listener` may be null.
  StoreWorld(const Scenario& scenario, RunListener* listener);
  // Call before the run. The watcher is required and must outlive the run.
  void watch_operations(OperationWatcher& watcher) { watcher_ = &watcher; }
  // Call before the simulation's run, which this object must outlive.
  void add_hosts(sim::Simulation& simulation);
  // host number of the server in the simulation; clients follow, the hostile one last
  static constexpr std::uint32_t server_host = 0;
  // The host with that number crashed. The work of a client that had not begun is also over.
  void on_host_died(std::uint32_t host);

  // The server during and after the run; null if there is none.
  const engine::Server* server() const { return server_; }
  engine::Server* server() { return server_; }
  // Each visit of a scan counts as one.
  std::uint64_t completed_operations() const { return completed_; }
  std::uint64_t unfinished_operations() const;  // of clients that are not stopped for good
  bool is_server_stopped() const;               // permanently
  std::uint64_t steps() const { return simulation_->steps(); }
  void stop() { simulation_->stop(); }
  // Tells an exhaustive exploration what the running step judges (judged_objects.h).
  void touch(std::uint32_t object, sim::Access access) { simulation_->touch(object, access); }
  std::optional<fabric::FiberId> running_fiber() const { return simulation_->running_fiber(); }
  std::optional<std::uint32_t> peer_of(std::uint32_t queue_pair) const {
    return simulation_->peer_of(queue_pair);
  }

  AttackedSlots& attacked() { return attacked_; }
  // Times that the hostile client was connected.
  std::uint64_t hostile_connections() const { return hostile_.connections(); }

  // Call after the run. Operations on different runs of the server have separate histories.
  std::map<std::uint64_t, checkers::History>& histories() { return histories_; }
  // When the operations of that history ran, in their order.
  const std::vector<OperationTimes>& times(std::uint64_t incarnation) {
    return times_[incarnation];
  }
  // The scans that belong to that history.
  const std::deque<checkers::KeyScan>& scans(std::uint64_t incarnation) {
    return scans_[incarnation];
  }
  std::uint64_t next_call_time();
  std::uint64_t next_return_time();
  std::uint64_t last_time() const { return time_; }  // of a call or a return
  // Judgements at the end with the server idle: table, collector, and the clients' answers.
  const std::vector<checkers::Judgement>& violations() const { return violations_; }

 private:
  static constexpr std::uint16_t service = 7;

  // The remaining part of a client's plan.
  struct ClientProgress {
    std::size_t next = 0;
    std::uint64_t unfinished = 0;  // operations
    std::size_t goodbyes = 0;      // number of goodbyes sent
    // the operation before which the last goodbye was sent
    std::optional<std::size_t> said_goodbye_before;
    bool over = false;
  };

  std::shared_ptr<engine::Server> start_server(fabric::Host& host) const;
  void place_keyless_entries(engine::Server& server) const;
  void serve(fabric::Host& host);
  void set_wall_clock(const fabric::Host& host, std::uint32_t client) const;
  void wait_for_stage(fabric::Host& host) const;
  void pause_clients(fabric::Host& host) const;
  void ask_for_cleanups(fabric::Host& host, engine::Server& server);
  void note_missing_cleanup();
  bool is_client_stopped(std::size_t client) const;
  bool is_hostile_stopped() const;
  bool may_clients_stop() const;
  bool are_clients_over() const;
  bool are_faults_over() const;
  engine::ServerInspection inspect() const;
  void end_slow_landing();
  void wait_until_idle(fabric::Host& host);
  void wait_for_repair(fabric::Host& host);
  checkers::MemoryView view(const engine::ServerBooks& books) const;
  std::vector<checkers::Judgement> judgements_at_rest(const checkers::MemoryView& memory) const;
  void judge_memory(fabric::Host& host);
  std::map<std::string, std::string> read_values(fabric::Host& host,
                                                 const checkers::MemoryView& view) const;
  void run_hostile_client(fabric::Host& host);

  void run_client(fabric::Host& host, std::uint32_t client);
  std::unique_ptr<engine::Client> connect(fabric::Host& host, std::uint32_t client);
  void prepare(fabric::Host& host, std::uint32_t client, engine::Client& connection);
  void run_operations(fabric::Host& host, std::uint32_t client, engine::Client& connection);
  void say_goodbye(std::uint32_t client, engine::Client& connection);
  void run_fiber(fabric::Host& host, std::uint32_t client, engine::Client& connection);
  std::size_t end_of_batch(std::uint32_t client, std::size_t first) const;
  bool is_goodbye_due(std::uint32_t client) const;
  // Returns nullopt if the operation was cancelled.
  std::optional<engine::Answer> execute_planned(fabric::Host& host, std::uint32_t client,
                                                std::size_t index, engine::Client& connection);
  // The same for the batch that begins with this operation. Returns the answer of one that found
  // the connection broken, if any.
  std::optional<engine::Answer> execute_batch(fabric::Host& host, std::uint32_t client,
                                              std::size_t first, std::size_t count,
                                              engine::Client& connection);
  // `place` is a client or a batch of it; `incarnation` is that of its server.
  template <typename Place>
  engine::Answer execute(fabric::Host& host, std::uint32_t client, const PlannedOperation& planned,
                         const std::string& value, Place& place, std::uint64_t incarnation);
  template <typename Place>
  OperationResult execute_called(fabric::Host& host, std::size_t operation,
                                 std::uint64_t time_to_live_ns, Place& place,
                                 std::uint64_t incarnation);
  // The same for SETs that are one call of set_many().
  std::optional<engine::Answer> execute_many(fabric::Host& host, std::uint32_t client,
                                             std::size_t first, std::size_t count,
                                             engine::Client& connection);
  engine::Answer call_set_many(fabric::Host& host, std::uint32_t client, std::size_t first,
                               std::span<const engine::KeyAndValue> pairs,
                               engine::Client& connection);
  // An operation of the history begins on the running fiber, ends there, or is cancelled.
  fabric::FiberId begin_operation(fabric::Host& host, std::size_t operation,
                                  std::uint64_t time_to_live_ns, std::uint64_t incarnation);
  void end_operation(fabric::Host& host, std::size_t operation, const OperationResult& result,
                     std::uint64_t incarnation);
  void abandon_operation(std::uint32_t client, fabric::FiberId fiber);
  static std::string value_of(const PlannedOperation& operation, std::string name);
  // Executes an operation or a scan. The value of a set begins with `name`.
  engine::Answer execute_alone(fabric::Host& host, std::uint32_t client,
                               const PlannedOperation& planned, std::string name,
                               engine::Client& connection);
  engine::Answer wait_for_end(std::uint32_t client, engine::Client& connection);
  engine::Answer execute_scan(fabric::Host& host, std::uint32_t client, engine::Client& connection);
  checkers::KeyScan& begin_scan(fabric::Host& host, std::uint32_t client,
                                std::uint64_t incarnation);
  engine::Answer end_scan(fabric::Host& host, engine::Answer answer, checkers::KeyScan& scan);
  engine::ServerOptions server_options() const;
  engine::ClientOptions client_options(std::uint32_t client);

  const Scenario& scenario_;
  RunListener* listener_;
  OperationWatcher* watcher_ = nullptr;
  sim::Simulation* simulation_ = nullptr;
  engine::Server* server_ = nullptr;
  std::vector<ClientProgress> clients_;
  std::vector<SetManyCalls> set_many_;  // by client
  HostileParty hostile_;
  bool is_hostile_over_;
  AttackedSlots attacked_;
  std::map<std::uint64_t, checkers::History> histories_;  // by the server's incarnation
  std::map<std::uint64_t, std::vector<OperationTimes>> times_;
  std::map<std::uint64_t, std::deque<checkers::KeyScan>> scans_;
  std::vector<checkers::Judgement> violations_;
  std::uint64_t time_ = 0;
  std::uint64_t completed_ = 0;
};

}  // namespace falafel::store_scenario
