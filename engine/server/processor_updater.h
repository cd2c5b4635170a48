// Updates entries with the processor, where the device's atomics are atomic with it.
#pragma once

#include <deque>

#include "engine/server/chunk.h"
#include "engine/server/entry_updater.h"

namespace falafel::engine {

class ProcessorUpdater : public EntryUpdater {
 public:
  explicit ProcessorUpdater(const Chunk& chunk) : chunk_(chunk) {}

  bool is_full() const override { return outcomes_.size() == capacity; }
  void submit(const EntryUpdate& update) override {
    const std::uint64_t previous = chunk_.block->compare_and_swap(
        chunk_.geometry.entry_offset(update.slot), update.expected.word(), update.desired.word());
    outcomes_.push_back({.update = update,
                         .succeeded = Entry(previous) == update.expected,
                         .current = Entry(previous)});
  }
  std::optional<UpdateOutcome> next() override {
    if (outcomes_.empty()) return std::nullopt;
    const UpdateOutcome outcome = outcomes_.front();
    outcomes_.pop_front();
    return outcome;
  }

 private:
  static constexpr std::size_t capacity = 16;

  const Chunk& chunk_;
  std::deque<UpdateOutcome> outcomes_;
};

}  // namespace falafel::engine
