#include "fabric/sim/host/faults.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "fabric/sim/host/host.h"
#include "fabric/sim/network/queue_pair.h"
#include "fabric/sim/options/fault_kinds.h"
#include "fabric/sim/run/world.h"

namespace falafel::sim {
namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

bool can_strike_host(FaultKind kind, const Host& host) {
  const HostState& state = host.state();
  if (!state.alive()) return false;
  const bool is_client = state.options().role != Role::server;
  const bool is_server = state.options().role != Role::client;
  switch (kind) {
    case FaultKind::client_crash: return is_client;
    case FaultKind::client_pause: return is_client && !host.paused();
    case FaultKind::server_stall: return is_server && !host.paused();
    case FaultKind::server_restart: return is_server;
    case FaultKind::client_stop: return is_client && !host.stopped();
    case FaultKind::server_stop: return is_server && !host.stopped();
    case FaultKind::slow_landing: return is_client && !state.holds_landing();
    case FaultKind::clock_step: return state.clock().can_step();
    default: return false;
  }
}

void strike_host(FaultKind kind, Host& host, const std::function<std::uint64_t()>& duration_ns) {
  if (kind == FaultKind::client_crash) {
    host.crash();
  } else if (kind == FaultKind::server_restart) {
    host.crash();
    host.restart_after(duration_ns());
  } else if (kind == FaultKind::client_stop || kind == FaultKind::server_stop) {
    host.pause(fabric::never_ns);
  } else if (kind == FaultKind::slow_landing) {
    // A process that is stopped in the middle of a copy does not finish it.
    host.hold_landing(host.stopped() ? fabric::never_ns : duration_ns());
  } else if (kind == FaultKind::clock_step) {
    host.step_clock();
  } else {
    host.pause(duration_ns());
  }
}

}  // namespace

bool can_strike(FaultKind kind, const FaultTarget& target) {
  return target.host != nullptr ? can_strike_host(kind, *target.host)
                                : target.queue_pair->has_work_for_fault(kind);
}

void strike(World& world, FaultKind kind, const FaultTarget& target,
            const std::function<std::uint64_t()>& duration_ns) {
  const HostState& host = target.host != nullptr ? target.host->state() : target.queue_pair->host();
  // The observer sees the fault before its effects.
  world.trace.show({.kind = EventKind::fault_strikes,
                    .detail = static_cast<std::uint8_t>(kind),
                    .subject = host.index()});
  if (target.host != nullptr) {
    strike_host(kind, *target.host, duration_ns);
  } else if (kind == FaultKind::queue_pair_error) {
    target.queue_pair->break_connection();
  } else {
    target.queue_pair->stall(duration_ns());
  }
}

FaultInjector::FaultInjector(World& world) : world_(world) {
  for (std::size_t index = 0; index < fault_kind_count; ++index) {
    draw_next(static_cast<FaultKind>(index));
  }
  find_next();
}

void FaultInjector::draw_next(FaultKind kind) {
  const std::uint64_t rate = world_.options.fault_rate(kind);
  std::uint64_t& step = strikes_at_[static_cast<std::size_t>(kind)];
  step = never;
  if (rate == 0 || !strikes_at_steps(kind) || world_.options.max_chosen_faults > 0) return;
  step = world_.trace.step() + 1 + world_.choose(ChoiceKind::fault_step, 2 * rate);
  if (step > world_.options.last_fault_step) step = never;
}

void FaultInjector::find_next() {
  next_step_ = *std::min_element(strikes_at_.begin(), strikes_at_.end());
}

void FaultInjector::strike_due() {
  for (std::size_t index = 0; index < fault_kind_count; ++index) {
    const auto kind = static_cast<FaultKind>(index);
    if (strikes_at_[index] > world_.trace.step()) continue;
    if (strike_any(kind)) world_.count(kind);
    draw_next(kind);
  }
  find_next();
}

void FaultInjector::follow_event() {
  constexpr std::uint64_t steps_after_event = 32;
  std::vector<std::size_t> kinds;
  for (std::size_t index = 0; index < fault_kind_count; ++index) {
    const auto kind = static_cast<FaultKind>(index);
    if (world_.options.fault_rate(kind) > 0 && strikes_at_steps(kind)) kinds.push_back(index);
  }
  if (kinds.empty()) return;
  std::uint64_t& step = strikes_at_[kinds[world_.choose(ChoiceKind::fault_target, kinds.size())]];
  const std::uint64_t soon =
      world_.trace.step() + world_.choose(ChoiceKind::fault_step, steps_after_event);
  step = std::min(step, soon);
  find_next();
}

// From one step to the longest stall; each power of two is equally likely.
std::uint64_t FaultInjector::draw_duration_ns() {
  const SimulationOptions& options = world_.options;
  const std::uint64_t step_ns = std::max<std::uint64_t>(options.step_duration_ns, 1);
  const std::uint64_t steps = std::max<std::uint64_t>(options.longest_stall_ns / step_ns, 1);
  const auto magnitudes = static_cast<std::uint64_t>(std::bit_width(steps));
  return step_ns << world_.choose(ChoiceKind::fault_duration, magnitudes);
}

std::vector<FaultTarget> FaultInjector::find_targets(FaultKind kind) const {
  std::vector<FaultTarget> targets;
  const auto add = [&](const FaultTarget& target) {
    if (can_strike(kind, target)) targets.push_back(target);
  };
  if (std::ranges::find(faults_of_hosts, kind) != faults_of_hosts.end()) {
    for (const auto& host : world_.hosts) add({.host = host.get()});
  } else {
    for (const auto& queue_pair : world_.queue_pairs) add({.queue_pair = queue_pair.get()});
  }
  return targets;
}

bool FaultInjector::strike_any(FaultKind kind) {
  if (kind == FaultKind::latency_spike) return strike_clock();
  const std::vector<FaultTarget> targets = find_targets(kind);
  if (targets.empty()) return false;
  const FaultTarget& target = targets[world_.choose(ChoiceKind::fault_target, targets.size())];
  strike(world_, kind, target, [this] { return draw_duration_ns(); });
  return true;
}

bool FaultInjector::strike_clock() {
  if (world_.timers.empty()) return false;
  world_.trace.jump_to(std::max(world_.trace.time_ns(), world_.timers.next_ns()));
  return true;
}

}  // namespace falafel::sim
