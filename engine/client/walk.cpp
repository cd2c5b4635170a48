#include "engine/client/walk.h"

#include <algorithm>

#include "engine/probes.h"

namespace falafel::engine {

Walk::Walk(Operation& operation, std::uint64_t home) : operation_(operation), home_(home) {}

std::uint64_t Walk::slot(std::uint64_t index) const {
  return (home_ + chunk_begin_ + index) % operation_.session().geometry.table_entries;
}

bool Walk::covers_table() const {
  return operation_.safeguards().bounded_walks &&
         words_.size() == operation_.session().geometry.table_entries;
}

bool Walk::read_chunk() {
  const std::uint64_t table_entries = operation_.session().geometry.table_entries;
  // An unbounded walk forgets the round before, which it does not validate either.
  if (words_.size() == table_entries) words_.clear();
  chunk_begin_ = words_.size();
  const std::uint64_t first = slot(0);
  if (first == 0 && chunk_begin_ > 0) operation_.count(probes::walk_wrapped);
  const std::uint64_t count = std::min(
      {operation_.entries_per_buffer(), table_entries - first, table_entries - chunk_begin_});
  auto request = operation_.read_entries(first, count, Operation::first_reading);
  if (!operation_.execute({&request, 1})) return false;
  for (std::uint64_t index = 0; index < count; ++index) {
    words_.push_back(operation_.entry(Operation::first_reading, index));
  }
  const auto occupied = std::count_if(words_.end() - static_cast<std::ptrdiff_t>(count),
                                      words_.end(), [](Entry word) { return !word.is_empty(); });
  operation_.session().load.add(static_cast<std::uint64_t>(occupied), count);
  return true;
}

std::uint64_t Walk::occupied_entries() const {
  const auto begin = words_.begin() + static_cast<std::ptrdiff_t>(chunk_begin_);
  const auto end = std::find_if(begin, words_.end(),
                                [](Entry word) { return word.is_empty() || word.is_locked(); });
  return static_cast<std::uint64_t>(end - begin);
}

std::optional<fabric::WorkRequest> Walk::second_reading(std::uint64_t index) {
  if (chunk_begin_ > 0) return std::nullopt;
  return operation_.read_entries(home_, index + 1, Operation::second_reading);
}

void Walk::compare_second_reading(std::uint64_t index) {
  unchanged_ = true;
  for (std::uint64_t position = 0; position <= index; ++position) {
    if (operation_.entry(Operation::second_reading, position) != words_[position]) {
      unchanged_ = false;
    }
  }
}

Walk::Validation Walk::validate(std::uint64_t index) {
  const std::uint64_t table_entries = operation_.session().geometry.table_entries;
  const std::uint64_t length = chunk_begin_ + index + 1;
  for (std::uint64_t position = 0; !unchanged_ && position < length;) {
    const std::uint64_t first = (home_ + position) % table_entries;
    const std::uint64_t count =
        std::min({operation_.entries_per_buffer(), table_entries - first, length - position});
    auto request = operation_.read_entries(first, count, Operation::second_reading);
    if (!operation_.execute({&request, 1})) return Validation::disconnected;
    for (std::uint64_t offset = 0; offset < count; ++offset) {
      if (operation_.entry(Operation::second_reading, offset) != words_[position + offset]) {
        unchanged_ = false;
      }
    }
    position += count;
  }
  return unchanged_.value_or(true) ? Validation::unchanged : Validation::changed;
}

}  // namespace falafel::engine
