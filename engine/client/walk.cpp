#include "engine/client/walk.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "engine/client/readahead.h"
#include "engine/layout/status_line.h"
#include "engine/probes.h"

namespace falafel::engine {

Walk::Walk(PendingOperation& operation, std::uint64_t hash, By by)
    : operation_(operation),
      buffers_(operation.buffers()),
      hash_(hash),
      segment_(segment_in(operation.session().tables().first, 0)),
      words_(buffers_.walk_words()),
      by_(by) {
  words_.clear();
}

Walk::Segment Walk::segment_in(std::uint32_t table, std::uint64_t begin) const {
  const Geometry& geometry = operation_.geometry();
  const std::uint64_t entries = geometry.entries_of(table);
  return {.table = table,
          .first_slot = geometry.first_slot(table),
          .entries = entries,
          .home = hash_ % entries,
          .begin = begin,
          .was_former = table < operation_.session().tables().last};
}

std::uint64_t Walk::slot(std::uint64_t index) const {
  return segment_.first_slot + segment_.index_of(chunk_begin_ + index);
}

bool Walk::covers_table() const {
  return operation_.safeguards().bounded_walks &&
         words_.size() - segment_.begin == segment_.entries;
}

bool Walk::is_frozen(std::uint64_t index) const {
  return operation_.geometry().can_grow() && entry(index).is_frozen();
}

bool Walk::is_home(std::uint64_t index) const {
  if (chunk_begin_ + index != segment_.begin) return false;
  std::uint64_t end = segment_.begin;
  for (auto segment = earlier_.rbegin(); segment != earlier_.rend(); ++segment) {
    const auto words = std::span(words_).subspan(segment->begin, end - segment->begin);
    const bool is_settled = std::ranges::all_of(words, [&](Entry word) {
      return word.is_frozen() || (segment->was_former && has_no_key(word));
    });
    if (!is_settled) return false;
    end = segment->begin;
  }
  return true;
}

bool Walk::has_no_key(Entry word) const {
  const Geometry& geometry = operation_.geometry();
  return geometry.can_grow() && word.is_deleted() && !word.is_locked() &&
         geometry.to_offset(word.reference()) == Geometry::stand_in_offset();
}

bool Walk::go_on_behind(std::uint64_t index) {
  const std::uint32_t next = std::max(segment_.table + 1, operation_.session().tables().first);
  if (next >= operation_.geometry().most_tables) return false;
  words_.resize(chunk_begin_ + index + 1);
  earlier_.push_back(segment_);
  segment_ = segment_in(next, words_.size());
  reads_tables_ = true;
  return true;
}

bool Walk::look_for_next_table() {
  const bool may_have_one = segment_.table + 1 < operation_.geometry().most_tables;
  return has_next_table() || !may_have_one || operation_.read_tables();
}

bool Walk::read_with_tables(const fabric::WorkRequest& request) {
  std::array chain{request, buffers_.read_status(tables_offset)};
  if (!operation_.read(chain)) return false;
  reads_tables_ = false;
  operation_.learn_tables();
  return true;
}

bool Walk::read_chunk() {
  if (words_.empty() && by_ == By::keys) {
    const auto rebindings = operation_.read_rebindings();
    if (!rebindings) return false;
    rebindings_ = *rebindings;
  }
  // An unbounded walk discards the previous round, which it does not validate either.
  if (words_.size() - segment_.begin == segment_.entries) words_.clear();
  chunk_begin_ = words_.size();
  const std::uint64_t done = chunk_begin_ - segment_.begin;
  const std::uint64_t first = segment_.index_of(chunk_begin_);
  if (first == 0 && done > 0) operation_.count(probes::walk_wrapped);
  const std::uint64_t count =
      std::min(buffers_.chunk_entries(), segment_.entries - std::max(first, done));
  auto request =
      buffers_.read_entries(segment_.first_slot + first, count, OperationBuffers::first_reading);
  if (!(reads_tables_ ? read_with_tables(request) : operation_.read({&request, 1}))) return false;
  buffers_.append_entries(OperationBuffers::first_reading, count, words_);
  if (expects_probes(operation_.session().options().readahead)) {
    const auto occupied = std::ranges::count_if(std::span(words_).subspan(chunk_begin_),
                                                [](Entry word) { return !word.is_empty(); });
    operation_.session().load().add(static_cast<std::uint64_t>(occupied), count);
  }
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
         std::any_of(words_.begin() + static_cast<std::ptrdiff_t>(segment_.begin), words_.end(),
                     [](Entry word) { return word.is_deleted(); });
}

Walk::Piece Walk::piece_at(std::uint64_t position, std::uint64_t length) const {
  const Segment* segment = &segment_;
  std::uint64_t end = length;
  for (auto earlier = earlier_.rbegin(); position < segment->begin; ++earlier) {
    end = segment->begin;
    segment = &*earlier;
  }
  const std::uint64_t index = segment->index_of(position);
  const std::uint64_t count =
      std::min({buffers_.entries_per_buffer(), segment->entries - index, end - position});
  return {
      .slot = segment->first_slot + index, .count = count, .ends_segment = position + count == end};
}

bool Walk::add_second_reading(std::uint64_t index, std::vector<fabric::WorkRequest>& chain) {
  if (chunk_begin_ > segment_.begin) return false;
  const std::size_t before = chain.size();
  const std::uint64_t length = chunk_begin_ + index + 1;
  for (std::uint64_t position = 0; position < length;) {
    const Piece piece = piece_at(position, length);
    if (!piece.ends_segment || position + piece.count > buffers_.entries_per_buffer()) {
      chain.resize(before);
      return false;
    }
    chain.push_back(
        buffers_.read_entries(piece.slot, piece.count, OperationBuffers::second_reading, position));
    position += piece.count;
  }
  return true;
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
  if (buffers_.equal_entries(OperationBuffers::second_reading, first)) return;
  for (std::uint64_t index = 0; index < count; ++index) {
    const Entry second = buffers_.entry(OperationBuffers::second_reading, index);
    if (!may_have_the_same_key(first[index], second)) second_ = Second::different;
    const bool is_in_segment = position + index >= segment_.begin;
    second_has_deleted_ = second_has_deleted_ || (is_in_segment && second.is_deleted());
  }
  if (second_ == Second::same_words) second_ = Second::same_if_not_rebound;
}

// Adds requests for one piece, and for those in the next tables that fit into the buffer with it.
std::uint64_t Walk::add_pieces(std::uint64_t position, std::uint64_t length,
                               std::vector<fabric::WorkRequest>& chain) {
  for (std::uint64_t count = 0;;) {
    const Piece piece = piece_at(position + count, length);
    if (count > 0 && count + piece.count > buffers_.entries_per_buffer()) return count;
    chain.push_back(
        buffers_.read_entries(piece.slot, piece.count, OperationBuffers::second_reading, count));
    count += piece.count;
    if (!piece.ends_segment || position + count == length) return count;
  }
}

Walk::Validation Walk::validate(std::uint64_t index) {
  const std::uint64_t length = chunk_begin_ + index + 1;
  const bool was_read = second_.has_value();
  for (std::uint64_t position = 0; !was_read && position < length;) {
    std::vector<fabric::WorkRequest>& chain = buffers_.empty_chain();
    const std::uint64_t count = add_pieces(position, length, chain);
    if (!operation_.read(chain)) return Validation::disconnected;
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
