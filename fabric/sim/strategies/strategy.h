// The only source of choices. The simulator asks a Strategy whatever the program and its options do
// not determine: which actor moves next, where a transfer tears, when a fault strikes. A run is
// therefore a function of the program, the options and the answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fabric/random.h"

namespace falafel::sim {

enum class ChoiceKind : std::uint8_t {
  schedule,          // which of the actors that can move makes the step
  request,           // which request of a queue pair makes a step
  placement_start,   // where in a transfer words are moved next
  placement_length,  // and how many of them
  packet,            // whether the next packet arrives before more words are placed
  atomic_gap,        // whether others may move between the read and the write of an atomic
  answer,            // whether the answer to a request arrives at once
  survivors,         // how many requests in flight at a failure still arrive
  fault_step,        // when the next fault of a kind strikes
  fault_target,      // which host or queue pair it strikes
  fault_duration,    // how long it lasts
  loss,              // whether a packet is lost
  reordering,        // whether a datagram is overtaken
  preemption,        // whether others move before an access of the processor, or at a point
  program,           // fabric::Host::random
  registration,      // whether registering memory fails
  visibility,        // whether the processor sees words of a WRITE late, and which
  clock,             // how far the clocks of a host are off, and how fast they run
  key,               // which key a region of a host that has restarted gets
  detection,         // how long a device goes on to repeat a request without an answer
};
inline constexpr std::size_t choice_kind_count = 20;
std::string_view to_string(ChoiceKind kind);

// Bit i stands for answer i; 0 stands for all answers.
using Answers = std::uint64_t;
inline constexpr Answers all_answers = 0;
inline constexpr Answers only_first = 0b01;
inline constexpr Answers only_second = 0b10;
inline constexpr Answers yes_or_no = 0b11;  // 0 is yes, and all other answers are no

// A question. The answer is a number below `bound`, or any 64 bits if `bound` is 0. `step` and
// `trace_hash` identify the point of the run.
struct ChoicePoint {
  ChoiceKind kind{};
  std::uint64_t bound = 0;
  std::uint64_t step = 0;
  std::uint64_t trace_hash = 0;
  // These answers suffice to reach, with other orders of steps, whatever the others lead to.
  Answers sufficient = all_answers;
};

using ActorId = std::uint32_t;

class StepObserver;

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::uint64_t choose(const ChoicePoint& point) = 0;
  // Answers a question of kind `schedule`: an index into `actors`, the two or more actors that can
  // move.
  virtual std::uint64_t schedule(const ChoicePoint& point, std::span<const ActorId> actors) = 0;
  // Not null if choose() only draws from this generator. The simulator then draws itself, and does
  // not call. The same holds for schedule() if draws_schedule().
  virtual fabric::RandomGenerator* dice() { return nullptr; }
  virtual bool draws_schedule() const { return false; }
  // Not null if the strategy has no answers for the questions any more. The text says what differs,
  // and at which step. The answers are then meaningless, and the run must end as diverged. The text
  // is valid and unchanged as long as the strategy exists.
  virtual const std::string* divergence() const { return nullptr; }
  // Not null if the strategy wants to see the steps of the run. Called once, before the run; the
  // observer must outlive the run.
  virtual StepObserver* step_observer() { return nullptr; }
};

}  // namespace falafel::sim
