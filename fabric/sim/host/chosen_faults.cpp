#include "fabric/sim/host/chosen_faults.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/sim/host/host.h"
#include "fabric/sim/network/queue_pair.h"

namespace falafel::sim {

bool ChosenFaults::is_chosen(FaultKind kind) const { return world_.options.fault_rate(kind) > 0; }

bool ChosenFaults::may_strike() const {
  return struck_ < world_.options.max_chosen_faults &&
         world_.trace.step() <= world_.options.last_fault_step;
}

bool ChosenFaults::strikes(ChoiceKind choice) {
  world_.touch(Touchable::faults, 0, Access::reads);
  if (!may_strike() || world_.choose(choice, 2, yes_or_no) != 0) return false;
  count_strike();
  return true;
}

void ChosenFaults::count_strike() {
  world_.touch(Touchable::faults, 0, Access::writes);
  ++struck_;
}

// The clock can move only if no program and no network can, so faults and clock leave the set
// before it is looked at.
void ChosenFaults::refresh() {
  introduce_all();
  for (const auto& fault : faults_) world_.ready.set_work(*fault, false);
  world_.ready.set_work(*clock_, false);
  world_.ready.set_work(*clock_, world_.ready.size() == 0);
  if (!may_strike()) return;
  for (const auto& fault : faults_) world_.ready.set_work(*fault, can_strike(*fault));
}

void ChosenFaults::end() {
  for (const auto& fault : faults_) world_.ready.set_work(*fault, false);
  if (clock_ != nullptr) world_.ready.set_work(*clock_, false);
}

bool ChosenFaults::can_strike(const Fault& fault) const {
  if (fault.kind() == FaultKind::latency_spike) return !world_.timers.empty();
  return sim::can_strike(fault.kind(), fault.target());
}

void ChosenFaults::introduce_all() {
  if (clock_ == nullptr) {
    clock_ = std::make_unique<Clock>(*this);
    introduce(*clock_, SpecialActor::clock);
    add(FaultKind::latency_spike, {});
  }
  for (; known_hosts_ < world_.hosts.size(); ++known_hosts_) {
    for (const FaultKind kind : faults_of_hosts) {
      add(kind, {.host = world_.hosts[known_hosts_].get()});
    }
  }
  for (; known_queue_pairs_ < world_.queue_pairs.size(); ++known_queue_pairs_) {
    for (const FaultKind kind : faults_of_queue_pairs) {
      add(kind, {.queue_pair = world_.queue_pairs[known_queue_pairs_].get()});
    }
  }
}

void ChosenFaults::add(FaultKind kind, FaultTarget target) {
  if (!is_chosen(kind)) return;
  faults_.push_back(std::make_unique<Fault>(*this, kind, target));
  introduce(*faults_.back(), SpecialActor::fault);
}

void ChosenFaults::introduce(Actor& actor, SpecialActor role) {
  world_.ready.introduce(actor);
  if (world_.step_observer == nullptr) return;
  world_.step_observer->introduce_special(actor.actor_id(), role);
}

// Nothing commutes with a fault (docs/exhaustive.md explains why).
void ChosenFaults::strike(const Fault& fault) {
  world_.touch(Touchable::world, 0, Access::writes);
  count_strike();
  world_.count(fault.kind());
  if (fault.kind() == FaultKind::latency_spike) {
    jump();
  } else {
    const std::uint64_t duration_ns = world_.options.longest_stall_ns;
    sim::strike(world_, fault.kind(), fault.target(), [duration_ns] { return duration_ns; });
  }
}

void ChosenFaults::move_clock() {
  if (world_.timers.empty()) {
    is_stuck_ = true;
  } else {
    jump();
    world_.trace.record({.kind = EventKind::time_jump, .word = world_.trace.time_ns()});
  }
}

void ChosenFaults::jump() {
  world_.touch(Touchable::world, 0, Access::writes);
  world_.trace.jump_to(std::max(world_.trace.time_ns(), world_.timers.next_ns()));
}

std::string ChosenFaults::Fault::describe() const {
  return fmt::format("fault {}", to_string(kind_));
}

}  // namespace falafel::sim
