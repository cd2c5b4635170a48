// What the steps of a run touch, for an explorer that asks which steps commute.
//
// A step that touches nothing that another step changes commutes with it: both orders lead to the
// same state. The simulator reports touches only if the strategy brings a StepObserver. It may
// report more than a step touched, but never less. docs/exhaustive.md lists what each kind of step
// reports, and what a program must report itself (Simulation::touch).
#pragma once

#include <cstdint>
#include <span>

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
  late_words,        // by queue pair: its words that processors see late
  visibility,        // which late words have become visible
  shared,            // by number: what the program reports itself
};

enum class Access : std::uint8_t { reads, adds, writes };

// Whether two accesses to one object commute. Additions commute with each other, but a reader sees
// how many there were.
constexpr bool commute(Access left, Access right) {
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

// Whether the steps of two actors commute as far as these two touches are concerned.
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

// Sees a run step by step. A touch belongs to the step that began last.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // Called before the first step that the actor could make.
  virtual void introduce_special(ActorId /*actor*/, SpecialActor /*role*/) {}
  // One of these actors is about to make a step. Returns false to end the run.
  virtual bool begin_step(std::span<const ActorId> ready, std::uint64_t time_ns) = 0;
  // No actor can move, so the clock jumps to the next timer. Returns false to end the run.
  virtual bool begin_jump() = 0;
  virtual void touch(const Touch& touch) = 0;
  // The actor has got work, and later steps of it will probably touch this, as far as the simulator
  // can say before they are made.
  virtual void will_touch(ActorId /*actor*/, const Touch& /*touch*/) {}
  // The run is over. What follows is its destruction.
  virtual void end_run() = 0;
};

}  // namespace falafel::sim
