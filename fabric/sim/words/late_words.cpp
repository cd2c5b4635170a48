#include "fabric/sim/words/late_words.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "fabric/sim/words/words.h"
#include "fabric/work_request.h"

namespace falafel::sim {

namespace {

const std::byte* word_at(const std::byte* address) {
  return address - reinterpret_cast<std::uintptr_t>(address) % fabric::word_bytes;
}

}  // namespace

// If the word is late already, the change of the earlier WRITE becomes visible: the processor is at
// most one change behind.
void LateWords::retain(const std::byte* begin, std::uint64_t length_bytes, const Source& source) {
  const std::byte* const end = begin + length_bytes;
  for (const std::byte* word = word_at(begin); word < end; word += fabric::word_bytes) {
    words_.insert_or_assign(word, LateWord{.seen_instead = load_word(word), .source = source});
  }
}

void LateWords::forget(const std::byte* begin, std::uint64_t length_bytes) {
  words_.erase(words_.lower_bound(word_at(begin)), words_.lower_bound(begin + length_bytes));
}

void LateWords::reveal(std::uint32_t queue_pair, std::uint64_t before_place) {
  std::erase_if(words_, [&](const auto& late) {
    const Source& source = late.second.source;
    return source.queue_pair == queue_pair && source.place < before_place;
  });
}

std::uint64_t LateWords::count_in(const std::byte* begin, std::uint64_t length_bytes) const {
  return static_cast<std::uint64_t>(
      std::distance(words_.lower_bound(word_at(begin)), words_.lower_bound(begin + length_bytes)));
}

void LateWords::look(const std::byte* begin, std::span<std::byte> seen,
                     const Neighbors& stay_late) {
  const std::byte* const end = begin + seen.size();
  const auto last = words_.lower_bound(end);
  const std::uint64_t count = count_in(begin, seen.size());
  std::uint64_t index = 0;
  for (auto word = words_.lower_bound(word_at(begin)); word != last; ++index) {
    if ((index + count - stay_late.first) % count >= stay_late.count) {
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
