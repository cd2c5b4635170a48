#include "fabric/sim/trace.h"

#include <fmt/format.h>

#include <cstring>

#include "fabric/sim/words/words.h"

namespace falafel::sim {

std::string_view to_string(EventKind kind) {
  switch (kind) {
    case EventKind::fiber_runs: return "fiber runs";
    case EventKind::request_posted: return "request posted";
    case EventKind::packet_arrives: return "packet arrives";
    case EventKind::words_read: return "words read";
    case EventKind::words_written: return "words written";
    case EventKind::atomic_read: return "atomic reads";
    case EventKind::atomic_written: return "atomic writes";
    case EventKind::message_delivered: return "message delivered";
    case EventKind::request_lost: return "request lost";
    case EventKind::request_completed: return "request completed";
    case EventKind::access_refused: return "access refused";
    case EventKind::queue_pair_error: return "queue pair in error";
    case EventKind::processor_access: return "processor writes";
    case EventKind::connection: return "connection";
    case EventKind::time_jump: return "clock jumps";
    case EventKind::fault: return "fault";
    case EventKind::host_started: return "host started";
    case EventKind::host_died: return "host died";
    case EventKind::processor_read: return "processor reads";
    case EventKind::fault_strikes: return "fault strikes";
    case EventKind::clock_set: return "clock set";
  }
  return "unknown event";
}

void Trace::mix_data(std::span<const std::byte> data) {
  std::uint64_t hash = now_.trace_hash;
  const auto mix_word = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
  };
  const std::size_t rest_bytes = data.size() % sizeof(std::uint64_t);
  const std::byte* const rest = data.data() + (data.size() - rest_bytes);
  for (const std::byte* word = data.data(); word != rest; word += sizeof(std::uint64_t)) {
    mix_word(load_word(word));
  }
  if (rest_bytes != 0) {
    std::uint64_t last = 0;
    std::memcpy(&last, rest, rest_bytes);
    mix_word(last);
  }
  now_.trace_hash = hash;
}

void Trace::report(const TraceEvent& event) {
  is_reporting_ = true;
  observer_->observe(event);
  is_reporting_ = false;
}

void TraceLog::observe(const TraceEvent& event) {
  entries_.push_back({event, {event.data.begin(), event.data.end()}});
  entries_.back().event.data = {};
  entries_.back().event.posted = nullptr;
  entries_.back().event.block = nullptr;
}

std::string describe(const TraceEvent& event) {
  return fmt::format("step {} at {} ns: {} ({} of {}, request {}, offset {}, word {:#x})",
                     event.step, event.time_ns, to_string(event.kind), event.detail, event.subject,
                     event.request, event.offset, event.word);
}

}  // namespace falafel::sim
