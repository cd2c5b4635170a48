// The story of a run of the store: operations of clients, entries by slot, and containers by
// region.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "explorer/story.h"
#include "tools/store_scenario/run.h"
#include "tools/store_scenario/scenario.h"

namespace falafel::store_scenario {

class StoreVocabulary final : public explorer::Vocabulary {
 public:
  // The scenario outlives it.
  explicit StoreVocabulary(const Scenario& scenario) : scenario_(scenario) {}

  std::string host(std::uint32_t number) const override;
  std::string place(std::uint64_t offset) const override;
  std::string word(std::uint64_t word) const override;
  // Entries one by one, and containers only by their place.
  std::string data(std::uint64_t offset, std::span<const std::byte> data) const override;

 private:
  const Scenario& scenario_;
};

class StoreStory final : public RunListener {
 public:
  // The scenario outlives the story.
  explicit StoreStory(const Scenario& scenario)
      : scenario_(scenario), vocabulary_(scenario), story_(vocabulary_) {}

  void observe(const sim::TraceEvent& event) override { story_.observe(event); }
  void introduce(const sim::Subject& subject) override { story_.introduce(subject); }
  void on_memory(std::uint64_t, const checkers::MemoryView*) override {}
  void on_call(const checkers::Operation& operation) override;
  void on_return(const checkers::Operation& operation, engine::Answer answer) override;

  const std::vector<explorer::StoryLine>& lines() const { return story_.lines(); }

 private:
  std::string client(std::uint32_t number) const;

  const Scenario& scenario_;
  StoreVocabulary vocabulary_;
  explorer::Story story_;
};

}  // namespace falafel::store_scenario
