#include "checkers/trusted_locations.h"

#include <fmt/format.h>

namespace falafel::checkers {

void TrustedLocations::on_used(std::uint64_t slot, engine::Entry word, const Operation& operation,
                               std::uint64_t call_ns, std::uint64_t step) {
  const auto left = left_ns_.find({slot, word.word()});
  if (left == left_ns_.end() || judgement_.verdict != Verdict::holds) return;
  if (call_ns <= left->second || call_ns - left->second <= trust_ns_) return;
  judgement_.verdict = Verdict::violated;
  judgement_.explanation = fmt::format(
      "step {}: the {} of {} by client {} relies on the word {:#x} in slot {}, which had left it "
      "{} "
      "ns before the call; a client may trust it for {} ns",
      step, to_string(operation.kind), quote(operation.key), operation.client, word.word(), slot,
      call_ns - left->second, trust_ns_);
  judgement_.slots = {slot};
  judgement_.calls = {operation.call_time};
  judgement_.step = step;
}

}  // namespace falafel::checkers
