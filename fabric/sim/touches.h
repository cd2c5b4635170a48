// The objects that the steps of a run touch, for an explorer that asks which steps commute.
//
// A step that touches nothing that another step changes commutes with it: both orders lead to the
// same state. The simulator reports touches only if the strategy brings a StepObserver. It may
// report more than a step touched, but never less. docs/exhaustive.md lists what each kind of step
// reports, and what a program must report itself (Simulation::touch).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fabric/sim/strategies/strategy.h"

namespace falafel::sim {

enum class Touchable : std::uint8_t {
  world,             // everything that has no entry of its own, such as crashes; all steps read it
  actor,             // by ActorId: its own state, and whether it can move
  host_program,      // by host: the variables that the host's fibers share
  program_end,       // how many fibers the run still waits for
  connection,        // by queue pair: the state of this side
  receives,          // by receive queue: its requests
  completion_queue,  // by number
  turns,             // by host: the order in which its fibers became able to run
  services,          // by host: its listeners, and the requests that arrived there
  event,             // by number
  memory,            // by block: a range of bytes
  store_buffer,      // by host: its entries, by number
  region,            // by key: its rights, and whether it is valid
  faults,            // how many chosen faults have struck
  numbers,           // the numbers that the next new objects get
  transfers,         // by queue pair: units of transfers, by place and unit: arrived, in place
  answers,           // by queue pair: a request is answered, by place
  writes,            // by queue pair: a WRITE or SEND has taken effect, by place
  atomics,           // by queue pair: an atomic has taken effect, by place
  completions,       // by queue pair: a request has completed, by place
  late_words,        // by queue pair: its words that processors see late
  visibility,        // which late words have become visible
  shared,            // by number: what the program reports itself
};

// A set of kinds of objects: a bit for each.
using Touchables = std::uint32_t;
inline constexpr Touchables all_touchables = ~Touchables{0};
inline constexpr Touchables no_touchables = 0;

constexpr Touchables touchables(Touchable object) {
  return Touchables{1} << static_cast<unsigned>(object);
}

enum class Access : std::uint8_t {
  reads,
  adds,
  writes,
  joins,   // adds, and whoever awaits the object needs all that join
  awaits,  // reads, in a step that is impossible before all steps that join
};

constexpr bool only_looks(Access access) {
  return access == Access::reads || access == Access::awaits;
}

// Tells if two accesses to one object commute. Additions commute with each other, but a reader sees
// how many there were.
constexpr bool commute(Access left, Access right) {
  if (only_looks(left) && only_looks(right)) return true;
  return left == right && left != Access::writes;
}

struct Touch {
  Touchable object{};
  std::uint32_t number = 0;
  Access access{};
  // A range of the object. Accesses to different parts commute.
  std::uint64_t begin = 0;
  std::uint64_t end = 1;
};

// Tells if the steps of two actors commute as far as these two touches are concerned.
constexpr bool commute(const Touch& left, const Touch& right) {
  const bool overlap = left.object == right.object && left.number == right.number &&
                       left.begin < right.end && right.begin < left.end;
  return !overlap || commute(left.access, right.access);
}

// Actors that are not part of the program or the network (SimulationOptions::max_chosen_faults).
enum class SpecialActor : std::uint8_t {
  clock,  // jumps to the next timer, or ends the run; moves only if no other actor but faults can
  fault,  // strikes
};

// A part of an actor whose next step is known without a question: a request of a queue pair, a word
// of a transfer, the next completion. Steps of different lanes can commute.
using LaneNumber = std::uint32_t;
// An actor without parts. Its steps ask their questions.
inline constexpr LaneNumber whole_actor = 0;

struct Lane {
  ActorId actor{};
  LaneNumber number = whole_actor;

  friend bool operator==(const Lane&, const Lane&) = default;
};

// Sees a run step by step. A touch belongs to the step that began last.
// A deadline of a fiber, or of the network if there is no fiber. The texts are valid during the
// call that gets it.
struct Deadline {
  std::string_view host{};
  std::string_view fiber{};
  std::string_view waits_for{};
};

class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // Called before the first step that the actor could make.
  virtual void introduce_special(ActorId /*actor*/, SpecialActor /*role*/) {}
  // One of these actors is about to make a step. Returns false to end the run.
  virtual bool begin_step(std::span<const ActorId> ready, std::uint64_t time_ns) = 0;
  // Tells if it decides which lane of an actor makes a step. Then steps of lanes do not touch their
  // actor as a whole, but report what they touch of it. Constant during a run.
  virtual bool tells_lanes() const { return false; }
  // Called before begin_step() if it tells lanes: those that can make the next step.
  virtual void offer_lanes(std::span<const Lane> /*lanes*/) {}
  // The lane of the actor that makes the step, or `whole_actor`, whatever its lanes.
  virtual LaneNumber lane() const { return whole_actor; }
  // No actor can move, so the clock jumps to the next timer. Returns false to end the run.
  virtual bool begin_jump() = 0;
  virtual void touch(const Touch& touch) = 0;
  // The kinds of objects whose touches it wants to hear of. Constant during a run.
  virtual Touchables heard_touchables() const { return all_touchables; }
  // The program has prepared itself: what interests it begins after this step.
  virtual void end_preparations() {}
  // True: before steps, it is told which deadlines are pending. A deadline passes only when nothing
  // else can move, so such a step is never tried after it.
  virtual bool wants_deadlines() const { return false; }
  virtual void leave_out(const Deadline& /*deadline*/) {}
  // The actor has got work, and later steps of it will probably touch this, as far as the simulator
  // can say before they are made.
  virtual void will_touch(ActorId /*actor*/, const Touch& /*touch*/) {}
  // The run is over. What follows is its destruction.
  virtual void end_run() = 0;
};

}  // namespace falafel::sim
