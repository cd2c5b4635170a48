#include "explorer/timeline/word_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "explorer/timeline/readable.h"

namespace falafel::timeline {
namespace {

constexpr std::uint64_t stride = fabric::word_bytes;
// With more words than this, a row shows several.
constexpr std::size_t most_rows = 48;

}  // namespace

void WordRecorder::access(std::uint32_t memory, std::uint64_t offset, std::uint64_t length_bytes) {
  for (std::uint64_t word = offset / stride * stride; word < offset + length_bytes;
       word += stride) {
    words_.try_emplace({memory, word});
  }
}

void WordRecorder::access(std::uint64_t step, std::uint32_t memory, std::uint64_t offset,
                          std::span<const std::byte> data) {
  access(memory, offset, data.size());
  const std::uint64_t first = (offset + stride - 1) / stride * stride;
  for (std::uint64_t at = first; at + stride <= offset + data.size(); at += stride) {
    std::uint64_t word = 0;
    std::memcpy(&word, data.data() + (at - offset), stride);
    std::vector<Change>& changes = words_[{memory, at}];
    const bool is_new = changes.empty() || changes.back().word != word;
    if (is_new) changes.push_back({.step = step, .word = word});
  }
}

void WordRecorder::finish(Timeline& timeline, const explorer::Subjects& subjects,
                          const explorer::Vocabulary& vocabulary,
                          const std::set<std::uint32_t>& shown) const {
  const auto is_shown = [&](const auto& word) { return shown.contains(word.first.first); };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(words_, is_shown));
  const std::size_t words_per_row = std::max<std::size_t>(1, (count + most_rows - 1) / most_rows);
  std::size_t room = 0;  // in the last row
  for (const auto& [word, changes] : words_) {
    const auto& [memory, offset] = word;
    if (!shown.contains(memory)) continue;
    std::vector<WordRow>& rows = timeline.words;
    const bool continues = room > 0 && rows.back().memory == memory;
    if (continues) {
      rows.back().length_bytes = offset + stride - rows.back().offset;
      --room;
      continue;
    }
    const std::string place = vocabulary.place(offset);
    rows.push_back(
        {.memory = memory,
         .offset = offset,
         .length_bytes = stride,
         .name = readable(shown.size() == 1
                              ? place
                              : fmt::format("{}: {}", subjects.memories()[memory].host, place))});
    room = words_per_row - 1;
    if (words_per_row > 1) continue;  // several words have no text of their own
    for (const Change& change : changes) {
      timeline.word_changes.push_back({.step = change.step,
                                       .row = static_cast<std::uint32_t>(rows.size() - 1),
                                       .text = readable(vocabulary.word(change.word))});
    }
  }
  std::ranges::stable_sort(timeline.word_changes, {}, &WordChange::step);
}

}  // namespace falafel::timeline
