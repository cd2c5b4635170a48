// Tells a run in words, with one line per effect: the actor, the verb, the words, and their old and
// new contents. The program names places and words; everything else is the same for all programs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fabric/sim/trace.h"

namespace falafel::explorer {

// How a program names what its runs touch. All offsets are in the memory of its server.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  // A host by its number in the simulation: "server", "client 0".
  virtual std::string host(std::uint32_t number) const = 0;
  // For example "slot 2", or "320 (region 0, byte 64)".
  virtual std::string place(std::uint64_t offset) const = 0;
  // One 64-bit word, for example of an atomic.
  virtual std::string word(std::uint64_t word) const = 0;
  // The data that a READ or WRITE moved, with its place.
  virtual std::string data(std::uint64_t offset, std::span<const std::byte> data) const = 0;
};

struct StoryLine {
  std::uint64_t step = 0;
  std::uint64_t time_ns = 0;
  std::string who;
  std::string text;
};

class Story final : public sim::TraceObserver {
 public:
  // The vocabulary outlives the story.
  explicit Story(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void observe(const sim::TraceEvent& event) override;
  void introduce(const sim::Subject& subject) override;

  // Adds a line of the program's own, at the current step.
  void tell(std::string who, std::string text);

  const std::vector<StoryLine>& lines() const { return lines_; }

 private:
  void tell_of_queue_pair(const sim::TraceEvent& event, std::string text);
  void tell_of_processor(const sim::TraceEvent& event);
  void tell_of_atomic(const sim::TraceEvent& event);

  const Vocabulary& vocabulary_;
  std::map<std::uint32_t, std::string> queue_pairs_;  // the host of each queue pair
  std::map<std::uint32_t, std::string> fibers_;
  std::vector<StoryLine> lines_;
  std::uint64_t step_ = 0;
  std::uint64_t time_ns_ = 0;
  std::uint32_t running_ = 0;  // the last fiber that ran
};

// For example "  118      12.3 us  client 1     CAS of slot 2: ...".
std::string to_string(const StoryLine& line);

}  // namespace falafel::explorer
