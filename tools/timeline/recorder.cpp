#include "tools/timeline/recorder.h"

#include <algorithm>

#include "engine/client/results.h"
#include "engine/layout/entry.h"
#include "tools/store_scenario/store_world.h"
#include "tools/timeline/readable.h"

namespace falafel::timeline {
namespace {

constexpr std::uint64_t word_bytes = fabric::word_bytes;
// A READ of a long container may have thousands of sources; more than this many add no information.
constexpr std::size_t most_sources = 8;

EffectKind kind_of(const sim::TraceEvent& event) {
  switch (event.kind) {
    case sim::EventKind::words_read: return EffectKind::read;
    case sim::EventKind::words_written: return EffectKind::written;
    case sim::EventKind::atomic_read: return EffectKind::atomic_read;
    case sim::EventKind::atomic_written:
      return event.word == event.previous_word ? EffectKind::refused : EffectKind::swapped;
    case sim::EventKind::message_delivered: return EffectKind::delivered;
    case sim::EventKind::access_refused: return EffectKind::denied;
    default: return EffectKind::lost;
  }
}

bool is_write(EffectKind kind) {
  return kind == EffectKind::written || kind == EffectKind::swapped || kind == EffectKind::stored;
}

bool is_read(EffectKind kind) {
  return kind == EffectKind::read || kind == EffectKind::refused || kind == EffectKind::atomic_read;
}

}  // namespace

Recorder::Recorder(const store_scenario::Scenario& scenario)
    : scenario_(scenario),
      story_(scenario),
      lanes_(store_scenario::client_hosts(scenario)),
      memory_(scenario.geometry),
      writers_(scenario.geometry.chunk_bytes() / word_bytes + 1, none),
      connections_(scenario.geometry.region_count, none) {
  timeline_.geometry = scenario.geometry;
  timeline_.step_duration_ns = scenario.simulation.step_duration_ns;
  timeline_.lanes = lanes_.to_lanes();
}

// Memory

void Recorder::on_memory(std::uint64_t step, const checkers::MemoryView* memory) {
  if (memory != nullptr) {
    memory_.look(memory_step_, *memory, first_connection_);
    for (std::size_t region = 0; region < connections_.size(); ++region) {
      const bool is_granted = memory->regions[region].state == engine::RegionState::granted;
      connections_[region] = is_granted ? first_connection_ + memory->regions[region].client : none;
    }
  }
  memory_step_ = step;
}

// Operations

void Recorder::on_call(const checkers::Operation& operation) {
  story_.on_call(operation);
  const auto number = static_cast<std::uint32_t>(timeline_.operations.size());
  const bool is_at_rest = operation.client >= scenario_.clients.size();
  timeline_.operations.push_back(
      {.lane = is_at_rest ? lanes_.server() : lanes_.client(operation.client),
       .kind = std::string(to_string(operation.kind)),
       .key = readable(operation.key),
       .value = readable(operation.value),
       .answer = {},
       .call_time = operation.call_time,
       .call_step = step_});
  operation_of_call_[operation.call_time] = number;
  if (!is_at_rest) operation_of_fiber_[running_] = number;
}

void Recorder::on_return(const checkers::Operation& operation, engine::Answer answer) {
  story_.on_return(operation, answer);
  const auto found = operation_of_call_.find(operation.call_time);
  OperationSpan& returned = timeline_.operations[found->second];
  returned.value = readable(operation.value);
  returned.answer = engine::to_string(answer);
  returned.return_step = step_;
  operation_of_call_.erase(found);
  operation_of_fiber_.erase(running_);
}

// Events

void Recorder::introduce(const sim::Subject& subject) {
  story_.introduce(subject);
  lanes_.introduce(subject);
}

void Recorder::keep_time(const sim::TraceEvent& event) {
  const std::uint64_t expected_ns = time_ns_ + (event.step - step_) * timeline_.step_duration_ns;
  if (event.time_ns != expected_ns) {
    timeline_.clock.push_back({.step = event.step, .time_ns = event.time_ns});
  }
  step_ = event.step;
  time_ns_ = event.time_ns;
}

void Recorder::observe(const sim::TraceEvent& event) {
  story_.observe(event);
  lives_.observe(event);
  keep_time(event);
  using sim::EventKind;
  switch (event.kind) {
    case EventKind::fiber_runs:
      running_ = event.subject;
      running_step_ = event.step;
      break;
    case EventKind::request_posted: return on_posted(event);
    case EventKind::request_completed: return on_completed(event);
    case EventKind::words_read:
    case EventKind::words_written:
    case EventKind::atomic_read:
    case EventKind::atomic_written:
    case EventKind::message_delivered:
    case EventKind::request_lost:
    case EventKind::access_refused: return on_effect(event);
    case EventKind::processor_access: return on_processor_access(event);
    case EventKind::queue_pair_error: return on_queue_pair_error(event);
    case EventKind::connection:
      return mark(MarkKind::connection, lanes_.of_queue_pair(event.subject),
                  event.detail == sim::closing_notice_detail ? "hears that the peer has closed"
                                                             : "connects");
    case EventKind::fault:
      return mark(MarkKind::fault, none,
                  std::string(to_string(static_cast<sim::FaultKind>(event.detail))));
    case EventKind::host_started:
      return mark(MarkKind::started, lanes_.of_host(event.subject), "starts");
    case EventKind::host_died: return on_host_died(event.subject);
    case EventKind::packet_arrives:
    case EventKind::time_jump:
    case EventKind::processor_read: break;
  }
}

void Recorder::mark(MarkKind kind, std::uint32_t lane, std::string text) {
  timeline_.marks.push_back({.kind = kind, .lane = lane, .step = step_, .text = std::move(text)});
}

// The server's membership moves a queue pair to the error state to fence a client; other queue
// pairs break.
void Recorder::on_queue_pair_error(const sim::TraceEvent& event) {
  const std::uint32_t lane = lanes_.of_queue_pair(event.subject);
  const bool is_fence = !lanes_.is_client(lane) && running_step_ == step_ &&
                        lanes_.of_fiber(running_) == lanes_.membership();
  if (is_fence) {
    mark(MarkKind::fence, lanes_.membership(), "fences a client");
  } else if (event.detail == 0) {
    mark(MarkKind::queue_pair_error, lane, "a queue pair enters the error state");
  } else {
    mark(MarkKind::closed, lane, "a queue pair is closed");
  }
}

// The answers of its operations are unknown.
void Recorder::on_host_died(std::uint32_t host) {
  mark(MarkKind::crashed, lanes_.of_host(host), "dies");
  if (host == 0) forget_memory();
  std::erase_if(operation_of_call_, [&](const auto& called) {
    OperationSpan& operation = timeline_.operations[called.second];
    if (operation.lane != lanes_.of_host(host)) return false;
    operation.answer = "its client crashed";
    operation.return_step = step_;
    return true;
  });
}

// The restarted server is empty and numbers its clients from the start.
void Recorder::forget_memory() {
  std::ranges::fill(writers_, none);
  first_connection_ = static_cast<std::uint32_t>(timeline_.connection_lanes.size());
}

void Recorder::observe_pause(const sim::Pause& pause) {
  const bool is_host = pause.subject.kind == sim::SubjectKind::host;
  const Standing who{pause.subject.kind, pause.subject.number};
  if (pause.begins) {
    standing_[who] = static_cast<std::uint32_t>(timeline_.standstills.size());
    timeline_.standstills.push_back({.lane = is_host ? lanes_.of_host(pause.subject.number)
                                                     : lanes_.of_queue_pair(pause.subject.number),
                                     .is_host = is_host,
                                     .first_step = pause.step});
  } else if (const auto found = standing_.find(who); found != standing_.end()) {
    timeline_.standstills[found->second].last_step = pause.step;
    standing_.erase(found);
  }
}

// Requests and effects

// Messages of the server belong to membership, other requests to the part that posts them.
std::uint32_t Recorder::lane_of_sender(const sim::TraceEvent& event) const {
  const std::uint32_t lane = lanes_.of_queue_pair(event.subject);
  if (lanes_.is_client(lane)) return lane;
  return event.posted->opcode == fabric::Opcode::send ? lanes_.membership()
                                                      : lanes_.of_fiber(running_);
}

void Recorder::on_posted(const sim::TraceEvent& event) {
  const fabric::WorkRequest& posted = *event.posted;
  const auto operation = operation_of_fiber_.find(running_);
  const bool is_of_operation =
      operation != operation_of_fiber_.end() && posted.opcode != fabric::Opcode::send;
  requests_[{event.subject, event.place}] = static_cast<std::uint32_t>(timeline_.requests.size());
  timeline_.requests.push_back({.lane = lane_of_sender(event),
                                .operation = is_of_operation ? operation->second : none,
                                .opcode = posted.opcode,
                                .offset = posted.remote.offset,
                                .length_bytes = posted.length_bytes,
                                .compare = posted.compare,
                                .swap = posted.swap_or_add,
                                .posted_step = event.step,
                                .last_step = event.step});
}

void Recorder::on_completed(const sim::TraceEvent& event) {
  Request& request = timeline_.requests[requests_.at({event.subject, event.place})];
  request.completed_step = event.step;
  request.status = static_cast<fabric::CompletionStatus>(event.detail);
  request.last_step = std::max(request.last_step, event.step);
}

void Recorder::on_effect(const sim::TraceEvent& event) {
  const std::uint32_t number = requests_.at({event.subject, event.place});
  Request& request = timeline_.requests[number];
  request.last_step = std::max(request.last_step, event.step);
  const EffectKind kind = kind_of(event);
  const bool is_lost = kind == EffectKind::lost;
  Effect effect{.request = number,
                .lane = request.lane,
                .kind = kind,
                .step = event.step,
                .offset = is_lost ? request.offset : event.offset,
                .length_bytes = event.data.empty() ? word_bytes : event.data.size(),
                .text = is_lost ? "the request is lost" : story_.lines().back().text};
  if ((is_read(kind) || is_write(kind)) && !lives_.is_in_use(event.subject)) {
    effect.text += ", in the memory of a crashed server";
    timeline_.effects.push_back(std::move(effect));  // it does not affect the current memory
  } else {
    add_effect(std::move(effect));
  }
}

// The page does not show clients' own memory.
void Recorder::on_processor_access(const sim::TraceEvent& event) {
  const std::uint32_t lane = lanes_.of_fiber(running_);
  if (lanes_.is_client(lane)) return;
  add_effect({.lane = lane,
              .kind = EffectKind::stored,
              .step = event.step,
              .offset = event.offset,
              .length_bytes = event.data.empty() ? word_bytes : event.data.size(),
              .text = story_.lines().back().text});
}

void Recorder::add_effect(Effect effect) {
  const auto number = static_cast<std::uint32_t>(timeline_.effects.size());
  if (is_read(effect.kind)) note_sources(effect);
  if (is_write(effect.kind)) {
    // A swap replaces the word that it read.
    if (effect.kind == EffectKind::swapped) note_sources(effect);
    note_write(effect, number);
  }
  timeline_.effects.push_back(std::move(effect));
}

void Recorder::note_sources(Effect& effect) const {
  const std::uint64_t end = effect.offset + effect.length_bytes;
  for (std::uint64_t word = effect.offset / word_bytes;
       word * word_bytes < end && word < writers_.size(); ++word) {
    const std::uint32_t writer = writers_[word];
    const bool is_known = std::ranges::find(effect.sources, writer) != effect.sources.end();
    if (writer == none || is_known || effect.sources.size() == most_sources) continue;
    effect.sources.push_back(writer);
  }
}

void Recorder::note_write(const Effect& effect, std::uint32_t number) {
  const std::uint64_t end = effect.offset + effect.length_bytes;
  for (std::uint64_t word = effect.offset / word_bytes;
       word * word_bytes < end && word < writers_.size(); ++word) {
    writers_[word] = number;
  }
  memory_.note_write(effect.offset, effect.length_bytes, effect.kind == EffectKind::written);
  if (effect.kind == EffectKind::written) note_owner(effect);
}

// The server numbers clients in its own order; the writer of a region reveals the mapping.
void Recorder::note_owner(const Effect& effect) {
  const engine::Geometry& geometry = scenario_.geometry;
  if (effect.offset < geometry.region_offset(0)) return;
  const std::uint64_t region = (effect.offset - geometry.region_offset(0)) / geometry.region_bytes;
  if (region >= connections_.size() || connections_[region] == none) return;
  auto& lanes = timeline_.connection_lanes;
  if (lanes.size() <= connections_[region]) lanes.resize(connections_[region] + 1, none);
  if (lanes[connections_[region]] == none) lanes[connections_[region]] = effect.lane;
}

// -------------------------------------------------------------------------------------------------

Timeline Recorder::finish(const sim::RunResult& result) {
  timeline_.steps = result.steps;
  timeline_.trace_hash = result.trace_hash;
  timeline_.memory = memory_.take();
  return std::move(timeline_);
}

}  // namespace falafel::timeline
