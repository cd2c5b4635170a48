#include "engine/client/walk.h"

#include <algorithm>

#include "engine/probes.h"

namespace falafel::engine {

Walk::Walk(Operation& operation, std::uint64_t home)
    : operation_(operation),
      home_(home),
      table_entries_(operation.session().geometry.table_entries),
      words_(operation.walk_words()) {
  words_.clear();
}

std::uint64_t Walk::around(std::uint64_t slot) const {
  return slot < table_entries_ ? slot : slot - table_entries_;
}

std::uint64_t Walk::slot(std::uint64_t index) const { return around(home_ + chunk_begin_ + index); }

bool Walk::covers_table() const {
  return operation_.safeguards().bounded_walks && words_.size() == table_entries_;
}

bool Walk::read_chunk() {
  // An unbounded walk forgets the round before, which it does not validate either.
  if (words_.size() == table_entries_) words_.clear();
  chunk_begin_ = words_.size();
  const std::uint64_t first = slot(0);
  if (first == 0 && chunk_begin_ > 0) operation_.count(probes::walk_wrapped);
  const std::uint64_t count = std::min(
      {operation_.entries_per_buffer(), table_entries_ - first, table_entries_ - chunk_begin_});
  auto request = operation_.read_entries(first, count, Operation::first_reading);
  if (!operation_.execute({&request, 1})) return false;
  words_.resize(chunk_begin_ + count);
  const std::span<Entry> chunk = std::span(words_).subspan(chunk_begin_);
  operation_.copy_entries(Operation::first_reading, chunk);
  const auto occupied = std::ranges::count_if(chunk, [](Entry word) { return !word.is_empty(); });
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
  unchanged_ =
      operation_.equal_entries(Operation::second_reading, std::span(words_).first(index + 1));
}

Walk::Validation Walk::validate(std::uint64_t index) {
  const std::uint64_t length = chunk_begin_ + index + 1;
  for (std::uint64_t position = 0; !unchanged_ && position < length;) {
    const std::uint64_t first = around(home_ + position);
    const std::uint64_t count =
        std::min({operation_.entries_per_buffer(), table_entries_ - first, length - position});
    auto request = operation_.read_entries(first, count, Operation::second_reading);
    if (!operation_.execute({&request, 1})) return Validation::disconnected;
    if (!operation_.equal_entries(Operation::second_reading,
                                  std::span(words_).subspan(position, count))) {
      unchanged_ = false;
    }
    position += count;
  }
  return unchanged_.value_or(true) ? Validation::unchanged : Validation::changed;
}

}  // namespace falafel::engine
