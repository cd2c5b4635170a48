#include "tools/store_scenario/store_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "checkers/collector.h"
#include "checkers/memory_view.h"
#include "checkers/table.h"
#include "engine/layout/expiry.h"
#include "engine/layout/superblock.h"
#include "tools/store_scenario/at_end.h"
#include "tools/store_scenario/cancellation.h"
#include "tools/store_scenario/judged_objects.h"
#include "tools/store_scenario/parties.h"

namespace falafel::store_scenario {
namespace {

using engine::Answer;

constexpr std::uint16_t service = 7;
constexpr std::uint64_t microsecond_ns = 1'000;
constexpr std::uint64_t millisecond_ns = 1'000'000;
constexpr std::uint64_t acknowledge_timeout_ns = 100 * microsecond_ns;

std::span<const std::byte> to_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Values are unique, so that a reader can identify the SET.
std::string value_of(const PlannedOperation& operation, std::string name) {
  if (operation.kind != OperationKind::set) return {};
  name.resize(operation.value_bytes, '-');
  return name;
}

checkers::OperationKind kind_of(OperationKind kind) {
  switch (kind) {
    case OperationKind::get: return checkers::OperationKind::get;
    case OperationKind::set: return checkers::OperationKind::set;
    case OperationKind::remove: break;
  }
  return checkers::OperationKind::remove;
}

checkers::Answer answer_of(Answer answer) {
  switch (answer) {
    case Answer::found: return checkers::Answer::found;
    case Answer::not_found: return checkers::Answer::not_found;
    case Answer::stored: return checkers::Answer::stored;
    case Answer::deleted: return checkers::Answer::deleted;
    case Answer::unknown_outcome: return checkers::Answer::indeterminate;
    default: return checkers::Answer::refused;
  }
}

// `connection` is a client or a batch of it.
template <typename Connection>
OperationResult carry_out(Connection& connection, OperationKind kind, const std::string& key,
                          const std::string& value, std::uint64_t time_to_live_ns) {
  switch (kind) {
    case OperationKind::get: {
      engine::GetResult result = connection.get(to_bytes(key));
      return {result.answer, result.statistics, std::move(result.value)};
    }
    case OperationKind::set: {
      const engine::SetResult result =
          connection.set(to_bytes(key), to_bytes(value), time_to_live_ns);
      return {result.answer, result.statistics, {}};
    }
    case OperationKind::remove: break;
  }
  const engine::DeleteResult result = connection.remove(to_bytes(key));
  return {result.answer, result.statistics, {}};
}

}  // namespace

std::string key_name(std::uint32_t key) { return "key " + std::to_string(key); }

std::string client_name(std::size_t client) { return "client " + std::to_string(client); }

std::vector<std::string> client_hosts(const Scenario& scenario) {
  std::vector<std::string> names;
  for (std::size_t client = 0; client < scenario.clients.size(); ++client) {
    names.push_back(client_name(client));
  }
  if (!scenario.attacks.empty()) names.emplace_back(Parties::hostile_host);
  return names;
}

StoreWorld::StoreWorld(const Scenario& scenario, RunListener* listener)
    : scenario_(scenario),
      listener_(listener),
      clients_(scenario.clients.size()),
      hostile_(
          scenario, [this] { return are_faults_over(); }, [this] { return is_server_stopped(); }),
      is_hostile_over_(scenario.attacks.empty()),
      attacked_(scenario.geometry.table_entries) {}

void StoreWorld::add_hosts(sim::Simulation& simulation) {
  simulation_ = &simulation;
  simulation.add_host({.name = "server",
                       .role = sim::Role::server,
                       .destruction_drains = scenario_.destruction_drains},
                      [this](fabric::Host& host) { serve(host); });
  for (std::uint32_t client = 0; client < clients_.size(); ++client) {
    simulation.add_host({.name = client_name(client)},
                        [this, client](fabric::Host& host) { run_client(host, client); });
  }
  if (scenario_.attacks.empty()) return;
  simulation.add_host({.name = std::string(Parties::hostile_host)},
                      [this](fabric::Host& host) { run_hostile_client(host); });
}

void StoreWorld::on_host_died(std::uint32_t host) {
  if (host == server_host) return;
  const std::size_t client = host - server_host - 1;
  (client < clients_.size() ? clients_[client].over : is_hostile_over_) = true;
}

// Whether an operation returned before another one was called decides what a history may answer;
// the order of two calls, or of two returns, does not.
std::uint64_t StoreWorld::next_call_time() {
  touch(history_object, sim::Access::reads);
  return ++time_;
}

std::uint64_t StoreWorld::next_return_time() {
  touch(history_object, sim::Access::adds);
  return ++time_;
}

std::uint64_t StoreWorld::unfinished_operations() const {
  std::uint64_t count = 0;
  for (std::size_t client = 0; client < clients_.size(); ++client) {
    if (clients_[client].unfinished > 0 && !is_client_stopped(client))
      count += clients_[client].unfinished;
  }
  return count;
}

bool StoreWorld::is_server_stopped() const {
  return scenario_.simulation.fault_rate(sim::FaultKind::server_stop) > 0 &&
         simulation_->is_stopped("server");
}

// Nobody waits for a client that is stopped for good. Its operations stay pending.
bool StoreWorld::is_client_stopped(std::size_t client) const {
  return is_stopped(client_name(client));
}

bool StoreWorld::is_stopped(std::string_view client) const {
  return scenario_.simulation.fault_rate(sim::FaultKind::client_stop) > 0 &&
         simulation_->is_stopped(client);
}

// The server

engine::ServerOptions StoreWorld::server_options() const {
  return {.geometry = scenario_.geometry,
          .safeguards = scenario_.safeguards,
          .service = service,
          .max_clients = scenario_.max_clients > 0
                             ? scenario_.max_clients
                             : static_cast<std::uint32_t>(4 * clients_.size() + 1),
          .heartbeat_timeout_ns = scenario_.heartbeat_timeout_ns,
          .flush_timeout_ns = scenario_.flush_timeout_ns,
          .cleanup_percent = scenario_.cleanup_percent,
          .cleanup_interval_ns = scenario_.cleanup_interval_ns,
          .acknowledge_timeout_ns = acknowledge_timeout_ns,
          .pipelined_updates = scenario_.pipelined_updates,
          .collection = scenario_.collection,
          .asks_for_regions_back = scenario_.asks_for_regions_back,
          .keeps_overwrite_reserve = scenario_.keeps_overwrite_reserve,
          .measurement_interval_ns = 0,  // makes every denial correct at the moment of the denial
          .evicts = scenario_.evicts,
          .hash_key = scenario_.hash_key};
}

// If registrations fail, the program retries.
std::shared_ptr<engine::Server> StoreWorld::start_server(fabric::Host& host) const {
  for (;;) {
    auto server = engine::Server::start(host, server_options());
    if (server) return std::move(*server);
    FALAFEL_ASSERT(server.error().code == fabric::ErrorCode::out_of_memory,
                   "the server failed to start: {}", server.error().detail);
    host.sleep_until(host.now_ns() + 50 * microsecond_ns);
  }
}

void StoreWorld::serve(fabric::Host& host) {
  const std::shared_ptr<engine::Server> server = start_server(host);
  const AtEnd forget([this] { server_ = nullptr; });
  server_ = server.get();
  std::optional<fabric::FiberId> cleanups;
  if (!scenario_.cleanups.empty()) {
    cleanups = host.spawn({.name = "cleanups"},
                          [this, &host, server] { ask_for_cleanups(host, *server); });
  }
  if (scenario_.stage) {
    pause_clients(host);
    wait_for_stage(host);
  }
  while (!are_clients_over()) host.sleep_until(host.now_ns() + 50 * microsecond_ns);
  if (cleanups) host.join(*cleanups);
  wait_until_idle(host);
  if (attacked_.is_any()) wait_for_repair(host);
  judge_memory(host);
}

// Returns at its end.
void StoreWorld::wait_for_stage(fabric::Host& host) const {
  const Stage& stage = *scenario_.stage;
  if (stage.server_pauses_at_ns > 0 && stage.server_pauses_at_ns < stage.begin_ns) {
    host.sleep_until(stage.server_pauses_at_ns);
    simulation_->pause("server", stage.begin_ns - stage.server_pauses_at_ns);
  }
  host.sleep_until(stage.end_ns);
}

// In fibers of their own, so that a client can pause before each of its steps. The client may be
// missing in a file, or because the scenario was shrunk.
void StoreWorld::pause_clients(fabric::Host& host) const {
  for (const PlannedPause& pause : scenario_.stage->pauses) {
    if (pause.client >= clients_.size()) continue;
    host.spawn({.name = "pause"}, [this, &host, pause] {
      host.sleep_until(pause.at_ns);
      simulation_->pause(client_name(pause.client), pause.duration_ns);
    });
  }
}

void StoreWorld::ask_for_cleanups(fabric::Host& host, engine::Server& server) {
  for (const PlannedCleanup& planned : scenario_.cleanups) {
    host.sleep_until(host.now_ns() + planned.pause_ns);
    if (are_clients_over()) return;
    call_unless_cancelled(host, planned.cancel_after_ns, [&] { server.clean_up(); });
  }
}

bool StoreWorld::are_clients_over() const {
  if (!is_hostile_over_ && !is_stopped(Parties::hostile_host)) return false;
  for (std::size_t client = 0; client < clients_.size(); ++client) {
    if (!clients_[client].over && !is_client_stopped(client)) return false;
  }
  return true;
}

bool StoreWorld::are_faults_over() const {
  return simulation_->steps() > scenario_.simulation.last_fault_step;
}

// Ends the processes that are stopped in the middle of a copy. Until then, the server cannot know
// when their regions come back.
void StoreWorld::end_slow_landing() {
  if (scenario_.simulation.fault_rate(sim::FaultKind::slow_landing) == 0) return;
  for (std::size_t client = 0; client < clients_.size(); ++client) {
    simulation_->hold_landing(client_name(client), 0);
  }
  if (!scenario_.attacks.empty()) simulation_->hold_landing(Parties::hostile_host, 0);
}

// The server detects crashed clients at the latest after their heartbeat time-out. The waiting time
// counts from the end of the faults: a latency spike advances the clock to the next timer, so any
// amount of time can pass before another fiber takes a step.
void StoreWorld::wait_until_idle(fabric::Host& host) {
  constexpr int patience = 50;
  const std::uint64_t interval_ns = scenario_.heartbeat_timeout_ns / 8 +
                                    scenario_.simulation.longest_stall_ns / 8 +
                                    8 * acknowledge_timeout_ns;
  std::uint64_t wait_ns = 2 * microsecond_ns;
  for (int attempt = 0; attempt < patience;) {
    end_slow_landing();
    const engine::ServerInspection inspection = server_->inspect();
    if (inspection.idle && inspection.statistics.clients_connected == 0) return;
    host.sleep_until(host.now_ns() + wait_ns);
    wait_ns = std::min(2 * wait_ns, interval_ns);
    if (wait_ns == interval_ns && are_faults_over()) ++attempt;
  }
  violations_.push_back({.verdict = checkers::Verdict::violated,
                         .property = "progress.server",
                         .explanation = "all clients have left, but the server is not idle"});
}

// The hostile client is gone. The next walks of the audit repair what it has done.
void StoreWorld::wait_for_repair(fabric::Host& host) {
  constexpr int patience = 50;
  for (int attempt = 0; attempt < patience;) {
    const engine::ServerBooks books = server_->books();
    if (checkers::check_repaired(view(books)).verdict == checkers::Verdict::holds) return;
    host.sleep_until(host.now_ns() + scenario_.cleanup_interval_ns);
    if (are_faults_over()) ++attempt;
  }
}

checkers::MemoryView StoreWorld::view(const engine::ServerBooks& books) const {
  return {.geometry = server_->geometry(),
          .hash_key = server_->hash_key(),
          .chunk = server_->memory().bytes(),
          .regions = books.regions,
          .mature_spaces = books.mature_spaces};
}

std::vector<checkers::Judgement> StoreWorld::judgements_at_rest(
    const checkers::MemoryView& memory) const {
  if (attacked_.is_any()) return {checkers::check_repaired(memory)};
  return {checkers::check_table(memory), checkers::check_collector(memory)};
}

// The live keys and their values that a GET would find.
std::map<std::string, std::string> StoreWorld::read_values(fabric::Host& host,
                                                           const checkers::MemoryView& view) const {
  std::map<std::string, std::string> contents = checkers::read_contents(view);
  if (!view.geometry.values_expire) return contents;
  std::erase_if(contents, [&](const auto& pair) {
    return engine::is_expired(to_bytes(pair.second), host.wall_clock_ns());
  });
  for (auto& [key, value] : contents) value.erase(0, engine::expiry_bytes);
  return contents;
}

void StoreWorld::judge_memory(fabric::Host& host) {
  const engine::ServerBooks books = server_->books();
  const checkers::MemoryView view = this->view(books);
  for (const checkers::Judgement& judgement : judgements_at_rest(view)) {
    if (judgement.verdict == checkers::Verdict::violated) violations_.push_back(judgement);
  }
  const auto superblock = engine::parse_superblock(view.chunk, view.geometry.chunk_bytes());
  FALAFEL_ASSERT(superblock.has_value(), "{}", superblock.error().detail);
  checkers::History& history = histories_[superblock->incarnation];
  std::set<std::string> keys;
  for (const checkers::Operation& operation : history.operations()) keys.insert(operation.key);
  const auto contents = read_values(host, view);
  const auto reader = static_cast<std::uint32_t>(clients_.size());
  for (const std::string& key : keys) {
    const std::size_t read =
        history.call(next_call_time(), reader, checkers::OperationKind::get, key);
    times_[superblock->incarnation].push_back(
        {.call_ns = host.now_ns(), .return_ns = host.now_ns()});
    const auto found = contents.find(key);
    if (listener_ != nullptr) listener_->on_call(history.operations()[read]);
    const bool is_there = found != contents.end();
    history.complete(next_return_time(), read,
                     is_there ? checkers::Answer::found : checkers::Answer::not_found,
                     is_there ? std::string_view(found->second) : std::string_view());
    if (listener_ != nullptr) {
      listener_->on_return(history.operations()[read],
                           is_there ? Answer::found : Answer::not_found);
    }
  }
}

// Clients

void StoreWorld::run_hostile_client(fabric::Host& host) {
  const AtEnd over([this] { is_hostile_over_ = true; });
  hostile_.run(host, {.host = "server", .service = service});
  if (hostile_.violation()) violations_.push_back(*hostile_.violation());
}

// If a fiber is cancelled during an operation, its buffers stay with the requests in flight, which
// reduces the number of concurrent operations by one, or by those of its batch.
engine::ClientOptions StoreWorld::client_options(std::uint32_t client) const {
  constexpr std::uint32_t operations_in_flight = 4;
  const ClientPlan& plan = scenario_.clients[client];
  const auto cancelled =
      plan.batch * std::ranges::count_if(plan.operations, [](const PlannedOperation& operation) {
        return operation.cancel_after_ns > 0;
      });
  return {.safeguards = scenario_.safeguards,
          .readahead = scenario_.readahead,
          .location_cache = scenario_.location_cache,
          .max_operations_in_flight = operations_in_flight + static_cast<std::uint32_t>(cancelled),
          .renewal_percent = scenario_.renewal_percent,
          .connect_timeout_ns = 2 * millisecond_ns,
          .server_timeout_ns = scenario_.server_timeout_ns,
          .acknowledge_timeout_ns = acknowledge_timeout_ns};
}

// Those of clients are alternately ahead and behind.
void StoreWorld::set_wall_clock(const fabric::Host& host, std::uint32_t client) const {
  if (scenario_.wall_clock_error_ns == 0) return;
  const auto error_ns = static_cast<std::int64_t>(scenario_.wall_clock_error_ns);
  simulation_->set_wall_clock(host.name(), client % 2 == 0 ? error_ns : -error_ns);
}

void StoreWorld::run_client(fabric::Host& host, std::uint32_t client) {
  set_wall_clock(host, client);
  ClientProgress& progress = clients_[client];
  const AtEnd over([&progress] { progress.over = true; });
  const std::size_t planned = scenario_.clients[client].operations.size();
  constexpr std::size_t most_connections = 4;
  const auto has_work = [&](std::size_t connection) {
    return progress.next < planned || (scenario_.stage && connection == 0);
  };
  for (std::size_t connection = 0;
       connection < most_connections + progress.goodbyes && has_work(connection); ++connection) {
    const auto connected = connect(host, client);
    if (connected == nullptr) return;
    if (scenario_.stage && connection == 0) prepare(host, client, *connected);
    run_operations(host, client, *connected);
    if (scenario_.stage) host.sleep_until(scenario_.stage->end_ns);
    if (connected->is_connected()) say_goodbye(client, *connected);
  }
}

void StoreWorld::say_goodbye(std::uint32_t client, engine::Client& connection) {
  watcher_->on_goodbye(client);
  connection.disconnect();
}

// Retries, because the server may not have started, may be restarting, or may have all its clients.
std::unique_ptr<engine::Client> StoreWorld::connect(fabric::Host& host, std::uint32_t client) {
  constexpr int most_attempts = 20;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    auto connection = engine::Client::connect(host, {.host = "server", .service = service},
                                              client_options(client));
    if (connection) return std::move(*connection);
    host.sleep_until(host.now_ns() + (5 * microsecond_ns << std::min(attempt, 10)));
  }
  return nullptr;
}

void StoreWorld::prepare(fabric::Host& host, std::uint32_t client, engine::Client& connection) {
  const std::vector<PreparedOperation>& prepared = scenario_.stage->prepared;
  for (std::size_t index = 0; index < prepared.size(); ++index) {
    if (prepared[index].client != client) continue;
    host.sleep_until(prepared[index].at_ns);
    const PlannedOperation& operation = prepared[index].operation;
    execute(host, client, operation, value_of(operation, fmt::format("p.{}", index)), connection,
            connection.server_incarnation());
  }
  host.sleep_until(scenario_.stage->begin_ns);
}

void StoreWorld::run_operations(fabric::Host& host, std::uint32_t client,
                                engine::Client& connection) {
  std::vector<fabric::FiberId> fibers;
  for (std::uint32_t fiber = 1; fiber < scenario_.clients[client].fibers; ++fiber) {
    fibers.push_back(host.spawn({.name = "operations"}, [this, &host, client, &connection] {
      run_fiber(host, client, connection);
    }));
  }
  run_fiber(host, client, connection);
  for (const fabric::FiberId fiber : fibers) host.join(fiber);
}

void StoreWorld::run_fiber(fabric::Host& host, std::uint32_t client, engine::Client& connection) {
  const std::vector<PlannedOperation>& planned = scenario_.clients[client].operations;
  while (clients_[client].next < planned.size()) {
    if (is_goodbye_due(client)) {
      ++clients_[client].goodbyes;
      clients_[client].said_goodbye_before = clients_[client].next;
      return say_goodbye(client, connection);
    }
    const std::size_t first = clients_[client].next;
    const std::size_t end = end_of_batch(client, first);
    clients_[client].next = end;
    if (planned[first].pause_ns > 0) host.sleep_until(host.now_ns() + planned[first].pause_ns);
    const auto answer = scenario_.clients[client].batch > 1
                            ? execute_batch(host, client, first, end - first, connection)
                            : execute_planned(host, client, first, connection);
    if (answer == Answer::disconnected || answer == Answer::unknown_outcome) return;
  }
}

// The end of the operations that the fiber takes which finds this one next.
std::size_t StoreWorld::end_of_batch(std::uint32_t client, std::size_t first) const {
  const ClientPlan& plan = scenario_.clients[client];
  std::size_t end = first + 1;
  while (end < plan.operations.size() && end - first < plan.batch &&
         !plan.operations[end].goodbye) {
    ++end;
  }
  return end;
}

// Whether the client must disconnect before its next operation.
bool StoreWorld::is_goodbye_due(std::uint32_t client) const {
  const ClientProgress& progress = clients_[client];
  return scenario_.clients[client].operations[progress.next].goodbye &&
         progress.said_goodbye_before != progress.next;
}

std::optional<Answer> StoreWorld::execute_planned(fabric::Host& host, std::uint32_t client,
                                                  std::size_t index, engine::Client& connection) {
  std::optional<Answer> answer;
  const std::uint64_t cancel_after_ns = scenario_.clients[client].operations[index].cancel_after_ns;
  call_unless_cancelled(host, cancel_after_ns, [&] {
    const PlannedOperation& planned = scenario_.clients[client].operations[index];
    const std::string value = value_of(planned, fmt::format("{}.{}", client, index));
    answer = execute(host, client, planned, value, connection, connection.server_incarnation());
  });
  return answer;
}

std::optional<Answer> StoreWorld::execute_batch(fabric::Host& host, std::uint32_t client,
                                                std::size_t first, std::size_t count,
                                                engine::Client& connection) {
  const ClientPlan& plan = scenario_.clients[client];
  const std::uint64_t incarnation = connection.server_incarnation();
  std::optional<Answer> broken;
  const auto call = [&](engine::Batch& batch, std::size_t number) {
    const PlannedOperation& planned = plan.operations[first + number];
    const std::string value = value_of(planned, fmt::format("{}.{}", client, first + number));
    const Answer answer = execute(host, client, planned, value, batch, incarnation);
    if (answer == Answer::disconnected || answer == Answer::unknown_outcome) broken = answer;
  };
  call_unless_cancelled(host, plan.operations[first].cancel_after_ns,
                        [&] { connection.run_batch(count, call); });
  return broken;
}

template <typename Place>
engine::Answer StoreWorld::execute(fabric::Host& host, std::uint32_t client,
                                   const PlannedOperation& planned, const std::string& value,
                                   Place& place, std::uint64_t incarnation) {
  const std::string key = key_name(planned.key);
  checkers::History& history = histories_[incarnation];
  const std::size_t operation =
      history.call(next_call_time(), client, kind_of(planned.kind), key, value);
  times_[incarnation].push_back(
      {.call_ns = host.now_ns(), .time_to_live_ns = planned.time_to_live_ns});
  ++clients_[client].unfinished;
  if (listener_ != nullptr) listener_->on_call(history.operations()[operation]);
  const fabric::FiberId fiber = *simulation_->running_fiber();
  watcher_->on_operation_called(fiber, history.operations()[operation], host.now_ns());
  bool completed = false;
  const AtEnd count([&] {
    --clients_[client].unfinished;
    if (completed) {
      ++completed_;
    } else {
      watcher_->on_operation_abandoned(fiber);
    }
  });
  const OperationResult result =
      carry_out(place, planned.kind, key, value, planned.time_to_live_ns);
  const Answer answer = result.answer;
  completed = true;
  watcher_->on_operation_returned(fiber, history.operations()[operation], result, host.now_ns());
  times_[incarnation][operation].return_ns = host.now_ns();
  history.complete(next_return_time(), operation, answer_of(answer),
                   {reinterpret_cast<const char*>(result.found.data()), result.found.size()});
  if (listener_ != nullptr) listener_->on_return(history.operations()[operation], answer);
  if (answer == Answer::corrupted && !attacked_.is_any()) {
    violations_.push_back(
        {.verdict = checkers::Verdict::violated,
         .property = "answer.corrupted",
         .explanation = fmt::format("client {} received the answer that {} is corrupted", client,
                                    checkers::quote(key)),
         .calls = {history.operations()[operation].call_time}});
  }
  return answer;
}

}  // namespace falafel::store_scenario
