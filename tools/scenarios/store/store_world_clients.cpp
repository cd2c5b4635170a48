// The clients of a scenario: they connect, execute their plans, and record what they were answered.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "fabric/at_end.h"
#include "fabric/time_units.h"
#include "tools/scenarios/store/cancellation.h"
#include "tools/scenarios/store/patience.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

using engine::Answer;

namespace {

std::span<const std::byte> to_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string_view to_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

checkers::Answer answer_of(checkers::OperationKind kind, Answer answer) {
  const bool compares = kind == checkers::OperationKind::compare_and_swap;
  switch (answer) {
    case Answer::found: return checkers::Answer::found;
    case Answer::not_found: return checkers::Answer::not_found;
    case Answer::stored: return compares ? checkers::Answer::swapped : checkers::Answer::stored;
    case Answer::deleted: return checkers::Answer::deleted;
    case Answer::differs: return checkers::Answer::not_swapped;
    case Answer::unknown_outcome: return checkers::Answer::indeterminate;
    default: return checkers::Answer::refused;
  }
}

engine::Condition condition_of(const std::optional<std::string>& expected) {
  return expected ? engine::Condition::equals(to_bytes(*expected)) : engine::Condition::absent();
}

// `connection` is a client or a batch of it.
template <typename Connection>
OperationResult carry_out(Connection& connection, const checkers::Operation& operation,
                          std::uint64_t time_to_live_ns) {
  const auto key = to_bytes(operation.key);
  const auto value = to_bytes(operation.value);
  switch (operation.kind) {
    case checkers::OperationKind::get: {
      engine::GetResult result = connection.get(key);
      return {result.answer, result.statistics, std::move(result.value)};
    }
    case checkers::OperationKind::set: {
      const engine::SetResult result = connection.set(key, value, time_to_live_ns);
      return {result.answer, result.statistics, {}};
    }
    case checkers::OperationKind::compare_and_swap: {
      const engine::SetResult result =
          connection.compare_and_set(key, condition_of(operation.expected), value, std::nullopt);
      return {result.answer, result.statistics, {}};
    }
    case checkers::OperationKind::remove:
    case checkers::OperationKind::append: break;
  }
  const engine::DeleteResult result = connection.remove(key);
  return {result.answer, result.statistics, {}};
}

}  // namespace

// Values are unique, so that a reader can identify the SET.
std::string StoreWorld::value_of(const PlannedOperation& operation, std::string name) {
  if (!has_value(operation.kind)) return {};
  name.resize(operation.value_bytes, '-');
  return name;
}

void StoreWorld::run_hostile_client(fabric::Host& host) {
  const fabric::AtEnd over([this] { is_hostile_over_ = true; });
  hostile_.run(host, {.host = "server", .service = service});
  if (hostile_.violation()) violations_.push_back(*hostile_.violation());
}

// If a fiber is cancelled during an operation, its buffers stay with the requests in flight, which
// reduces the number of concurrent operations by one, or by those of its batch.
engine::ClientOptions StoreWorld::client_options(std::uint32_t client) {
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
          .connect_timeout_ns = 2'000 * fabric::microsecond_ns,
          .server_timeout_ns = scenario_.server_timeout_ns,
          .acknowledge_timeout_ns = acknowledge_timeout_ns,
          .hears_server_close = scenario_.clients_hear_close,
          .observer = plan.sets_many ? &set_many_[client] : nullptr};
}

// The clocks of clients are alternately ahead and behind.
void StoreWorld::set_wall_clock(const fabric::Host& host, std::uint32_t client) const {
  if (scenario_.wall_clock_error_ns == 0) return;
  const auto error_ns = static_cast<std::int64_t>(scenario_.wall_clock_error_ns);
  simulation_->set_wall_clock(host.name(), client % 2 == 0 ? error_ns : -error_ns);
}

void StoreWorld::run_client(fabric::Host& host, std::uint32_t client) {
  set_wall_clock(host, client);
  ClientProgress& progress = clients_[client];
  const fabric::AtEnd over([&progress] { progress.over = true; });
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
    host.sleep_until(host.now_ns() + (5 * fabric::microsecond_ns << std::min(attempt, 10)));
  }
  return nullptr;
}

void StoreWorld::prepare(fabric::Host& host, std::uint32_t client, engine::Client& connection) {
  const std::vector<PreparedOperation>& prepared = scenario_.stage->prepared;
  for (std::size_t index = 0; index < prepared.size(); ++index) {
    if (prepared[index].client != client) continue;
    host.sleep_until(prepared[index].at_ns);
    execute_alone(host, client, prepared[index].operation, fmt::format("p.{}", index), connection);
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
    const ClientPlan& plan = scenario_.clients[client];
    const OperationKind kind = planned[first].kind;
    const bool is_batch = plan.batch > 1 && has_key(kind);
    const bool sets_many =
        is_batch && plan.sets_many && plan.fibers == 1 && kind == OperationKind::set;
    const auto answer = sets_many  ? execute_many(host, client, first, end - first, connection)
                        : is_batch ? execute_batch(host, client, first, end - first, connection)
                                   : execute_planned(host, client, first, connection);
    if (answer == Answer::disconnected || answer == Answer::unknown_outcome) return;
  }
}

// The end of the operations that the fiber takes which finds this one next.
std::size_t StoreWorld::end_of_batch(std::uint32_t client, std::size_t first) const {
  const ClientPlan& plan = scenario_.clients[client];
  std::size_t end = first + 1;
  const auto is_alike = [&](const PlannedOperation& operation) {
    const bool are_both_sets = (operation.kind == OperationKind::set) ==
                               (plan.operations[first].kind == OperationKind::set);
    return has_key(operation.kind) && (!plan.sets_many || are_both_sets);
  };
  if (!has_key(plan.operations[first].kind)) return end;
  while (end < plan.operations.size() && end - first < plan.batch &&
         !plan.operations[end].goodbye && is_alike(plan.operations[end])) {
    ++end;
  }
  return end;
}

// Returns whether the client must disconnect before its next operation.
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
    answer = execute_alone(host, client, scenario_.clients[client].operations[index],
                           fmt::format("{}.{}", client, index), connection);
  });
  return answer;
}

engine::Answer StoreWorld::execute_alone(fabric::Host& host, std::uint32_t client,
                                         const PlannedOperation& planned, std::string name,
                                         engine::Client& connection) {
  if (planned.kind == OperationKind::scan) return execute_scan(host, client, connection);
  if (planned.kind == OperationKind::wait_for_end) return wait_for_end(client, connection);
  return execute(host, client, planned, value_of(planned, std::move(name)), connection,
                 connection.server_incarnation());
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
  using Kind = checkers::OperationKind;
  checkers::History& history = histories_[incarnation];
  const std::string key = key_name(planned.key);
  const auto run = [&](std::size_t operation) {
    return execute_called(host, operation, planned.time_to_live_ns, place, incarnation);
  };
  if (planned.kind == OperationKind::set) {
    return run(history.call(next_call_time(), client, Kind::set, key, value)).answer;
  }
  if (planned.kind == OperationKind::remove) {
    return run(history.call(next_call_time(), client, Kind::remove, key)).answer;
  }
  const OperationResult got = run(history.call(next_call_time(), client, Kind::get, key));
  const bool reads_only = planned.kind != OperationKind::update;
  const bool is_known = got.answer == Answer::found || got.answer == Answer::not_found;
  if (reads_only || !is_known) return got.answer;
  std::optional<std::string_view> present;
  if (got.answer == Answer::found) present = to_text(got.found);
  return run(history.call_compare_and_swap(next_call_time(), client, key, present, value)).answer;
}

// An operation that the history has been told of.
template <typename Place>
OperationResult StoreWorld::execute_called(fabric::Host& host, std::size_t operation,
                                           std::uint64_t time_to_live_ns, Place& place,
                                           std::uint64_t incarnation) {
  const fabric::FiberId fiber = begin_operation(host, operation, time_to_live_ns, incarnation);
  // The history may move the operation while it waits.
  const auto copy = checkers::Operation(histories_[incarnation].operations()[operation]);
  bool completed = false;
  const fabric::AtEnd over([&] {
    if (!completed) abandon_operation(copy.client, fiber);
  });
  OperationResult result = carry_out(place, copy, time_to_live_ns);
  completed = true;
  end_operation(host, operation, result, incarnation);
  return result;
}

fabric::FiberId StoreWorld::begin_operation(fabric::Host& host, std::size_t operation,
                                            std::uint64_t time_to_live_ns,
                                            std::uint64_t incarnation) {
  const checkers::Operation& called = histories_[incarnation].operations()[operation];
  times_[incarnation].push_back({.call_ns = host.now_ns(), .time_to_live_ns = time_to_live_ns});
  ++clients_[called.client].unfinished;
  if (listener_ != nullptr) listener_->on_call(called);
  const fabric::FiberId fiber = *simulation_->running_fiber();
  watcher_->on_operation_called(fiber, called, host.now_ns());
  return fiber;
}

void StoreWorld::end_operation(fabric::Host& host, std::size_t operation,
                               const OperationResult& result, std::uint64_t incarnation) {
  checkers::History& history = histories_[incarnation];
  const checkers::Operation& called = history.operations()[operation];
  watcher_->on_operation_returned(*simulation_->running_fiber(), called, result, host.now_ns());
  times_[incarnation][operation].return_ns = host.now_ns();
  history.complete(next_return_time(), operation, answer_of(called.kind, result.answer),
                   to_text(result.found));
  if (listener_ != nullptr) listener_->on_return(called, result.answer);
  if (result.answer == Answer::corrupted && !attacked_.is_any()) {
    violations_.push_back(
        {.verdict = checkers::Verdict::violated,
         .property = "answer.corrupted",
         .explanation = fmt::format("client {} received the answer that {} is corrupted",
                                    called.client, checkers::quote(called.key)),
         .calls = {called.call_time}});
  }
  --clients_[called.client].unfinished;
  ++completed_;
}

void StoreWorld::abandon_operation(std::uint32_t client, fabric::FiberId fiber) {
  --clients_[client].unfinished;
  watcher_->on_operation_abandoned(fiber);
}

// Nobody judges how long it takes: an operation may wait for the server.
Answer StoreWorld::wait_for_end(std::uint32_t client, engine::Client& connection) {
  const fabric::FiberId fiber = *simulation_->running_fiber();
  ++clients_[client].unfinished;
  bool have_ended = false;
  const fabric::AtEnd over([&] {
    --clients_[client].unfinished;
    watcher_->on_end_answered(fiber, have_ended);
  });
  watcher_->on_end_asked(fiber);
  const auto waited = connection.wait_for_end_of_operations(patience_for_end_ns(scenario_));
  have_ended = waited.has_value();
  ++completed_;
  return waited ? Answer::found : waited.error();
}

}  // namespace falafel::store_scenario
