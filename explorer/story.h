// Tells a run in words, with one line per effect: the actor, the verb, the words, and their old and
// new contents. The program names places and words; everything else is the same for all programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explorer/last_writes.h"
#include "explorer/run_listener.h"
#include "explorer/vocabulary.h"
#include "fabric/sim/trace.h"

namespace falafel::explorer {

struct StoryLine {
  std::uint64_t step = 0;
  std::uint64_t time_ns = 0;
  std::string who;
  std::string text;
  // Something that a program may not expect and that may explain its failure: a load that is late,
  // a WRITE that completes before it is in place, a write over one that nobody has read, a loss.
  bool is_clue = false;
};

class Story final : public RunListener {
 public:
  // The vocabulary outlives the story.
  explicit Story(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void observe(const sim::TraceEvent& event) override;
  void introduce(const sim::Subject& subject) override;
  void on_call(std::string_view party, std::uint64_t operation, std::string_view text) override;
  void on_return(std::string_view party, std::uint64_t operation, std::string_view text) override;
  void on_note(std::string_view party, std::string_view text) override;

  // Adds a line of the program's own, at the current step.
  void tell(std::string who, std::string text, bool is_clue = false);

  const std::vector<StoryLine>& lines() const { return lines_; }

 private:
  std::string host_of(std::uint32_t queue_pair) const;
  void tell_of_queue_pair(const sim::TraceEvent& event, std::string text, bool is_clue = false);
  void tell_of_read(const sim::TraceEvent& event);
  void tell_of_write(const sim::TraceEvent& event);
  std::string receiver_of(const sim::TraceEvent& event) const;
  void tell_of_message(const sim::TraceEvent& event);
  void tell_of_fault(const sim::TraceEvent& event);
  void tell_of_clock(const sim::TraceEvent& event);
  std::string what_is_lost(const sim::TraceEvent& event, std::uint64_t length_bytes,
                           const std::string& who);
  void tell_of_completion(const sim::TraceEvent& event);
  void note_posted(const sim::TraceEvent& event);
  void note_placed(const sim::TraceEvent& event);
  void tell_of_load(const sim::TraceEvent& event);
  std::string owner_of(const sim::TraceEvent& event);
  void tell_of_processor(const sim::TraceEvent& event);
  void tell_of_atomic(const sim::TraceEvent& event);

  const Vocabulary& vocabulary_;
  std::map<std::uint32_t, std::string> queue_pairs_;  // the host of each queue pair
  std::map<std::uint32_t, std::string> fibers_;
  std::map<const fabric::MemoryBlock*, std::string> owners_;  // the host of each block
  std::set<std::string> hosts_with_requests_;                 // for their memory
  // The bytes of a WRITE that are not in place, by its queue pair and its place in the send queue.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> unplaced_bytes_;
  LastWrites last_writes_;
  std::vector<StoryLine> lines_;
  std::uint64_t step_ = 0;
  std::uint64_t time_ns_ = 0;
  std::uint32_t running_ = 0;  // the last fiber that ran
};

// For example "  118      12.3 us  client 1     CAS of slot 2: ...".
std::string to_string(const StoryLine& line);

// The lines as text. Where a line or a few lines repeat, as those of parties that poll do, the
// first of them are shown, and a line that says how often they repeat.
std::vector<std::string> folded_text(std::span<const StoryLine> lines);

// The last lines that may explain a failure, oldest first; at most `most`.
std::vector<StoryLine> last_clues(std::span<const StoryLine> lines, std::size_t most);

}  // namespace falafel::explorer
