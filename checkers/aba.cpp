#include "checkers/aba.h"

#include <fmt/format.h>

namespace falafel::checkers {

void AbaChecker::on_read(std::uint32_t party, std::uint64_t slot, engine::Entry entry) {
  readings_[{party, slot, entry.word()}] = versions_[slot];
}

void AbaChecker::on_swapped(std::uint32_t party, std::uint64_t slot, engine::Entry expected,
                            engine::Entry desired, std::uint64_t step) {
  const auto reading = readings_.find({party, slot, expected.word()});
  const std::uint64_t version = versions_[slot]++;
  readings_[{party, slot, desired.word()}] = versions_[slot];
  if (judgement_.verdict != Verdict::holds || reading == readings_.end() ||
      reading->second == version) {
    return;
  }
  judgement_ = {.verdict = Verdict::violated,
                .property = "aba",
                .explanation = fmt::format(
                    "step {}: party {} swapped the word {:016x} of slot {}, which it had read "
                    "{} changes before: the entry had been changed, and changed back",
                    step, party, expected.word(), slot, version - reading->second),
                .slots = {slot},
                .step = step};
}

}  // namespace falafel::checkers
