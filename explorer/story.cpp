#include "explorer/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fabric/masked_atomics.h"
#include "fabric/sim/options/options.h"
#include "fabric/work_request.h"

namespace falafel::explorer {
namespace {

std::string_view name_of_atomic(const sim::TraceEvent& event) {
  return to_string(static_cast<fabric::Opcode>(event.detail));
}

constexpr std::string_view closed_text = "the queue pair is closed";

// The number of lines at the front that say that a queue pair is closed.
std::size_t count_closed(std::span<const StoryLine> lines) {
  const auto other =
      std::ranges::find_if(lines, [](const StoryLine& line) { return line.text != closed_text; });
  return static_cast<std::size_t>(other - lines.begin());
}

// Shorter repetitions are easier to read as they are.
constexpr std::size_t fewest_lines_folded = 6;
// Enough for several parties that poll in turn.
constexpr std::size_t longest_repeated_part = 24;

struct Repetition {
  std::size_t length = 1;  // of the part that repeats, in lines
  std::size_t count = 1;
  std::size_t folded_lines() const { return (count - 1) * length; }
};

bool is_same(const StoryLine& left, const StoryLine& right) {
  return left.who == right.who && left.text == right.text;
}

// How often the lines begin with their first `length` lines.
std::size_t count_repetitions(std::span<const StoryLine> lines, std::size_t length) {
  std::size_t same = length;
  while (same < lines.size() && is_same(lines[same], lines[same - length])) ++same;
  return same / length;
}

Repetition find_repetition(std::span<const StoryLine> lines) {
  Repetition best;
  const std::size_t longest = std::min(longest_repeated_part, lines.size() / 2);
  for (std::size_t length = 1; length <= longest; ++length) {
    const Repetition found{.length = length, .count = count_repetitions(lines, length)};
    if (found.folded_lines() > best.folded_lines()) best = found;
  }
  return best.folded_lines() < fewest_lines_folded ? Repetition{} : best;
}

}  // namespace

void Story::introduce(const sim::Subject& subject) {
  if (subject.kind == sim::SubjectKind::memory) owners_[subject.block] = subject.host;
  if (subject.kind == sim::SubjectKind::queue_pair) queue_pairs_[subject.number] = subject.host;
  if (subject.kind == sim::SubjectKind::fiber) {
    fibers_[subject.number] = fmt::format("{} ({})", subject.host, subject.name);
  }
}

void Story::on_call(std::string_view party, std::uint64_t, std::string_view text) {
  tell(std::string(party), fmt::format("calls {}", text));
}

void Story::on_return(std::string_view party, std::uint64_t, std::string_view text) {
  tell(std::string(party), std::string(text));
}

void Story::on_note(std::string_view party, std::string_view text) {
  tell(std::string(party), std::string(text));
}

void Story::tell(std::string who, std::string text) {
  lines_.push_back(
      {.step = step_, .time_ns = time_ns_, .who = std::move(who), .text = std::move(text)});
}

void Story::tell_of_queue_pair(const sim::TraceEvent& event, std::string text) {
  const auto found = queue_pairs_.find(event.subject);
  tell(found == queue_pairs_.end() ? fmt::format("queue pair {}", event.subject) : found->second,
       std::move(text));
}

// " at server 1" if requests access memory of several hosts.
std::string Story::owner_of(const sim::TraceEvent& event) {
  const auto owner = owners_.find(event.block);
  if (owner == owners_.end()) return {};
  hosts_with_requests_.insert(owner->second);
  return hosts_with_requests_.size() < 2 ? std::string() : " at " + owner->second;
}

// A WRITE may complete before its words are in memory.
void Story::tell_of_completion(const sim::TraceEvent& event) {
  const auto status = static_cast<fabric::CompletionStatus>(event.detail);
  if (status != fabric::CompletionStatus::success) {
    tell_of_queue_pair(event, fmt::format("a request completes: {}", to_string(status)));
    return;
  }
  const auto write = unplaced_bytes_.extract({event.subject, event.place});
  if (write.empty() || write.mapped() == 0) return;
  tell_of_queue_pair(
      event, fmt::format("WRITE completes, but {} of its bytes are not in place", write.mapped()));
}

void Story::note_posted(const sim::TraceEvent& event) {
  if (event.posted == nullptr || !fabric::is_write(event.posted->opcode)) return;
  unplaced_bytes_[{event.subject, event.place}] = event.posted->length_bytes;
}

void Story::note_placed(const sim::TraceEvent& event) {
  const auto write = unplaced_bytes_.find({event.subject, event.place});
  if (write != unplaced_bytes_.end())
    write->second -= std::min<std::uint64_t>(write->second, event.data.size());
}

// A processor that loads what memory does not contain sees a WRITE late, or an own store early.
void Story::tell_of_load(const sim::TraceEvent& event) {
  if (event.block == nullptr || !event.data.empty()) return;
  const auto bytes = const_cast<fabric::MemoryBlock*>(event.block)->bytes();
  std::uint64_t in_memory = 0;
  if (event.offset + sizeof in_memory > bytes.size()) return;
  std::memcpy(&in_memory, bytes.data() + event.offset, sizeof in_memory);
  if (in_memory == event.word) return;
  tell(fibers_[event.fiber],
       fmt::format("the processor loads {}: {}, although memory contains {}",
                   vocabulary_.place(event.offset), vocabulary_.word(event.word),
                   vocabulary_.word(in_memory)));
}

void Story::tell_of_atomic(const sim::TraceEvent& event) {
  const std::string place = vocabulary_.place(event.offset) + owner_of(event);
  const std::string word = vocabulary_.word(event.word);
  const std::string_view atomic = name_of_atomic(event);
  const bool fails = !fabric::writes_word(*event.posted, event.previous_word);
  tell_of_queue_pair(event, fails ? fmt::format("{} fails on {}: {}", atomic, place, word)
                                  : fmt::format("{} of {}: {} becomes {}", atomic, place,
                                                vocabulary_.word(event.previous_word), word));
}

void Story::tell_of_processor(const sim::TraceEvent& event) {
  const std::string place = vocabulary_.place(event.offset);
  tell(fibers_[event.fiber],
       event.data.empty()
           ? fmt::format("the processor stores {} in {}", vocabulary_.word(event.word), place)
           : fmt::format("the processor writes {} bytes at {}", event.data.size(), place));
}

void Story::observe(const sim::TraceEvent& event) {
  step_ = event.step;
  time_ns_ = event.time_ns;
  switch (event.kind) {
    case sim::EventKind::fiber_runs: running_ = event.subject; break;
    case sim::EventKind::words_read:
      tell_of_queue_pair(
          event, "READ returns " + vocabulary_.data(event.offset, event.data) + owner_of(event));
      break;
    case sim::EventKind::words_written:
      note_placed(event);
      tell_of_queue_pair(
          event, "WRITE places " + vocabulary_.data(event.offset, event.data) + owner_of(event));
      break;
    case sim::EventKind::atomic_read:
      tell_of_queue_pair(
          event, fmt::format("{} reads {}: {}", name_of_atomic(event),
                             vocabulary_.place(event.offset), vocabulary_.word(event.word)));
      break;
    case sim::EventKind::atomic_written: tell_of_atomic(event); break;
    case sim::EventKind::message_delivered: tell_of_queue_pair(event, "the message arrives"); break;
    case sim::EventKind::request_posted: note_posted(event); break;
    case sim::EventKind::request_lost: tell_of_queue_pair(event, "the message is lost"); break;
    case sim::EventKind::request_completed: tell_of_completion(event); break;
    case sim::EventKind::processor_read: tell_of_load(event); break;
    case sim::EventKind::access_refused:
      tell_of_queue_pair(event, "a request is refused at " + vocabulary_.place(event.offset));
      break;
    case sim::EventKind::queue_pair_error:
      tell_of_queue_pair(event, event.detail == 0 ? "the queue pair enters the error state"
                                                  : std::string(closed_text));
      break;
    case sim::EventKind::processor_access: tell_of_processor(event); break;
    case sim::EventKind::fault:
      tell("fault", std::string(to_string(static_cast<sim::FaultKind>(event.detail))));
      break;
    case sim::EventKind::host_started: tell(vocabulary_.host(event.subject), "starts"); break;
    case sim::EventKind::host_died: tell(vocabulary_.host(event.subject), "dies"); break;
    default: break;
  }
}

std::string to_string(const StoryLine& line) {
  return fmt::format("{:>6}  {:>11.1f} us  {:<22}  {}", line.step,
                     static_cast<double>(line.time_ns) / 1'000, line.who, line.text);
}

std::vector<std::string> folded_text(std::span<const StoryLine> lines) {
  std::vector<std::string> text;
  while (!lines.empty()) {
    if (const std::size_t closed = count_closed(lines); closed > 1) {
      text.push_back(fmt::format("{:>6}  {} queue pairs are closed", lines.front().step, closed));
      lines = lines.subspan(closed);
      continue;
    }
    const Repetition repetition = find_repetition(lines);
    const std::size_t length = repetition.length;
    for (const StoryLine& line : lines.first(length)) text.push_back(to_string(line));
    lines = lines.subspan(length);
    if (repetition.count == 1) continue;
    const std::size_t folded = repetition.folded_lines();
    text.push_back(fmt::format("        ... {}repeated {} more times, until step {}",
                               length == 1 ? "" : fmt::format("these {} lines are ", length),
                               repetition.count - 1, lines[folded - 1].step));
    lines = lines.subspan(folded);
  }
  return text;
}

}  // namespace falafel::explorer
