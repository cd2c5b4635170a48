#include "tools/scenarios/pilaf/logged_history.h"

#include <string>
#include <utility>

#include "checkers/specification_linearizability.h"
#include "explorer/program.h"
#include "explorer/run_listener.h"

namespace falafel::pilaf_scenario {
namespace {

constexpr std::uint32_t server_number = 1'000;  // no client has it

}  // namespace

LoggedHistory::LoggedHistory(check::World& world) : world_(world) {
  world_.at_end([this](explorer::Run& run) {
    checkers::Judgement judgement = checkers::check_linearizability(calls_);
    judgement.property = std::string(restarts_property);
    if (judgement.verdict == checkers::Verdict::violated) {
      run.violations.push_back(std::move(judgement));
    } else if (judgement.verdict == checkers::Verdict::unknown) {
      run.unknown.push_back(std::move(judgement));
    }
  });
}

void LoggedHistory::call(std::uint32_t client, const Map::Operation& operation,
                         const std::function<std::optional<Map::Result>()>& function) {
  const std::uint64_t time = world_.next_call_time();
  const std::size_t number = calls_.call(time, client, LoggedMap::operation_of(operation));
  explorer::RunListener* const listener = world_.listener();
  const std::string party = world_.name_of_client(client);
  if (listener != nullptr) listener->on_call(party, time, Map::describe(operation, nullptr));
  const std::optional<Map::Result> answer = function();
  if (!answer) return;
  if (listener != nullptr) {
    listener->on_return(party, time, "returns: " + Map::describe(operation, &*answer));
  }
  calls_.complete(world_.next_return_time(), number, *answer);
}

void LoggedHistory::add(std::uint64_t call_time, std::uint64_t return_time,
                        LoggedMap::Operation operation) {
  const std::size_t number = calls_.call(call_time, server_number, std::move(operation));
  calls_.complete(return_time, number, {});
}

void LoggedHistory::start() { start_time_ = world_.next_call_time(); }

// Nothing has happened on the server since the process ended. The server may try to start several
// times.
void LoggedHistory::begin_restart() {
  end_time_ = world_.next_return_time();
  restart_time_ = world_.next_call_time();
}

void LoggedHistory::complete_restart(const LoggedMap::Contents& contents) {
  add(start_time_, end_time_, LoggedMap::Survive{contents});
  add(restart_time_, world_.next_return_time(), LoggedMap::Restart{contents});
  start();
}

}  // namespace falafel::pilaf_scenario
