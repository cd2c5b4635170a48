// The events of a run, one for each effect. A hash over all events identifies the run. An observer,
// if there is one, sees the events. An event that changes memory comes before the change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/assert.h"
#include "fabric/sim/strategies/strategy.h"

namespace falafel::fabric {
class MemoryBlock;
struct WorkRequest;
}  // namespace falafel::fabric

namespace falafel::sim {

enum class EventKind : std::uint8_t {
  fiber_runs,         // subject: fiber
  request_posted,     // subject: queue pair; request, detail: opcode
  packet_arrives,     // offset: bytes of the request that have arrived
  words_read,         // offset, length, data: the words that a READ took from memory
  words_written,      // offset, length, data: the words that a WRITE puts into memory
  atomic_read,        // offset, word: read by an atomic that does not write, or later
  atomic_written,     // offset, word: written by an atomic; previous_word: read by it
  message_delivered,  // a SEND is in a receive buffer
  request_lost,       // UC, UD
  request_completed,  // detail: status
  access_refused,     // offset, word: the status
  queue_pair_error,
  processor_access,  // offset, data or word: stored by the processor in its host's memory
  connection,        // a step of a handshake, or a notice that the peer is gone (in detail)
  time_jump,         // word: the time in nanoseconds
  fault,             // detail: FaultKind
  host_started,      // subject: host
  host_died,
  // For observers only.
  processor_read,  // offset, data or word: read by the processor
  fault_strikes,   // detail: FaultKind, subject: the host; before its effects
  clock_set,       // subject: host, word: error of its wall clock in ns, previous_word: ppm
};
std::string_view to_string(EventKind kind);

// The details of `connection` events that are a notice of closing and the end of a message stream;
// smaller ones are stages of a handshake.
inline constexpr std::uint8_t closing_notice_detail = 5;
inline constexpr std::uint8_t end_of_stream_detail = 6;

struct TraceEvent {
  EventKind kind{};
  std::uint8_t detail = 0;
  std::uint32_t subject = 0;
  std::uint64_t request = 0;
  std::uint64_t offset = 0;
  std::uint64_t word = 0;
  std::uint64_t previous_word = 0;
  std::span<const std::byte> data{};  // valid during the call only
  // The following fields are for observers and not part of the hash.
  // The request of an event about a request; valid during the call only.
  const fabric::WorkRequest* posted = nullptr;
  // The memory that the offset refers to. Null if the event is not about memory. The pointer
  // identifies the block until another one is introduced at the same address.
  const fabric::MemoryBlock* block = nullptr;
  std::optional<std::uint64_t> replaced_word{};  // of processor_access by a compare-and-swap
  std::uint64_t place = 0;  // of the request in its send queue; programs may reuse ids
  std::uint32_t fiber = 0;  // of processor_access and processor_read: who made it
  std::uint64_t step = 0;
  std::uint64_t time_ns = 0;
};

// The subject of an event. Only fibers have a name. The views are valid during the call only.
// Blocks of memory are numbered in the order of their allocation in the run.
enum class SubjectKind : std::uint8_t { fiber, queue_pair, host, memory };
struct Subject {
  SubjectKind kind{};
  std::uint32_t number = 0;
  std::string_view host;
  std::string_view name{};
  const fabric::MemoryBlock* block = nullptr;  // of a block of memory
};

// The fibers of a host, or the requests of a queue pair, pause or resume.
struct Pause {
  Subject subject{};
  bool begins = false;
  std::uint64_t step = 0;
  std::uint64_t time_ns = 0;
};

// A set of kinds of events: bit i stands for the i-th kind.
using EventKinds = std::uint32_t;
inline constexpr EventKinds all_event_kinds = ~EventKinds{0};
static_assert(static_cast<unsigned>(EventKind::clock_set) < 32, "the last kind has a bit");
constexpr EventKinds event_kinds(std::initializer_list<EventKind> kinds) {
  EventKinds set = 0;
  for (const EventKind kind : kinds) set |= EventKinds{1} << static_cast<unsigned>(kind);
  return set;
}

class TraceObserver {
 public:
  virtual ~TraceObserver() = default;
  virtual void observe(const TraceEvent& event) = 0;
  // The kinds to observe. Called once, before the run.
  virtual EventKinds observed_kinds() const { return all_event_kinds; }
  // Called before the first event about the subject; for hosts, in the order of their numbers. Not
  // part of the trace.
  virtual void introduce(const Subject&) {}
  // Not part of the trace either.
  virtual void observe_pause(const Pause&) {}
};

// Stores the events of a run in memory.
class TraceLog final : public TraceObserver {
 public:
  struct Entry {
    TraceEvent event;
    std::vector<std::byte> data;
  };
  void observe(const TraceEvent& event) override;
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// One line of text.
std::string describe(const TraceEvent& event);

class Trace {
 public:
  explicit Trace(TraceObserver* observer)
      : observer_(observer),
        observed_kinds_(observer == nullptr ? 0 : observer->observed_kinds()) {}

  // The data comes last, so nothing else of the event has to wait in memory while it is mixed.
  void record(const TraceEvent& event) {
    mix(event);
    show(event);
    if (!event.data.empty()) mix_data(event.data);
  }

  // Shows an event to the observer alone; the hash does not include it. What the observer sees is
  // made here, field by field, so the event of the caller exists in registers only.
  void show(const TraceEvent& event) {
    if ((observed_kinds_ & event_kinds({event.kind})) == 0) return;
    report({.kind = event.kind,
            .detail = event.detail,
            .subject = event.subject,
            .request = event.request,
            .offset = event.offset,
            .word = event.word,
            .previous_word = event.previous_word,
            .data = event.data,
            .posted = event.posted,
            .block = event.block,
            .replaced_word = event.replaced_word,
            .place = event.place,
            .fiber = event.fiber,
            .step = now_.step,
            .time_ns = time_ns_});
  }

  void introduce(const Subject& subject) const {
    if (observer_ != nullptr) observer_->introduce(subject);
  }

  void report_pause(const Subject& subject, bool begins) const {
    if (observer_ == nullptr) return;
    observer_->observe_pause(
        {.subject = subject, .begins = begins, .step = now_.step, .time_ns = time_ns_});
  }

  // The question at this point of the run. Valid until the next one.
  const ChoicePoint& ask(ChoiceKind kind, std::uint64_t bound, Answers sufficient = all_answers) {
    now_.kind = kind;
    now_.bound = bound;
    now_.sufficient = sufficient;
    return now_;
  }

  std::uint64_t hash() const { return now_.trace_hash; }
  bool is_reporting() const { return is_reporting_; }  // the observer sees an event
  std::uint64_t step() const { return now_.step; }
  std::uint64_t time_ns() const { return time_ns_; }
  void advance(std::uint64_t duration_ns) {
    ++now_.step;
    time_ns_ += duration_ns;
  }
  void jump_to(std::uint64_t time_ns) {
    FALAFEL_ASSERT(time_ns >= time_ns_, "the clock goes back from {} to {} ns", time_ns_, time_ns);
    time_ns_ = time_ns;
  }

 private:
  // All but the data: independent multiplications, then one that spreads the bits of the sum.
  void mix(const TraceEvent& event) {
    const std::uint64_t head = static_cast<std::uint64_t>(event.kind) |
                               static_cast<std::uint64_t>(event.detail) << 8U |
                               static_cast<std::uint64_t>(event.subject) << 32U;
    const std::uint64_t sum = head * 0x9e3779b97f4a7c15U ^ event.request * 0xbf58476d1ce4e5b9U ^
                              event.offset * 0x94d049bb133111ebU ^
                              event.word * 0xd6e8feb86659fd93U ^
                              event.previous_word * 0xa0761d6478bd642fU;
    const std::uint64_t mixed = (now_.trace_hash ^ sum) * 0xff51afd7ed558ccdU;
    now_.trace_hash = mixed ^ mixed >> 32U;
  }
  void mix_data(std::span<const std::byte> data);
  void report(const TraceEvent& event);

  TraceObserver* observer_;
  EventKinds observed_kinds_;
  bool is_reporting_ = false;
  // The step and the hash, as part of the next question, so that asking copies neither.
  ChoicePoint now_{.trace_hash = 0x66616c6166656c00};
  std::uint64_t time_ns_ = 0;
};

}  // namespace falafel::sim
