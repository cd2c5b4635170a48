// The one source of choices. Whatever is not determined by the program and its options (which actor
// moves next, where a transfer tears, when a fault strikes) is asked of a Strategy, so a run is a
// function of (program, options, answers).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace falafel::sim {

enum class ChoiceKind : std::uint8_t {
  schedule,          // which of the actors that can move does
  request,           // which of a queue pair's requests moves on
  placement_start,   // where in a transfer the next words are moved
  placement_length,  // and how many of them
  packet,            // whether the next packet arrives before more words are placed
  atomic_gap,        // whether something may come between the read and the write of an atomic
  answer,            // whether the answer to a request arrives at once
  survivors,         // how much of what was in flight at a failure still arrives
  fault_step,        // when the next fault of a kind strikes
  fault_target,      // whom it strikes
  fault_duration,    // for how long
  loss,              // whether a packet is lost
  reordering,        // whether a datagram is overtaken
  preemption,        // whether traffic comes between two accesses of the processor
  head_start,        // whether a request moves before the fiber that waits for it gives way
  program,           // fabric::Host::random
  registration,      // whether a registration of memory is refused
  visibility,        // whether the processor sees words of a WRITE late, and which
};
inline constexpr std::size_t choice_kind_count = 18;
std::string_view to_string(ChoiceKind kind);

// A question: a number below `bound` (bound 0: any 64 bits), at this step of the run, the trace so far
// having this hash.
struct ChoicePoint {
  ChoiceKind kind;
  std::uint64_t bound;
  std::uint64_t step;
  std::uint64_t trace_hash;
};

using ActorId = std::uint32_t;

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::uint64_t choose(const ChoicePoint& point) = 0;
  // kind schedule: an index into `actors`, which are all that can move, at least two.
  virtual std::uint64_t schedule(const ChoicePoint& point, std::span<const ActorId> actors) = 0;
  // Not null: the questions are no longer those that the strategy has answers for; the text says
  // what no longer fits, and at which step. Answers are then meaningless, and the run is to end as
  // diverged. The text stays as it is as long as the strategy lives.
  virtual const std::string* divergence() const { return nullptr; }
};

}  // namespace falafel::sim
