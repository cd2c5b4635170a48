#include "engine/client/walk.h"

#include <algorithm>

#include "engine/probes.h"

namespace falafel::engine {

Walk::Walk(PendingOperation& operation, std::uint64_t home, By by)
    : operation_(operation),
      home_(home),
      table_entries_(operation.session().server().geometry.table_entries),
      words_(operation.walk_words()),
      by_(by) {
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
  if (words_.empty() && by_ == By::keys) {
    const auto rebindings = operation_.read_rebindings();
    if (!rebindings) return false;
    rebindings_ = *rebindings;
  }
  // An unbounded walk discards the previous round, which it does not validate either.
  if (words_.size() == table_entries_) words_.clear();
  chunk_begin_ = words_.size();
  const std::uint64_t first = slot(0);
  if (first == 0 && chunk_begin_ > 0) operation_.count(probes::walk_wrapped);
  const std::uint64_t count =
      std::min({operation_.chunk_entries(), table_entries_ - first, table_entries_ - chunk_begin_});
  auto request = operation_.read_entries(first, count, PendingOperation::first_reading);
  if (!operation_.read({&request, 1})) return false;
  words_.resize(chunk_begin_ + count);
  const std::span<Entry> chunk = std::span(words_).subspan(chunk_begin_);
  operation_.copy_entries(PendingOperation::first_reading, chunk);
  const auto occupied = std::ranges::count_if(chunk, [](Entry word) { return !word.is_empty(); });
  operation_.session().load().add(static_cast<std::uint64_t>(occupied), count);
  return true;
}

std::uint64_t Walk::occupied_entries() const {
  const auto begin = words_.begin() + static_cast<std::ptrdiff_t>(chunk_begin_);
  const auto end = std::find_if(begin, words_.end(),
                                [](Entry word) { return word.is_empty() || word.is_locked(); });
  return static_cast<std::uint64_t>(end - begin);
}

bool Walk::has_deleted() const {
  return second_has_deleted_ ||
         std::ranges::any_of(words_, [](Entry word) { return word.is_deleted(); });
}

std::optional<fabric::WorkRequest> Walk::second_reading(std::uint64_t index) {
  if (chunk_begin_ > 0) return std::nullopt;
  return operation_.read_entries(home_, index + 1, PendingOperation::second_reading);
}

namespace {

// Returns whether the slot had the same key in both passes, provided that no cleanup rebound it.
// The word of an empty slot must be equal, because insertions bind slots too.
bool may_have_the_same_key(Entry first, Entry second) {
  if (first == second) return true;
  return !first.is_empty() && !second.is_empty() && !second.is_locked();
}

}  // namespace

void Walk::compare(std::uint64_t position, std::uint64_t count) {
  if (!second_) second_ = Second::same_words;
  const std::span<const Entry> first = std::span(words_).subspan(position, count);
  if (operation_.equal_entries(PendingOperation::second_reading, first)) return;
  for (std::uint64_t index = 0; index < count; ++index) {
    const Entry second = operation_.entry(PendingOperation::second_reading, index);
    if (!may_have_the_same_key(first[index], second)) second_ = Second::different;
    second_has_deleted_ = second_has_deleted_ || second.is_deleted();
  }
  if (second_ == Second::same_words) second_ = Second::same_if_not_rebound;
}

Walk::Validation Walk::validate(std::uint64_t index) {
  const std::uint64_t length = chunk_begin_ + index + 1;
  const bool was_read = second_.has_value();
  for (std::uint64_t position = 0; !was_read && position < length;) {
    const std::uint64_t first = around(home_ + position);
    const std::uint64_t count =
        std::min({operation_.entries_per_buffer(), table_entries_ - first, length - position});
    auto request = operation_.read_entries(first, count, PendingOperation::second_reading);
    if (!operation_.read({&request, 1})) return Validation::disconnected;
    compare(position, count);
    if (second_ == Second::different) break;
    position += count;
    if (position < length && operation_.has_walked_too_long()) return Validation::too_long;
  }
  return second_ == Second::same_words ? Validation::unchanged : validate_keys();
}

Walk::Validation Walk::validate_keys() {
  if (by_ == By::words) return Validation::changed;
  if (rebindings_ % 2 != 0) return Validation::cleaning;
  if (second_ == Second::different) return Validation::changed;
  const auto rebindings = operation_.read_rebindings();
  if (!rebindings) return Validation::disconnected;
  return *rebindings == rebindings_ ? Validation::unchanged : Validation::changed;
}

}  // namespace falafel::engine
