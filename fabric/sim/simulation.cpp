#include "fabric/sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "fabric/sim/host/chosen_faults.h"
#include "fabric/sim/host/faults.h"
#include "fabric/sim/host/host.h"
#include "fabric/sim/network/completion_queue.h"
#include "fabric/sim/network/handshake.h"
#include "fabric/sim/network/queue_pair.h"
#include "fabric/sim/run/fiber.h"
#include "fabric/sim/run/world.h"

namespace falafel::sim {

namespace {

Host& named_host(World& world, std::string_view name) {
  const HostState* host = find_host(world, name);
  if (host == nullptr) throw std::invalid_argument(fmt::format("there is no host '{}'", name));
  return *world.hosts[host->index()];
}

void unwind_all(World& world) {
  for (std::size_t index = 0; index < world.fibers.size(); ++index) world.fibers[index]->unwind();
}

// Describes the state of a run that did not complete.
std::string describe(const World& world, std::string_view why) {
  std::string text = fmt::format("{} at step {}, {} ns; {} actors can move", why,
                                 world.trace.step(), world.trace.time_ns(), world.ready.size());
  for (const auto& host : world.hosts) {
    text += fmt::format("\nhost {}: {}{}, incarnation {}", host->name(),
                        host->state().alive() ? "alive" : "dead",
                        host->stopped()  ? ", stopped"
                        : host->paused() ? ", paused"
                                         : "",
                        host->state().incarnation());
  }
  for (const auto& fiber : world.fibers) {
    if (!fiber->finished()) text += "\n  " + fiber->describe();
  }
  for (const auto& queue_pair : world.queue_pairs) {
    if (queue_pair->connection().state() != Connection::State::closed)
      text += "\n  " + queue_pair->describe();
  }
  return text;
}

// In a timed run, the actor whose time comes first makes a step.
void timed_step(World& world) {
  Actor& actor = world.ready.earliest();
  const std::uint64_t now_ns = world.trace.time_ns();
  world.trace.advance(std::max(world.ready.earliest_ns(), now_ns) - now_ns);
  actor.step();
}

void offer_lanes(World& world) {
  world.lanes.clear();
  for (std::size_t index = 0; index < world.ready.size(); ++index) {
    world.ready.at(index).list_lanes(world.lanes);
  }
  world.step_observer->offer_lanes(world.lanes);
}

// With chosen faults, a latency spike lets a deadline pass before others move.
void tell_deadlines(World& world) {
  const bool can_pass =
      world.fault_chooser != nullptr && world.options.fault_rate(FaultKind::latency_spike) > 0;
  if (can_pass || !world.step_observer->wants_deadlines()) return;
  world.told_deadlines = world.timers.visit_newer(world.told_deadlines, [&](const Timer& timer) {
    world.step_observer->leave_out(timer.deadline());
  });
}

void observed_step(World& world) {
  if (world.tells_lanes) offer_lanes(world);
  if (!world.step_observer->begin_step(world.ready.ids(), world.trace.time_ns())) {
    world.stop();
    return;
  }
  tell_deadlines(world);
  Actor& actor = world.choose_actor();
  world.trace.advance(world.options.step_duration_ns);
  if (world.tells_lanes) {
    actor.step_lane(world.step_observer->lane());
  } else {
    actor.step();
  }
}

// The strategy picks an actor, which makes one step.
void plain_step(World& world) {
  Actor& actor = world.choose_actor();
  world.trace.advance(world.options.step_duration_ns);
  actor.step();
}

// How the steps of a run are made.
using MakeStep = void (*)(World&);

void jump_to_next_timer(World& world) {
  if (world.step_observer != nullptr && !world.step_observer->begin_jump()) {
    world.stop();
    return;
  }
  world.trace.jump_to(std::max(world.trace.time_ns(), world.timers.next_ns()));
  world.trace.record({.kind = EventKind::time_jump, .word = world.trace.time_ns()});
}

Outcome outcome_at_last_step(const World& world) {
  if (world.spinning != nullptr) return Outcome::spinning;
  return world.trace.step() >= world.options.step_limit ? Outcome::step_limit : Outcome::stopped;
}

// Runs until the programs have returned or cannot continue.
// `chosen_faults` is null without the option max_chosen_faults.
template <MakeStep step>
Outcome run_programs(World& world, ChosenFaults* chosen_faults) {
  FaultInjector faults(world);
  constexpr std::uint64_t divergence_check_steps = 256;
  while (world.unfinished_foreground_fibers > 0) {
    const std::uint64_t steps = world.trace.step();
    if (steps >= world.next_check_step) {
      if (world.is_at_last_step()) return outcome_at_last_step(world);
      if (steps % divergence_check_steps == 0 && world.strategy.divergence() != nullptr) break;
      if (std::exchange(world.has_event_for_faults, false)) faults.follow_event();
      if (steps >= faults.next_step()) faults.strike_due();
      world.next_check_step =
          std::min({world.last_step, faults.next_step(),
                    (steps / divergence_check_steps + 1) * divergence_check_steps});
    }
    world.timers.expire_until(world.trace.time_ns());
    if (chosen_faults != nullptr) {
      if (chosen_faults->is_stuck()) return Outcome::stuck;
      chosen_faults->refresh();
    }
    if (world.moves_before_next_timer()) {
      step(world);
    } else if (!world.timers.empty()) {
      jump_to_next_timer(world);
    } else if (world.unfinished_foreground_fibers > 0) {  // a fault may have ended the last fiber
      return Outcome::stuck;
    }
  }
  return Outcome::completed;
}

// The programs have returned. Requests still in the network take effect.
template <MakeStep step>
Outcome quiesce(World& world, ChosenFaults* chosen_faults) {
  unwind_all(world);
  for (const auto& host : world.hosts) host->stay_as_it_is();
  if (chosen_faults != nullptr) chosen_faults->end();
  while (world.ready.size() > 0 || !world.timers.empty()) {
    if (world.is_at_last_step()) return outcome_at_last_step(world);
    world.timers.expire_until(world.trace.time_ns());
    if (world.moves_before_next_timer()) {
      step(world);
    } else if (!world.timers.empty()) {
      jump_to_next_timer(world);
    }
  }
  return Outcome::completed;
}

template <MakeStep step>
Outcome run_all(World& world, ChosenFaults* chosen_faults) {
  const Outcome outcome = run_programs<step>(world, chosen_faults);
  return outcome == Outcome::completed ? quiesce<step>(world, chosen_faults) : outcome;
}

Outcome run_all(World& world, ChosenFaults* chosen_faults) {
  if (world.costs != nullptr) return run_all<timed_step>(world, chosen_faults);
  return world.step_observer != nullptr ? run_all<observed_step>(world, chosen_faults)
                                        : run_all<plain_step>(world, chosen_faults);
}

std::unique_ptr<ChosenFaults> make_chosen_faults(World& world) {
  return world.options.max_chosen_faults > 0 ? std::make_unique<ChosenFaults>(world) : nullptr;
}

}  // namespace

Simulation::Simulation(const SimulationOptions& options, Strategy& strategy,
                       fabric::FiberStackPool& stacks, TraceObserver* observer)
    : world_(std::make_unique<World>(options, strategy, stacks, observer, nullptr)),
      chosen_faults_(make_chosen_faults(*world_)) {}

Simulation::Simulation(const SimulationOptions& options, Strategy& strategy,
                       fabric::FiberStackPool& stacks, const timing::Profile& profile,
                       TraceObserver* observer)
    : world_(std::make_unique<World>(options, strategy, stacks, observer, &profile)),
      chosen_faults_(make_chosen_faults(*world_)) {}

Simulation::~Simulation() { unwind_all(*world_); }

fabric::Host& Simulation::add_host(const HostOptions& options,
                                   std::function<void(fabric::Host&)> boot) {
  if (find_host(*world_, options.name) != nullptr) {
    throw std::invalid_argument(fmt::format("there is a host '{}' already", options.name));
  }
  if (options.device_count == 0) {
    throw std::invalid_argument(fmt::format("host '{}' needs a device", options.name));
  }
  const auto index = static_cast<std::uint32_t>(world_->hosts.size());
  world_->hosts.push_back(world_->make<Host>(*world_, index, options, std::move(boot)));
  world_->trace.introduce({.kind = SubjectKind::host, .number = index, .host = options.name});
  return *world_->hosts.back();
}

RunResult Simulation::run() {
  World& world = *world_;
  for (const auto& host : world.hosts) host->start();
  RunResult result;
  result.outcome = run_all(world, chosen_faults_.get());
  if (world.step_observer != nullptr) world.step_observer->end_run();
  for (const auto& host : world.hosts) host->state().drain_stores();
  if (const std::string* divergence = world.strategy.divergence()) {
    result.outcome = Outcome::diverged;
    result.explanation = *divergence;
  } else if (result.outcome != Outcome::completed) {
    result.explanation = describe(world, to_string(result.outcome));
    if (world.spinning != nullptr) {
      result.explanation = world.spinning->describe_spinning() + "\n" + result.explanation;
    }
  }
  result.steps = world.trace.step();
  result.time_ns = world.trace.time_ns();
  result.trace_hash = world.trace.hash();
  unwind_all(world);
  result.faults = world.faults;
  result.simulator_probes = world.simulator_probes;
  result.probes = world.probes;
  result.uncommitted_use = world.uncommitted_use;
  return result;
}

std::optional<fabric::FiberId> Simulation::running_fiber() const {
  if (world_->running == nullptr) return std::nullopt;
  return world_->running->id();
}

std::optional<std::uint32_t> Simulation::peer_of(std::uint32_t queue_pair) const {
  const QueuePairActor* const peer = world_->queue_pairs.at(queue_pair - 1)->connection().peer();
  if (peer == nullptr) return std::nullopt;
  return peer->number();
}

std::vector<Usage> Simulation::usage() const {
  std::vector<Usage> all;
  if (world_->costs == nullptr) return all;
  for (const auto& machine : world_->costs->machines()) {
    const timing::Card& card = machine->card;
    const auto add = [&](std::string_view part, const timing::Resource& resource) {
      all.push_back({machine->name, std::string(part), timing::to_ns(resource.busy_ps())});
    };
    add("requester", card.requester);
    add("responder", card.responder);
    add("messages out", card.messages_out);
    add("messages in", card.messages_in);
    add("link out", card.outbound);
    add("link in", card.inbound);
    add("memory reads", card.memory_reads);
    add("memory writes", card.memory_writes);
  }
  for (const auto& host : world_->hosts) {
    all.push_back({host->state().machine_name(), fmt::format("thread of {}", host->name()),
                   timing::to_ns(host->state().thread().busy_ps),
                   host->state().thread().context_switches(world_->trace.time_ns())});
  }
  return all;
}

std::uint64_t Simulation::steps() const { return world_->trace.step(); }

void Simulation::stop() {
  world_->touch(Touchable::world, 0, Access::writes);
  world_->stop();
}

void Simulation::touch(std::uint32_t shared, Access access) {
  world_->touch(Touchable::shared, shared, access);
}

void Simulation::crash(std::string_view host) { named_host(*world_, host).crash(); }

void Simulation::restart(std::string_view host) { named_host(*world_, host).start(); }

void Simulation::pause(std::string_view host, std::uint64_t duration_ns) {
  named_host(*world_, host).pause(duration_ns);
}

bool Simulation::is_stopped(std::string_view host) const {
  return named_host(*world_, host).stopped();
}

void Simulation::break_connection(std::string_view host) {
  named_host(*world_, host).break_connections();
}

void Simulation::hold_landing(std::string_view host, std::uint64_t duration_ns) {
  named_host(*world_, host).hold_landing(duration_ns);
}

void Simulation::set_wall_clock(std::string_view host, std::int64_t error_ns) {
  world_->touch(Touchable::world, 0, Access::writes);
  named_host(*world_, host).set_wall_clock(error_ns);
}

}  // namespace falafel::sim
