#include "explorer/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "fabric/assert.h"
#include "fabric/masked_atomics.h"
#include "fabric/sim/options/fault_kinds.h"
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

// At the place of an event, before its effect.
std::optional<std::uint64_t> word_in_memory(const sim::TraceEvent& event) {
  if (event.block == nullptr) return std::nullopt;
  const auto bytes = const_cast<fabric::MemoryBlock*>(event.block)->bytes();
  std::uint64_t word = 0;
  if (event.offset + sizeof word > bytes.size()) return std::nullopt;
  std::memcpy(&word, bytes.data() + event.offset, sizeof word);
  return word;
}

// The first words of a message.
std::string words_of(const Vocabulary& vocabulary, std::span<const std::byte> data) {
  constexpr std::size_t most_words = 4;
  std::string text;
  for (std::size_t index = 0; index < most_words && 8 * index < data.size(); ++index) {
    std::uint64_t word = 0;
    std::memcpy(&word, data.data() + 8 * index, std::min<std::size_t>(8, data.size() - 8 * index));
    text += (index == 0 ? "" : " ") + vocabulary.word(word);
  }
  return data.size() > 8 * most_words ? fmt::format("{} ... ({} bytes)", text, data.size()) : text;
}

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
  if (subject.kind == sim::SubjectKind::memory) {
    owners_[subject.block] = subject.host;
    last_writes_.forget(subject.block);
  }
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

void Story::tell(std::string who, std::string text, bool is_clue) {
  lines_.push_back({.step = step_,
                    .time_ns = time_ns_,
                    .who = std::move(who),
                    .text = std::move(text),
                    .is_clue = is_clue});
}

std::string Story::host_of(std::uint32_t queue_pair) const {
  const auto found = queue_pairs_.find(queue_pair);
  return found == queue_pairs_.end() ? fmt::format("queue pair {}", queue_pair) : found->second;
}

void Story::tell_of_queue_pair(const sim::TraceEvent& event, std::string text, bool is_clue) {
  tell(host_of(event.subject), std::move(text), is_clue);
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
      event, fmt::format("WRITE completes, but {} of its bytes are not in place", write.mapped()),
      true);
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
  if (event.block == nullptr) return;
  const std::optional<std::uint64_t> in_memory = word_in_memory(event);
  const bool is_late = event.data.empty() && in_memory && *in_memory != event.word;
  if (!is_late) {
    const std::uint64_t length_bytes = event.data.empty() ? fabric::word_bytes : event.data.size();
    last_writes_.read(event.block, event.offset, length_bytes, fibers_[event.fiber]);
    return;
  }
  tell(fibers_[event.fiber],
       fmt::format("the processor loads {}: {}, although memory contains {}",
                   vocabulary_.place(event.offset), vocabulary_.word(event.word),
                   vocabulary_.word(*in_memory)),
       true);
}

void Story::tell_of_atomic(const sim::TraceEvent& event) {
  const std::string place = vocabulary_.place(event.offset) + owner_of(event);
  const std::string word = vocabulary_.word(event.word);
  const std::string_view atomic = name_of_atomic(event);
  const bool fails = !fabric::writes_word(*event.posted, event.previous_word);
  last_writes_.read(event.block, event.offset, fabric::word_bytes, host_of(event.subject));
  if (fails) {
    tell_of_queue_pair(event, fmt::format("{} fails on {}: {}", atomic, place, word));
    return;
  }
  const std::optional<std::uint64_t> in_memory = word_in_memory(event);
  const bool undoes = in_memory && *in_memory != event.previous_word;
  last_writes_.write(event.block, event.offset, fabric::word_bytes,
                     {.who = host_of(event.subject), .step = event.step});
  tell_of_queue_pair(event,
                     fmt::format("{} of {}: {} becomes {}{}", atomic, place,
                                 vocabulary_.word(event.previous_word), word,
                                 undoes ? fmt::format(", which undoes {}, written since it read",
                                                      vocabulary_.word(*in_memory))
                                        : std::string()),
                     undoes);
}

void Story::tell_of_processor(const sim::TraceEvent& event) {
  const std::string place = vocabulary_.place(event.offset);
  const std::string& who = fibers_[event.fiber];
  const std::uint64_t length_bytes = event.data.empty() ? fabric::word_bytes : event.data.size();
  if (event.replaced_word) last_writes_.read(event.block, event.offset, length_bytes, who);
  const std::string lost = what_is_lost(event, length_bytes, who);
  tell(who,
       event.data.empty()
           ? fmt::format("the processor stores {} in {}{}", vocabulary_.word(event.word), place,
                         lost)
           : fmt::format("the processor writes {} bytes at {}{}", event.data.size(), place, lost),
       !lost.empty());
}

// Notes the write. Empty if it takes nothing away that somebody else wrote and nobody has read.
std::string Story::what_is_lost(const sim::TraceEvent& event, std::uint64_t length_bytes,
                                const std::string& who) {
  const std::optional<LastWrite> lost =
      last_writes_.write(event.block, event.offset, length_bytes, {.who = who, .step = event.step});
  if (!lost) return {};
  return fmt::format(", over what {} wrote in step {} and nobody has read", lost->who, lost->step);
}

void Story::tell_of_read(const sim::TraceEvent& event) {
  last_writes_.read(event.block, event.offset, event.data.size(), host_of(event.subject));
  tell_of_queue_pair(
      event, "READ returns " + vocabulary_.data(event.offset, event.data) + owner_of(event));
}

void Story::tell_of_write(const sim::TraceEvent& event) {
  note_placed(event);
  const std::string lost = what_is_lost(event, event.data.size(), host_of(event.subject));
  tell_of_queue_pair(
      event, "WRITE places " + vocabulary_.data(event.offset, event.data) + owner_of(event) + lost,
      !lost.empty());
}

// " to server" for a datagram, which names its receiver.
std::string Story::receiver_of(const sim::TraceEvent& event) const {
  if (event.posted == nullptr || event.posted->destination.queue_pair_number == 0) return {};
  return " to " + host_of(event.posted->destination.queue_pair_number);
}

void Story::tell_of_message(const sim::TraceEvent& event) {
  FALAFEL_ASSERT(event.posted != nullptr, "an event of {} has no request", host_of(event.subject));
  const bool is_send = fabric::is_send(event.posted->opcode);
  const std::string_view name = is_send ? "message" : to_string(event.posted->opcode);
  if (event.kind == sim::EventKind::request_lost) {
    tell_of_queue_pair(event, fmt::format("the {}{} is lost", name, receiver_of(event)), true);
    return;
  }
  const std::string content =
      event.data.empty() ? std::string() : ": " + words_of(vocabulary_, event.data);
  tell_of_queue_pair(event, fmt::format("the {}{} arrives{}", is_send ? name : "immediate",
                                        receiver_of(event), content));
}

// Faults that strike a host or a queue pair are told before their effects, with their host.
void Story::tell_of_fault(const sim::TraceEvent& event) {
  const auto kind = static_cast<sim::FaultKind>(event.detail);
  const bool names_host = event.kind == sim::EventKind::fault_strikes;
  if (names_host == sim::has_target(kind)) {
    tell("fault", std::string(to_string(kind)) +
                      (names_host ? " of " + vocabulary_.host(event.subject) : std::string()));
  }
}

void Story::tell_of_clock(const sim::TraceEvent& event) {
  const auto error_ns = static_cast<std::int64_t>(event.word);
  const auto drift_ppm = static_cast<std::int64_t>(event.previous_word) - 1'000'000;
  if (error_ns == 0 && drift_ppm == 0) return;
  tell(vocabulary_.host(event.subject),
       fmt::format("its clock is {:+} ns off and {:+} ppm fast", error_ns, drift_ppm));
}

void Story::observe(const sim::TraceEvent& event) {
  step_ = event.step;
  time_ns_ = event.time_ns;
  switch (event.kind) {
    case sim::EventKind::fiber_runs: running_ = event.subject; break;
    case sim::EventKind::words_read: tell_of_read(event); break;
    case sim::EventKind::words_written: tell_of_write(event); break;
    case sim::EventKind::atomic_read:
      tell_of_queue_pair(
          event, fmt::format("{} reads {}: {}", name_of_atomic(event),
                             vocabulary_.place(event.offset), vocabulary_.word(event.word)));
      break;
    case sim::EventKind::atomic_written: tell_of_atomic(event); break;
    case sim::EventKind::message_delivered:
    case sim::EventKind::request_lost: tell_of_message(event); break;
    case sim::EventKind::request_posted: note_posted(event); break;
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
    case sim::EventKind::fault_strikes: tell_of_fault(event); break;
    case sim::EventKind::clock_set: tell_of_clock(event); break;
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

std::vector<StoryLine> last_clues(std::span<const StoryLine> lines, std::size_t most) {
  std::vector<StoryLine> clues;
  std::ranges::copy_if(lines, std::back_inserter(clues), &StoryLine::is_clue);
  if (clues.size() > most)
    clues.erase(clues.begin(), clues.end() - static_cast<std::ptrdiff_t>(most));
  return clues;
}

}  // namespace falafel::explorer
