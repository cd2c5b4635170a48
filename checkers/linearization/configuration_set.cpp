#include "checkers/linearization/configuration_set.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "checkers/linearization/mix.h"

namespace falafel::checkers::linearization {

namespace {

// Releases a larger table, left by one hard history, before easy histories use the set.
constexpr std::size_t most_kept_words = std::size_t{8} << 20U;

}  // namespace

void ConfigurationSet::clear(std::size_t words, std::size_t expected_configurations) {
  slot_words_ = 1 + words;
  slot_count_ = std::bit_ceil(2 * expected_configurations + 2);
  size_ = 0;
  if (table_.size() > most_kept_words) {
    table_.clear();
    table_.shrink_to_fit();
  }
  const std::size_t needed = slot_count_ * slot_words_;
  if (table_.size() < needed) table_.resize(needed);
  for (std::size_t index = 0; index < slot_count_; ++index) *slot(index) = unused;
}

bool ConfigurationSet::insert(std::uint32_t rank, State state,
                              std::span<const std::uint64_t> early) {
  const std::uint64_t head = std::uint64_t{rank} << 32U | state;
  std::uint64_t* const place = slot(find(head, early));
  if (*place != unused) return false;
  *place = head;
  std::ranges::copy(early, place + 1);
  if (2 * ++size_ > slot_count_) grow();
  return true;
}

// The slot that holds the configuration, or the free slot where it belongs.
std::size_t ConfigurationSet::find(std::uint64_t head, std::span<const std::uint64_t> early) {
  std::uint64_t hash = mix(head);
  for (const std::uint64_t word : early) hash = mix(hash ^ word) + 1;
  std::size_t index = hash & (slot_count_ - 1);
  while (*slot(index) != unused) {
    if (*slot(index) == head && std::ranges::equal(early, std::span(slot(index) + 1, early.size())))
      break;
    index = (index + 1) & (slot_count_ - 1);
  }
  return index;
}

void ConfigurationSet::grow() {
  const std::size_t old_count = slot_count_;
  const std::vector<std::uint64_t> old = std::move(table_);
  slot_count_ *= 2;
  table_.assign(slot_count_ * slot_words_, unused);
  for (std::size_t index = 0; index < old_count; ++index) {
    const std::span from(old.data() + index * slot_words_, slot_words_);
    if (from[0] != unused) std::ranges::copy(from, slot(find(from[0], from.subspan(1))));
  }
}

}  // namespace falafel::checkers::linearization
