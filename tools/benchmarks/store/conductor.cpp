#include "tools/benchmarks/store/conductor.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

namespace falafel::store_benchmark {

static constexpr double without_end = std::numeric_limits<double>::infinity();

Conductor::Conductor(const BenchmarkOptions& options, Board& board, Timekeeper time,
                     std::function<void(const Progress&)> on_progress,
                     std::function<std::optional<std::string>()> find_dead)
    : options_(options),
      board_(board),
      time_(std::move(time)),
      on_progress_(std::move(on_progress)),
      find_dead_(std::move(find_dead)) {}

std::optional<std::string> Conductor::wait_for_server() {
  phase_began_ns_ = time_.now_ns();
  while (board_.server.state == PartyState::starting && !(failure_ = find_failure())) {
    time_.sleep(time_.interval_ns / 10);
  }
  if (!failure_) failure_ = find_failure();
  if (failure_) board_.phase = Phase::over;
  return failure_;
}

ConductedRun Conductor::load() {
  ConductedRun run;
  if (wait_for(PartyState::ready, without_end)) {
    enter(Phase::loading);
    const bool is_loaded = wait_for(PartyState::loaded, without_end);
    run.load_seconds = phase_seconds();
    enter(is_loaded ? Phase::running : Phase::over);
  }
  run.failure = failure_;
  return run;
}

ConductedRun Conductor::run() {
  ConductedRun run = load();
  const bool goes_on = !run.failure && wait_for(PartyState::done, options_.seconds);
  if (goes_on) {
    enter(Phase::finishing);
    if (wait_for(PartyState::done, without_end)) wait_for_server_to_be_done();
  }
  board_.phase = Phase::over;
  run.failure = failure_;
  return run;
}

// Returns false if a party failed. The end of the time is not a failure.
bool Conductor::wait_for(PartyState state, double seconds) {
  while (!have_all(state) && phase_seconds() < seconds) {
    failure_ = find_failure();
    if (failure_) return false;
    time_.sleep(std::min(
        time_.interval_ns,
        static_cast<std::uint64_t>(std::clamp(seconds - phase_seconds(), 0.0, 1e6) * 1e9)));
    show();
  }
  return true;
}

void Conductor::wait_for_server_to_be_done() {
  while (board_.server.state != PartyState::done) {
    failure_ = find_failure();
    if (failure_) return;
    time_.sleep(time_.interval_ns / 10);
  }
}

bool Conductor::have_all(PartyState state) const {
  return std::ranges::all_of(board_.clients,
                             [&](const ClientPart& part) { return part.state == state; });
}

std::optional<std::string> Conductor::find_failure() const {
  if (board_.server.state == PartyState::failed) {
    return fmt::format("the server: {}", board_.server.failure.get());
  }
  for (std::uint32_t client = 0; client < options_.clients; ++client) {
    if (board_.clients[client].state == PartyState::failed) {
      return fmt::format("client {}: {}", client, board_.clients[client].failure.get());
    }
  }
  return find_dead_ ? find_dead_() : std::nullopt;
}

void Conductor::enter(Phase phase) {
  phase_began_ns_ = time_.now_ns();
  last_shown_ns_ = phase_began_ns_;
  last_shown_operations_ = 0;
  board_.phase = phase;
}

double Conductor::phase_seconds() const {
  return static_cast<double>(time_.now_ns() - phase_began_ns_) / 1e9;
}

void Conductor::show() {
  if (!on_progress_) return;
  const std::uint64_t now_ns = time_.now_ns();
  if (now_ns == last_shown_ns_) return;
  std::uint64_t operations = 0;
  for (const ClientPart& part : board_.clients) {
    operations += part.operations.load(std::memory_order_relaxed);
  }
  // Clients reset their counters shortly after the phase begins.
  const std::uint64_t more =
      operations > last_shown_operations_ ? operations - last_shown_operations_ : 0;
  on_progress_({.phase = board_.phase,
                .operations = operations,
                .seconds = phase_seconds(),
                .rate_per_second = static_cast<double>(more) * 1e9 /
                                   static_cast<double>(now_ns - last_shown_ns_)});
  last_shown_ns_ = now_ns;
  last_shown_operations_ = operations;
}

}  // namespace falafel::store_benchmark
