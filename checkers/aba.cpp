#include "checkers/aba.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace falafel::checkers {

std::vector<AbaChecker::Reading>::iterator AbaChecker::place_of(Slot& slot, std::uint32_t party,
                                                                std::uint64_t word) {
  return std::ranges::lower_bound(
      slot.readings, std::pair(party, word), {},
      [](const Reading& reading) { return std::pair(reading.party, reading.word); });
}

bool AbaChecker::is_reading(const Slot& slot, std::vector<Reading>::iterator place,
                            std::uint32_t party, std::uint64_t word) {
  return place != slot.readings.end() && place->party == party && place->word == word;
}

void AbaChecker::remember(Slot& slot, std::uint32_t party, std::uint64_t word) {
  const auto place = place_of(slot, party, word);
  if (is_reading(slot, place, party, word)) {
    place->version = slot.version;
  } else {
    slot.readings.insert(place, {.party = party, .word = word, .version = slot.version});
  }
}

void AbaChecker::on_read(std::uint32_t party, std::uint64_t slot, engine::Entry entry) {
  remember(slots_[slot], party, entry.word());
}

void AbaChecker::on_swapped(std::uint32_t party, std::uint64_t slot, engine::Entry expected,
                            engine::Entry desired, std::uint64_t step) {
  Slot& swapped = slots_[slot];
  const auto reading = place_of(swapped, party, expected.word());
  const std::uint64_t version = swapped.version++;
  const std::uint64_t version_read =
      is_reading(swapped, reading, party, expected.word()) ? reading->version : version;
  remember(swapped, party, desired.word());
  if (judgement_.verdict != Verdict::holds || version_read == version) return;
  judgement_ = {.verdict = Verdict::violated,
                .property = "aba",
                .explanation = fmt::format(
                    "step {}: {} replaced the word {:016x} of slot {}, which it had read"
                    " {} changes earlier; the entry has since changed and changed back",
                    step, name_party_(party), expected.word(), slot, version - version_read),
                .slots = {slot},
                .step = step};
}

}  // namespace falafel::checkers
