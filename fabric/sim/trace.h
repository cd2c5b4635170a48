// What happened in a run, one event for each effect. The hash over all events identifies the run; the
// events themselves are seen only by an observer, if there is one. What changes memory is told before it
// does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace falafel::fabric {
class MemoryBlock;
struct WorkRequest;
}  // namespace falafel::fabric

namespace falafel::sim {

enum class EventKind : std::uint8_t {
  fiber_runs,         // subject: fiber
  request_posted,     // subject: queue pair; request, detail: opcode
  packet_arrives,     // offset: bytes of the request that have arrived
  words_read,         // offset, length, data: what a READ took from memory
  words_written,      // offset, length, data: what a WRITE put there
  atomic_read,        // offset, word: what an atomic read that does not write, or not at once
  atomic_written,     // offset, word: what it wrote; previous_word: what it had read
  message_delivered,  // a SEND is in a receive buffer
  request_lost,       // UC, UD
  request_completed,  // detail: status
  access_refused,     // offset, word: the status
  queue_pair_error,
  processor_access,  // offset, data or word: what is stored in the host's own memory
  connection,        // a step of a handshake
  time_jump,         // word: the time in nanoseconds
  fault,             // detail: FaultKind
  host_started,      // subject: host
  host_died,
  processor_read,  // offset, data or word: what the processor read there. For observers; not recorded
};
std::string_view to_string(EventKind kind);

struct TraceEvent {
  EventKind kind{};
  std::uint8_t detail = 0;
  std::uint32_t subject = 0;
  std::uint64_t request = 0;
  std::uint64_t offset = 0;
  std::uint64_t word = 0;
  std::uint64_t previous_word = 0;
  std::span<const std::byte> data{};  // valid during the call only
  // For observers; no part of the hash.
  // Of the events about a request; valid during the call only.
  const fabric::WorkRequest* posted = nullptr;
  const fabric::MemoryBlock* block = nullptr;  // processor_access, processor_read: in which memory
  std::uint64_t replaced_word = 0;             // processor_access by a compare-and-swap
  std::uint64_t place = 0;  // of the request in its send queue: programs give identifiers again
  std::uint64_t step = 0;
  std::uint64_t time_ns = 0;
};

// Whom events are about. Fibers have names; the views are valid during the call only.
enum class SubjectKind : std::uint8_t { fiber, queue_pair, host };
struct Subject {
  SubjectKind kind{};
  std::uint32_t number = 0;
  std::string_view host;
  std::string_view name{};
};

// The fibers of a host, or the requests of a queue pair, stand still from a step on, or move again.
struct Pause {
  Subject subject{};
  bool begins = false;
  std::uint64_t step = 0;
  std::uint64_t time_ns = 0;
};

// A set of kinds of events: bit i stands for the i-th.
using EventKinds = std::uint32_t;
inline constexpr EventKinds all_event_kinds = ~EventKinds{0};
static_assert(static_cast<unsigned>(EventKind::processor_read) < 32, "the last kind has a bit");
constexpr EventKinds event_kinds(std::initializer_list<EventKind> kinds) {
  EventKinds set = 0;
  for (const EventKind kind : kinds) set |= EventKinds{1} << static_cast<unsigned>(kind);
  return set;
}

class TraceObserver {
 public:
  virtual ~TraceObserver() = default;
  virtual void observe(const TraceEvent& event) = 0;
  // What is observed; asked once, before the run. Events that nobody wants cost little.
  virtual EventKinds observed_kinds() const { return all_event_kinds; }
  // Before the first event about it. No part of the trace.
  virtual void introduce(const Subject&) {}
  // No part of the trace either.
  virtual void observe_pause(const Pause&) {}
};

// Keeps the events of a run in memory.
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

// One line in words.
std::string describe(const TraceEvent& event);

class Trace {
 public:
  explicit Trace(TraceObserver* observer)
      : observer_(observer),
        observed_kinds_(observer == nullptr ? 0 : observer->observed_kinds()) {}

  void record(const TraceEvent& event) {
    mix(event);
    show(event);
  }

  // To observers alone: it changes nothing, and is no part of the hash.
  void show(const TraceEvent& event) {
    if ((observed_kinds_ & event_kinds({event.kind})) != 0) report(event);
  }

  void introduce(const Subject& subject) const {
    if (observer_ != nullptr) observer_->introduce(subject);
  }

  void report_pause(const Subject& subject, bool begins) const {
    if (observer_ == nullptr) return;
    observer_->observe_pause(
        {.subject = subject, .begins = begins, .step = step_, .time_ns = time_ns_});
  }

  std::uint64_t hash() const { return hash_; }
  std::uint64_t step() const { return step_; }
  std::uint64_t time_ns() const { return time_ns_; }
  void advance(std::uint64_t duration_ns) {
    ++step_;
    time_ns_ += duration_ns;
  }
  void jump_to(std::uint64_t time_ns) { time_ns_ = time_ns; }

 private:
  // Multiplications that do not wait for each other, then one that spreads the sum.
  void mix(const TraceEvent& event) {
    const std::uint64_t head = static_cast<std::uint64_t>(event.kind) |
                               static_cast<std::uint64_t>(event.detail) << 8U |
                               static_cast<std::uint64_t>(event.subject) << 32U;
    const std::uint64_t sum = head * 0x9e3779b97f4a7c15U ^ event.request * 0xbf58476d1ce4e5b9U ^
                              event.offset * 0x94d049bb133111ebU ^
                              event.word * 0xd6e8feb86659fd93U ^
                              event.previous_word * 0xa0761d6478bd642fU;
    hash_ = (hash_ ^ sum) * 0xff51afd7ed558ccdU;
    hash_ ^= hash_ >> 32U;
    if (!event.data.empty()) mix_data(event.data);
  }
  void mix_data(std::span<const std::byte> data);
  void report(TraceEvent event);

  TraceObserver* observer_;
  EventKinds observed_kinds_;
  std::uint64_t hash_ = 0x66616c6166656c00;
  std::uint64_t step_ = 0;
  std::uint64_t time_ns_ = 0;
};

}  // namespace falafel::sim
