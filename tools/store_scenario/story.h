// Describes a run in words, with one line per effect: the actor, the verb, the entry or container,
// and the old and new contents.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/layout/entry.h"
#include "tools/store_scenario/run.h"
#include "tools/store_scenario/scenario.h"

namespace falafel::store_scenario {

struct StoryLine {
  std::uint64_t step = 0;
  std::uint64_t time_ns = 0;
  std::string who;
  std::string text;
};

class Story : public RunListener {
 public:
  explicit Story(const Scenario& scenario) : scenario_(scenario) {}

  void observe(const sim::TraceEvent& event) override;
  void introduce(const sim::Subject& subject) override;
  void on_memory(std::uint64_t, const checkers::MemoryView*) override {}
  void on_call(const checkers::Operation& operation) override;
  void on_return(const checkers::Operation& operation, engine::Answer answer) override;

  const std::vector<StoryLine>& lines() const { return lines_; }

 private:
  void tell(const sim::TraceEvent& event, std::string who, std::string text);
  std::string client(std::uint32_t number) const;
  std::string queue_pair(std::uint32_t number) const;
  // For example "slot 2" or "region 0, byte 64".
  std::string place(std::uint64_t offset) const;
  std::string describe_words(const sim::TraceEvent& event) const;

  const Scenario& scenario_;
  std::map<std::uint32_t, std::string> queue_pairs_;  // the host of each queue pair
  std::map<std::uint32_t, std::string> fibers_;
  std::vector<StoryLine> lines_;
  std::uint64_t step_ = 0;
  std::uint64_t time_ns_ = 0;
  std::uint32_t running_ = 0;  // the last fiber that ran
};

// For example "  118      12.3 us  client 1     swaps slot 2: ...".
std::string to_string(const StoryLine& line);

}  // namespace falafel::store_scenario
