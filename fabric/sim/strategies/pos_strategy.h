// Partial order sampling (X. Yuan, J. Yang, R. Gu: "Partial Order Aware Concurrency Sampling", CAV
// 2018). The next step of every actor has a random priority, and of the actors that can move, the
// one whose step has the highest priority makes it. Its next step gets a new priority, and so does
// every pending step that races with the step just made. All other choices are random.
//
// A pending step keeps a low priority until a step that it races with is made. A step that races
// with none of n others therefore comes after all of them with probability 1 / (n + 1), where a
// random walk needs n lucky decisions. The order of steps that race is decided anew each time, as
// in a random walk.
//
// The strategy must guess what a pending step touches: what the last step of the actor touched, and
// the remote memory of the requests that were posted to it since. A wrong guess changes how likely
// a schedule is, but never excludes one.
//
// An actor that polls for ever starves no other one: the wait of a step for k steps of the other
// actor has probability 1 / (k + 1).
#pragma once

#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/random.h"
#include "fabric/sim/strategies/strategy.h"
#include "fabric/sim/touches.h"

namespace falafel::sim {

class PosStrategy final : public StepObserver, public Strategy {
 public:
  explicit PosStrategy(std::uint64_t seed) : random_(seed) {}

  std::uint64_t choose(const ChoicePoint& point) override { return random_.below(point.bound); }
  fabric::RandomGenerator* dice() override { return &random_; }
  std::uint64_t schedule(const ChoicePoint& point, std::span<const ActorId> actors) override;
  StepObserver* step_observer() override { return this; }

  bool begin_step(std::span<const ActorId> ready, std::uint64_t time_ns) override;
  bool begin_jump() override;
  void touch(const Touch& touch) override;
  Touchables heard_touchables() const override;
  void will_touch(ActorId actor, const Touch& touch) override;
  void end_run() override {}

 private:
  // A bit for each object that a step touches; several objects can have the same bit. Most pairs of
  // steps have nothing in common, and two comparisons of these sets show it.
  struct Objects {
    std::uint64_t touched = 0;
    std::uint64_t changed = 0;

    void add(std::uint64_t bit, Access access) {
      touched |= bit;
      if (!only_looks(access)) changed |= bit;
    }
    bool may_meet(std::uint64_t bit, Access access) const {
      return (bit & (only_looks(access) ? changed : touched)) != 0;
    }
    bool may_meet(const Objects& other) const {
      return ((touched & other.changed) | (changed & other.touched)) != 0;
    }
  };
  // A touch and the bit of its object.
  struct NotedTouch {
    explicit NotedTouch(const Touch& made) : touch(made), bit(bit_of(made)) {}
    static std::uint64_t bit_of(const Touch& touch) {
      constexpr std::uint32_t numbers_apart = 5;  // objects of one kind seldom have numbers above
      const std::uint32_t kind = static_cast<std::uint32_t>(touch.object) * numbers_apart;
      return std::uint64_t{1} << ((kind + touch.number) % 64);
    }

    Touch touch;
    std::uint64_t bit;
  };
  struct PendingStep {
    std::vector<NotedTouch> touches{};  // those of the actor's last step
    // The touches of requests that no step has touched yet, the oldest first. More than these say
    // little about the next step.
    boost::container::static_vector<NotedTouch, 4> posted{};
    Objects objects{};  // of both
  };

  // Takes note of the step that was just made: `ready` can move now.
  void end_step(std::span<const ActorId> ready);
  // Each new actor up to `last` gets its first pending step.
  void introduce(ActorId last) {
    if (last >= priorities_.size()) introduce_until(last);
  }
  void introduce_until(ActorId last);
  // Adds to the guess what posted requests will touch.
  void expect_posted(PendingStep& pending);
  bool races(const PendingStep& pending) const;
  bool races_with_any(std::span<const NotedTouch> pending) const;

  fabric::RandomGenerator random_;
  std::vector<std::uint64_t> priorities_;  // of the pending steps, by actor
  std::vector<PendingStep> pending_;       // by actor
  std::optional<ActorId> mover_;           // who makes the present step
  std::vector<NotedTouch> touches_;        // of the present step
  Objects objects_;                        // of these touches
};

}  // namespace falafel::sim
