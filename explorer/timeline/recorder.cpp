#include "explorer/timeline/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "explorer/timeline/key_steps.h"
#include "explorer/timeline/readable.h"
#include "fabric/assert.h"
#include "fabric/masked_atomics.h"

namespace falafel::timeline {
namespace {

constexpr std::uint64_t word_bytes = fabric::word_bytes;
// A READ of much memory may have thousands of sources; more than this many add no information.
constexpr std::size_t most_sources = 8;

EffectKind kind_of(const sim::TraceEvent& event) {
  switch (event.kind) {
    case sim::EventKind::words_read: return EffectKind::read;
    case sim::EventKind::words_written: return EffectKind::written;
    case sim::EventKind::atomic_read: return EffectKind::atomic_read;
    case sim::EventKind::atomic_written:
      return fabric::writes_word(*event.posted, event.previous_word) ? EffectKind::swapped
                                                                     : EffectKind::refused;
    case sim::EventKind::message_delivered: return EffectKind::delivered;
    case sim::EventKind::access_refused: return EffectKind::denied;
    default: return EffectKind::lost;
  }
}

std::string name_of_connection(std::uint8_t detail) {
  if (detail == sim::closing_notice_detail) return "hears that the peer has closed";
  return detail == sim::end_of_stream_detail ? "hears that the stream has ended" : "connects";
}

bool is_write(EffectKind kind) {
  return kind == EffectKind::written || kind == EffectKind::swapped || kind == EffectKind::stored;
}

bool is_read(EffectKind kind) {
  return kind == EffectKind::read || kind == EffectKind::refused || kind == EffectKind::atomic_read;
}

// The bytes of an event, which may also be a single word.
std::span<const std::byte> bytes_of(const sim::TraceEvent& event) {
  return event.data.empty() ? std::as_bytes(std::span(&event.word, 1)) : event.data;
}

// The part of a text before the first space.
std::string first_word(std::string_view text) {
  return std::string(text.substr(0, text.find(' ')));
}

// The answer that the text of a return adds to its call: "7" for "pop -> 7" and for
// "pop returns: 7". Nothing more than the call: "done".
std::string_view answer_in(std::string_view text, std::string_view call) {
  constexpr std::string_view returns = "returns: ";
  if (const auto found = text.find(returns); found != std::string_view::npos) {
    text.remove_prefix(found + returns.size());
  }
  if (!text.starts_with(call)) return text;
  const auto begin = text.find_first_not_of(" ->:=", call.size());
  return begin == std::string_view::npos ? "done" : text.substr(begin);
}

}  // namespace

Recorder::Recorder(explorer::Runner& runner, const explorer::Scenario& scenario)
    : Recorder(runner, scenario, std::make_unique<HostLanes>(), true) {}

Recorder::Recorder(explorer::Runner& runner, const explorer::Scenario& scenario,
                   std::unique_ptr<Lanes> lanes)
    : Recorder(runner, scenario, std::move(lanes), false) {}

Recorder::Recorder(explorer::Runner& runner, const explorer::Scenario& scenario,
                   std::unique_ptr<Lanes> lanes, bool shows_words)
    : runner_(runner),
      scenario_(scenario),
      vocabulary_(runner.vocabulary(scenario)),
      story_(vocabulary_),
      lanes_(std::move(lanes)),
      shows_words_(shows_words) {
  timeline_.step_duration_ns = scenario.simulation.step_duration_ns;
}

Recorder::~Recorder() = default;

explorer::Run Recorder::run(sim::Strategy& strategy) {
  return runner_.run_observed(scenario_, strategy, *this);
}

std::vector<KeyStep> Recorder::find_key_steps(
    const Timeline& timeline, const std::vector<checkers::Judgement>& violations,
    const std::optional<explorer::CriticalStep>& critical) const {
  return KeyStepSearch(timeline).find(violations, critical);
}

std::string Recorder::describe(const sim::RunResult& result) const {
  return fmt::format("{}; {} step{}, {:.1f} µs", scenario_.size(), result.steps,
                     result.steps == 1 ? "" : "s", static_cast<double>(result.time_ns) / 1'000);
}

// The program

void Recorder::begin_operation(OperationSpan operation, bool is_of_fiber) {
  const auto number = static_cast<std::uint32_t>(timeline_.operations.size());
  operation.call_step = step_;
  operation_of_call_[operation.number] = number;
  if (is_of_fiber) operation_of_fiber_[running_] = number;
  timeline_.operations.push_back(std::move(operation));
}

void Recorder::end_operation(std::uint64_t number, std::string label, std::string answer) {
  const auto found = operation_of_call_.find(number);
  FALAFEL_ASSERT(found != operation_of_call_.end(), "operation {} returns without a call", number);
  OperationSpan& operation = timeline_.operations[found->second];
  operation.label = std::move(label);
  operation.answer = std::move(answer);
  operation.return_step = step_;
  operation_of_call_.erase(found);
  operation_of_fiber_.erase(running_);
}

void Recorder::on_call(std::string_view party, std::uint64_t operation, std::string_view text) {
  story_.on_call(party, operation, text);
  const std::string call = readable_text(text);
  const std::uint32_t lane = lanes_->of_party(party);
  begin_operation({.lane = lane,
                   .kind = first_word(call),
                   .key = {},
                   .name = call,
                   .text = call,
                   .label = {},
                   .answer = {},
                   .number = operation},
                  lane == lanes_->of_fiber(running_));
}

void Recorder::on_return(std::string_view party, std::uint64_t operation, std::string_view text) {
  story_.on_return(party, operation, text);
  const auto found = operation_of_call_.find(operation);
  if (found == operation_of_call_.end()) return;  // its host died
  const std::string answer =
      readable_text(answer_in(text, timeline_.operations[found->second].text));
  end_operation(operation, answer, answer);
}

void Recorder::on_note(std::string_view party, std::string_view text) {
  story_.on_note(party, text);
  mark(MarkKind::note, lanes_->of_party(party), readable_text(text));
}

// Events

void Recorder::introduce(const sim::Subject& subject) {
  story_.introduce(subject);
  subjects_.introduce(subject);
  lanes_->introduce(subject);
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
  subjects_.observe(event);
  keep_time(event);
  using sim::EventKind;
  switch (event.kind) {
    case EventKind::fiber_runs: return on_fiber_runs(event);
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
    case EventKind::processor_read: return on_processor_read(event);
    case EventKind::queue_pair_error: return on_queue_pair_error(event);
    case EventKind::connection:
      return mark(MarkKind::connection, lanes_->of_queue_pair(event.subject),
                  name_of_connection(event.detail));
    case EventKind::fault:
      return mark(MarkKind::fault, none,
                  std::string(to_string(static_cast<sim::FaultKind>(event.detail))));
    case EventKind::host_started:
      return mark(MarkKind::started, lanes_->of_host(event.subject), "starts");
    case EventKind::host_died: return on_host_died(event.subject);
    default: break;
  }
}

void Recorder::on_fiber_runs(const sim::TraceEvent& event) {
  running_ = event.subject;
  running_step_ = event.step;
  if (shows_words_) steps_of_fibers_[running_].push_back(event.step);
}

void Recorder::mark(MarkKind kind, std::uint32_t lane, std::string text) {
  timeline_.marks.push_back({.kind = kind, .lane = lane, .step = step_, .text = std::move(text)});
}

void Recorder::on_queue_pair_error(const sim::TraceEvent& event) {
  const std::uint32_t lane = lanes_->of_queue_pair(event.subject);
  if (event.detail == 0) {
    mark(MarkKind::queue_pair_error, lane, "a queue pair enters the error state");
  } else {
    mark(MarkKind::closed, lane, "a queue pair is closed");
  }
}

// The answers of its operations are unknown.
void Recorder::on_host_died(std::uint32_t host) {
  const std::uint32_t lane = lanes_->of_host(host);
  mark(MarkKind::crashed, lane, "dies");
  std::erase_if(operation_of_call_, [&](const auto& called) {
    OperationSpan& operation = timeline_.operations[called.second];
    if (operation.lane != lane) return false;
    operation.answer = operation.label = "its client crashed";
    operation.return_step = step_;
    return true;
  });
}

void Recorder::observe_pause(const sim::Pause& pause) {
  const bool is_host = pause.subject.kind == sim::SubjectKind::host;
  const Standing who{pause.subject.kind, pause.subject.number};
  if (pause.begins) {
    standing_[who] = static_cast<std::uint32_t>(timeline_.standstills.size());
    timeline_.standstills.push_back({.lane = is_host ? lanes_->of_host(pause.subject.number)
                                                     : lanes_->of_queue_pair(pause.subject.number),
                                     .is_host = is_host,
                                     .first_step = pause.step});
  } else if (const auto found = standing_.find(who); found != standing_.end()) {
    timeline_.standstills[found->second].last_step = pause.step;
    standing_.erase(found);
  }
}

// Requests and effects

std::string Recorder::detail_of(const fabric::WorkRequest& posted) const {
  switch (posted.opcode) {
    case fabric::Opcode::compare_and_swap:
      return fmt::format("expects {}\nto put {}", vocabulary_.word(posted.compare),
                         vocabulary_.word(posted.swap_or_add));
    case fabric::Opcode::fetch_and_add:
      return fmt::format("adds {}", static_cast<std::int64_t>(posted.swap_or_add));
    case fabric::Opcode::masked_compare_and_swap:
      return fmt::format("expects {} in the bits {:#x}\nto put {} in the bits {:#x}",
                         vocabulary_.word(posted.compare), posted.compare_mask,
                         vocabulary_.word(posted.swap_or_add), posted.swap_mask);
    case fabric::Opcode::masked_fetch_and_add:
      return fmt::format("adds {:#x} to fields that end at the bits {:#x}", posted.swap_or_add,
                         posted.field_boundaries);
    default: return {};
  }
}

void Recorder::on_posted(const sim::TraceEvent& event) {
  const fabric::WorkRequest& posted = *event.posted;
  const bool is_message = fabric::is_send(posted.opcode);
  const auto operation = operation_of_fiber_.find(running_);
  const bool is_of_operation = operation != operation_of_fiber_.end() && !is_message;
  requests_[{event.subject, event.place}] = static_cast<std::uint32_t>(timeline_.requests.size());
  timeline_.requests.push_back(
      {.lane = lanes_->of_request(event.subject, running_, posted.opcode),
       .operation = is_of_operation ? operation->second : none,
       .opcode = posted.opcode,
       .offset = posted.remote.offset,
       .length_bytes = posted.length_bytes,
       .compare = posted.compare,
       .swap = posted.swap_or_add,
       .target = is_message ? std::string() : vocabulary_.place(posted.remote.offset),
       .detail = detail_of(posted),
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
  const auto memory = subjects_.memory(event.block);
  Effect effect{.request = number,
                .lane = request.lane,
                .kind = kind,
                .step = event.step,
                .memory = memory.value_or(none),
                .offset = is_lost ? request.offset : event.offset,
                .length_bytes = event.data.empty() ? word_bytes : event.data.size(),
                .text = is_lost ? "the request is lost" : story_.lines().back().text};
  const bool accesses_memory = is_read(kind) || is_write(kind);
  if (accesses_memory && memory) {
    note_contents(event, *memory);
    const explorer::Subjects::Memory& block = subjects_.memories()[*memory];
    if (block.is_lost) {
      effect.text += fmt::format(", in the memory of a crashed {}", block.host);
      timeline_.effects.push_back(std::move(effect));  // it does not affect the current memory
      return;
    }
  }
  add_effect(std::move(effect));
}

void Recorder::note_contents(const sim::TraceEvent& event, std::uint32_t memory) {
  if (shows_words_) words_.access(event.step, memory, event.offset, bytes_of(event));
}

Effect Recorder::effect_of_processor(const sim::TraceEvent& event, EffectKind kind) const {
  return {.lane = lanes_->of_fiber(event.fiber),
          .kind = kind,
          .step = event.step,
          .memory = subjects_.memory(event.block).value_or(none),
          .offset = event.offset,
          .length_bytes = bytes_of(event).size(),
          .text = {}};
}

void Recorder::on_processor_access(const sim::TraceEvent& event) {
  Effect effect = effect_of_processor(event, EffectKind::stored);
  if (!shows_processor(effect.lane)) return;
  effect.text = story_.lines().back().text;
  if (effect.memory != none) note_contents(event, effect.memory);
  add_effect(std::move(effect));
}

// A fiber that polls a word reads it often. Only the first time that it sees a content counts.
void Recorder::on_processor_read(const sim::TraceEvent& event) {
  if (!shows_words_ || !event.data.empty()) return;
  Effect effect = effect_of_processor(event, EffectKind::read);
  if (effect.memory == none || !shows_processor(effect.lane)) return;
  const auto [seen, is_first] =
      seen_[running_].try_emplace({effect.memory, event.offset}, event.word);
  if (!is_first && seen->second == event.word) return;
  seen->second = event.word;
  note_contents(event, effect.memory);
  effect.text = fmt::format("the processor loads {} from {}", vocabulary_.word(event.word),
                            vocabulary_.place(event.offset));
  add_effect(std::move(effect));
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
  for (std::uint64_t word = effect.offset / word_bytes; word * word_bytes < end; ++word) {
    const auto writer = writers_.find({effect.memory, word});
    if (writer == writers_.end() || effect.sources.size() == most_sources) continue;
    const bool is_known = std::ranges::find(effect.sources, writer->second) != effect.sources.end();
    if (!is_known) effect.sources.push_back(writer->second);
  }
}

void Recorder::note_write(const Effect& effect, std::uint32_t number) {
  const std::uint64_t end = effect.offset + effect.length_bytes;
  for (std::uint64_t word = effect.offset / word_bytes; word * word_bytes < end; ++word) {
    writers_[{effect.memory, word}] = number;
  }
  on_written(effect);
}

// The end

std::set<std::uint32_t> Recorder::shown_memories() const {
  std::set<std::uint32_t> accessed;
  std::set<std::uint32_t> all;
  for (const Effect& effect : timeline_.effects) {
    if (effect.memory == none) continue;
    all.insert(effect.memory);
    if (effect.request != none) accessed.insert(effect.memory);
  }
  return accessed.empty() ? all : accessed;
}

// Processors also access the local buffers of requests, which nobody else does.
void Recorder::leave_out_effects(const std::set<std::uint32_t>& shown) {
  std::vector<std::uint32_t> numbers;
  std::vector<Effect> kept;
  for (Effect& effect : timeline_.effects) {
    const bool is_kept = effect.request != none || shown.contains(effect.memory);
    numbers.push_back(is_kept ? static_cast<std::uint32_t>(kept.size()) : none);
    if (is_kept) kept.push_back(std::move(effect));
  }
  for (Effect& effect : kept) {
    for (std::uint32_t& source : effect.sources) source = numbers[source];
  }
  timeline_.effects = std::move(kept);
}

void Recorder::add_fibers() {
  std::map<std::uint32_t, std::uint32_t> rows;  // by lane
  for (auto& [fiber, steps] : steps_of_fibers_) {
    const std::uint32_t lane = lanes_->of_fiber(fiber);
    timeline_.fibers.push_back({.lane = lane,
                                .row = rows[lane]++,
                                .name = readable(subjects_.fiber(fiber).name),
                                .steps = std::move(steps)});
  }
  for (const auto& [lane, count] : rows) timeline_.lanes[lane].fiber_rows = count;
}

Timeline Recorder::finish(const sim::RunResult& result) {
  timeline_.steps = result.steps;
  timeline_.trace_hash = result.trace_hash;
  timeline_.lanes = lanes_->to_lanes();
  timeline_.description = describe(result);
  if (shows_words_) {
    const std::set<std::uint32_t> shown = shown_memories();
    leave_out_effects(shown);
    words_.finish(timeline_, subjects_, vocabulary_, shown);
    add_fibers();
  }
  return std::move(timeline_);
}

}  // namespace falafel::timeline
