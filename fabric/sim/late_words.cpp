#include "fabric/sim/late_words.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "fabric/sim/words.h"
#include "fabric/sim/world.h"

namespace falafel::sim {

namespace {

const std::byte* word_at(const std::byte* address) {
  return address - reinterpret_cast<std::uintptr_t>(address) % fabric::word_bytes;
}

}  // namespace

LateWords::Words::iterator LateWords::first_in(const std::byte* begin) {
  return words_.lower_bound(word_at(begin));
}

// If the word is late already, the change of the earlier WRITE becomes visible: the processor is at
// most one change behind.
void LateWords::retain(const std::byte* begin, std::uint64_t length_bytes, const Source& source) {
  const std::byte* const end = begin + length_bytes;
  for (const std::byte* word = word_at(begin); word < end; word += fabric::word_bytes) {
    words_.insert_or_assign(word, LateWord{.seen_instead = load_word(word), .source = source});
  }
}

void LateWords::forget(const std::byte* begin, std::uint64_t length_bytes) {
  words_.erase(first_in(begin), words_.lower_bound(begin + length_bytes));
}

void LateWords::reveal(std::uint32_t queue_pair, std::uint64_t before_place) {
  std::erase_if(words_, [&](const auto& late) {
    const Source& source = late.second.source;
    return source.queue_pair == queue_pair && source.place < before_place;
  });
}

// A run of neighbors among the late words stays late; the others become visible.
void LateWords::look(World& world, const std::byte* begin, std::span<std::byte> seen,
                     Answers sufficient) {
  const std::byte* const end = begin + seen.size();
  const auto first = first_in(begin);
  const auto last = words_.lower_bound(end);
  const auto count = static_cast<std::uint64_t>(std::distance(first, last));
  if (count == 0) return;
  const std::uint64_t late = world.choose(ChoiceKind::visibility, count + 1, sufficient);
  const std::uint64_t start =
      late == 0 || late == count ? 0 : world.choose(ChoiceKind::visibility, count);
  if (late > 0) world.count(SimulatorProbe::processor_saw_old_word);
  std::uint64_t index = 0;
  for (auto word = first; word != last; ++index) {
    if ((index + count - start) % count >= late) {
      word = words_.erase(word);
      continue;
    }
    // The first and the last word may be only partly in the range.
    const auto* old_bytes = reinterpret_cast<const std::byte*>(&word->second.seen_instead);
    const std::byte* const from = std::max(word->first, begin);
    const std::byte* const to = std::min(word->first + fabric::word_bytes, end);
    std::memcpy(seen.data() + (from - begin), old_bytes + (from - word->first),
                static_cast<std::size_t>(to - from));
    ++word;
  }
}

}  // namespace falafel::sim
