// Faults that the schedule chooses, with the option max_chosen_faults: every kind with a rate above
// 0 can strike every target at any step, until as many faults have struck as the option permits.
//
// A fault is an actor, one for each kind and target, which can move while it can strike. An
// exhaustive exploration thus treats a fault like any other step (docs/exhaustive.md). Because
// faults can strike when nothing else can move, the clock is an actor too: its step jumps to the
// next timer, or ends the run if there is none.
//
// Whether a fault can strike must not depend on two actors whose steps commute: a search that runs
// their steps in one order would not see that the fault can strike in the other order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fabric/sim/host/faults.h"
#include "fabric/sim/run/scheduler.h"
#include "fabric/sim/run/world.h"
#include "fabric/sim/touches.h"

namespace falafel::sim {

class ChosenFaults final : public FaultChooser {
 public:
  // The world asks it about faults that are no actors.
  explicit ChosenFaults(World& world) : world_(world) { world.fault_chooser = this; }
  ChosenFaults(const ChosenFaults&) = delete;
  ChosenFaults& operator=(const ChosenFaults&) = delete;

  // Call before each step: determines which faults can strike, and whether the clock can move.
  void refresh();
  // The programs have returned: nothing strikes any more.
  void end();
  // The clock was to move, but there was no timer.
  bool is_stuck() const { return is_stuck_; }

  // Asks, unless all have struck.
  bool strikes(ChoiceKind choice) override;

 private:
  class Clock final : public Actor {
   public:
    explicit Clock(ChosenFaults& faults) : faults_(faults) {}
    void step() override { faults_.move_clock(); }
    std::string describe() const override { return "the clock"; }

   private:
    ChosenFaults& faults_;
  };

  class Fault final : public Actor {
   public:
    Fault(ChosenFaults& faults, FaultKind kind, FaultTarget target)
        : faults_(faults), kind_(kind), target_(target) {}
    void step() override { faults_.strike(*this); }
    std::string describe() const override;

    FaultKind kind() const { return kind_; }
    const FaultTarget& target() const { return target_; }

   private:
    ChosenFaults& faults_;
    FaultKind kind_;
    FaultTarget target_;
  };

  bool is_chosen(FaultKind kind) const;
  bool may_strike() const;
  bool can_strike(const Fault& fault) const;
  void introduce_all();
  void add(FaultKind kind, FaultTarget target);
  void introduce(Actor& actor, SpecialActor role);
  void strike(const Fault& fault);
  void count_strike();
  void move_clock();
  void jump();

  World& world_;
  std::unique_ptr<Clock> clock_;
  std::vector<std::unique_ptr<Fault>> faults_;
  std::size_t known_hosts_ = 0;        // that have their faults
  std::size_t known_queue_pairs_ = 0;  // the same
  std::uint64_t struck_ = 0;
  bool is_stuck_ = false;
};

}  // namespace falafel::sim
