#include "checkers/aba.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace falafel::checkers {

AbaChecker::Word& AbaChecker::word_of(std::uint64_t number) {
  if (next_ < words_.size() && words_[next_].number == number) return words_[next_++];
  auto place = std::ranges::lower_bound(words_, number, {}, &Word::number);
  if (place == words_.end() || place->number != number) {
    place = words_.insert(place, {.number = number});
  }
  next_ = static_cast<std::size_t>(place - words_.begin()) + 1;
  return *place;
}

std::vector<AbaChecker::Reading>::iterator AbaChecker::place_of(Word& word, std::uint32_t party,
                                                                std::uint64_t value) {
  return std::ranges::lower_bound(
      word.readings, std::pair(party, value), {},
      [](const Reading& reading) { return std::pair(reading.party, reading.value); });
}

bool AbaChecker::is_reading(const Word& word, std::vector<Reading>::iterator place,
                            std::uint32_t party, std::uint64_t value) {
  return place != word.readings.end() && place->party == party && place->value == value;
}

// Many readings repeat the one before.
void AbaChecker::remember(Word& word, std::uint32_t party, std::uint64_t value) {
  const Reading reading{.party = party, .value = value, .version = word.version};
  if (word.newest == reading) return;
  word.newest = reading;
  const auto place = place_of(word, party, value);
  if (is_reading(word, place, party, value)) {
    place->version = word.version;
  } else {
    word.readings.insert(place, reading);
  }
}

void AbaChecker::on_read(std::uint32_t party, std::uint64_t word, std::uint64_t value) {
  remember(word_of(word), party, value);
}

bool AbaChecker::is_undone(const std::optional<Swap>& last, const Swap& swap) const {
  return permits_undone_swaps_ && last && last->party == swap.party && last->after == swap.before &&
         last->before == swap.after;
}

void AbaChecker::on_written(std::uint32_t party, std::uint64_t word, std::uint64_t value) {
  Word& written = word_of(word);
  const auto comparison = std::exchange(written.comparison, std::nullopt);
  const auto last = std::exchange(written.last_swap, std::nullopt);
  if (comparison && comparison->party == party) {
    written.last_swap = Swap{.party = party,
                             .before = comparison->value,
                             .after = value,
                             .version_before = written.version};
  }
  if (written.last_swap && is_undone(last, *written.last_swap)) {
    written.version = last->version_before;
    written.last_swap.reset();
  } else {
    written.version = ++written.latest_version;
  }
  remember(written, party, value);
}

void AbaChecker::on_swapped(std::uint32_t party, std::uint64_t word, std::uint64_t expected,
                            std::uint64_t desired, std::uint64_t step) {
  on_compared(party, word, expected, step);
  on_written(party, word, desired);
}

void AbaChecker::on_compared(std::uint32_t party, std::uint64_t word, std::uint64_t expected,
                             std::uint64_t step) {
  Word& compared = word_of(word);
  compared.comparison = Comparison{.party = party, .value = expected};
  const auto reading = place_of(compared, party, expected);
  const std::uint64_t version = compared.version;
  const std::uint64_t version_read =
      is_reading(compared, reading, party, expected) ? reading->version : version;
  if (judgement_.verdict != Verdict::holds || version_read == version) return;
  judgement_ = {.verdict = Verdict::violated,
                .property = "aba",
                .explanation = fmt::format(
                    "step {}: {} replaced the word {:016x} of {}, which it had read"
                    " {} changes earlier; the word has since changed and changed back",
                    step, name_party_(party), expected, name_word_(word), version - version_read),
                .slots = {word},
                .step = step};
}

}  // namespace falafel::checkers
