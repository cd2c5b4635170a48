#include "explorer/check/aba_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "explorer/check/world.h"
#include "fabric/work_request.h"

namespace falafel::check {
namespace {

constexpr std::uint64_t stride = fabric::word_bytes;

// The bytes that the event moves: its data, or one word.
std::span<const std::byte> bytes_of(const sim::TraceEvent& event) {
  return event.data.empty() ? std::as_bytes(std::span(&event.word, 1)) : event.data;
}

// The word at the offset after the event, which may cover the word in part.
std::uint64_t word_after(const sim::TraceEvent& event, std::uint64_t offset) {
  const std::span<const std::byte> bytes = bytes_of(event);
  const std::uint64_t begin = std::max(offset, event.offset);
  const std::uint64_t end = std::min(offset + stride, event.offset + bytes.size());
  std::uint64_t value = word(event.block, offset);
  std::memcpy(std::as_writable_bytes(std::span(&value, 1)).data() + (begin - offset),
              bytes.data() + (begin - event.offset), end - begin);
  return value;
}

}  // namespace

AbaWatch::AbaWatch(const Names& names)
    : names_(names),
      checker_([this](std::uint32_t fiber) { return name_of_party(fiber); },
               [this](std::uint64_t word) { return name_of_word(word); }) {}

void AbaWatch::add_range(std::uint64_t offset, std::uint64_t length_bytes) {
  for (std::uint64_t at = offset; at < offset + length_bytes; at += stride) offsets_.insert(at);
}

std::string AbaWatch::name_of_party(std::uint32_t fiber) const {
  const explorer::Subjects::Fiber party = subjects_.fiber(fiber);
  return party.name == party.host ? party.host : fmt::format("{} ({})", party.host, party.name);
}

std::string AbaWatch::name_of_word(std::uint64_t word) const {
  return names_.place(words_[word].offset);
}

std::uint32_t AbaWatch::poster_of(const sim::TraceEvent& event) const {
  return posters_.at({event.subject, event.place});
}

std::uint64_t AbaWatch::number_of(std::uint32_t memory, std::uint64_t offset) {
  const auto [found, is_new] = numbers_.try_emplace({memory, offset}, words_.size());
  if (is_new) words_.push_back({.memory = memory, .offset = offset});
  return found->second;
}

template <typename Visit>
void AbaWatch::for_each_word(const sim::TraceEvent& event, Visit visit) {
  const auto memory = subjects_.memory(event.block);
  if (!memory) return;
  const std::uint64_t end = event.offset + bytes_of(event).size();
  for (auto at = offsets_.lower_bound(event.offset / stride * stride);
       at != offsets_.end() && *at < end; ++at) {
    visit(number_of(*memory, *at), *at);
  }
}

// A READ that found a part of a word did not see its value.
void AbaWatch::on_read(std::uint32_t fiber, const sim::TraceEvent& event) {
  const std::span<const std::byte> bytes = bytes_of(event);
  for_each_word(event, [&](std::uint64_t number, std::uint64_t offset) {
    if (offset < event.offset || offset + stride > event.offset + bytes.size()) return;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + (offset - event.offset), stride);
    checker_.on_read(fiber, number, value);
  });
}

// Whoever writes the value that is there already knows it, and changes nothing.
void AbaWatch::on_written(std::uint32_t fiber, const sim::TraceEvent& event) {
  for_each_word(event, [&](std::uint64_t number, std::uint64_t offset) {
    const std::uint64_t value = word_after(event, offset);
    if (value == word(event.block, offset)) return checker_.on_read(fiber, number, value);
    checker_.on_written(fiber, number, value);
  });
}

void AbaWatch::on_swapped(std::uint32_t fiber, const sim::TraceEvent& event,
                          std::uint64_t expected) {
  for_each_word(event, [&](std::uint64_t number, std::uint64_t) {
    if (event.word == expected) return checker_.on_read(fiber, number, expected);
    checker_.on_swapped(fiber, number, expected, event.word, event.step);
  });
}

// A compare-and-swap that finds the expected value here writes in a later step. It reveals nothing
// that its party did not know.
void AbaWatch::on_atomic_read(const sim::TraceEvent& event) {
  const std::uint32_t fiber = poster_of(event);
  const bool will_swap = event.posted->opcode == fabric::Opcode::compare_and_swap &&
                         event.word == event.posted->compare;
  if (!will_swap) return on_read(fiber, event);
  in_gap_.insert({event.subject, event.place});
  for_each_word(event, [&](std::uint64_t number, std::uint64_t) {
    checker_.on_compared(fiber, number, event.word, event.step);
  });
}

// FETCH_ADD compares nothing, and masked compare-and-swaps do not compare the whole word.
void AbaWatch::on_atomic_written(const sim::TraceEvent& event) {
  const std::uint32_t fiber = poster_of(event);
  const bool was_compared = in_gap_.erase({event.subject, event.place}) > 0;
  if (event.posted->opcode == fabric::Opcode::compare_and_swap && !was_compared) {
    on_swapped(fiber, event, event.previous_word);
  } else {
    on_written(fiber, event);
  }
}

void AbaWatch::observe(const sim::TraceEvent& event) {
  subjects_.observe(event);
  switch (event.kind) {
    case sim::EventKind::fiber_runs: running_ = event.subject; break;
    case sim::EventKind::request_posted: posters_[{event.subject, event.place}] = running_; break;
    case sim::EventKind::words_read: on_read(poster_of(event), event); break;
    case sim::EventKind::words_written: on_written(poster_of(event), event); break;
    case sim::EventKind::atomic_read: on_atomic_read(event); break;
    case sim::EventKind::atomic_written: on_atomic_written(event); break;
    case sim::EventKind::processor_read: on_read(event.fiber, event); break;
    case sim::EventKind::processor_access:
      if (event.replaced_word) {
        on_swapped(event.fiber, event, *event.replaced_word);
      } else {
        on_written(event.fiber, event);
      }
      break;
    default: break;
  }
}

}  // namespace falafel::check
